//! The server: it accepts connections, turns messages into commands, runs them
//! itself or hands them to a backend, and writes the replies.
//!
//! The life of a connection is in [`connection`]; the commands answered here,
//! without a backend, are the rows of [`run`].

mod accept;
mod answer;
mod backend;
mod connection;
mod counters;
mod embedded;
mod frames;
mod http;
pub mod limits;
mod metadata;
mod parameter;
mod recent;
mod run;
mod server;
mod session;
mod shared;
mod stream;

pub use backend::{Backend, Status};
pub use recent::RecentLines;
pub use server::{Options, Running, Server, StartError};
