//! Commands as the layers pass them to each other: the table of commands, the
//! request and reply, typed views of what a command says, namespaces.

pub mod client;
pub mod namespace;
pub mod request;

pub use client::Client;
pub use namespace::Namespace;
pub use request::{Reply, Request, Sequence};
