//! The server: it accepts connections, turns messages into commands, runs them
//! itself or hands them to a backend, and writes the replies.
//!
//! The life of a connection is in [`connection`]; the commands answered here,
//! without a backend, are the rows of [`run`].

mod accept;
mod account;
mod answer;
pub mod backend;
mod connection;
mod counters;
pub mod descriptors;
mod fail_points;
mod frames;
mod http;
pub mod limits;
pub mod memory;
mod metadata;
mod pace;
mod parameter;
mod recent;
mod replica_set;
mod run;
mod server;
mod session;
mod shared;
mod stream;
mod warnings;

pub use backend::{Backend, Status};
pub use recent::RecentLines;
pub use replica_set::ReplicaSet;
pub use run::answers;
pub use server::{Bound, Options, Running, StartError, bind};
