//! Commands as the layers pass them to each other: the table of commands, the
//! request and reply, typed views of what a command says, namespaces.
//!
//! A request's bytes are never copied: a view borrows from it, and says which
//! field was wrong, and how, with MongoDB's codes.

pub mod client;
pub mod common;
pub mod fields;
pub mod labels;
pub mod namespace;
pub mod refused;
pub mod reply;
pub mod request;
pub mod table;
pub mod views;

/// How long an idle session lives; `hello` reports it.
pub const SESSION_TIMEOUT_MINUTES: i32 = 30;

pub use client::{Client, Presence};
pub use common::Common;
pub use namespace::Namespace;
pub use reply::{
    CursorReply, Failures, FailuresRoom, REPLY_END_BYTES, Reply, ReplyWriter, Times, WriteReply,
    append_cluster_time, append_write_concern_error, error_reply, query_failure,
    write_concern_error,
};
pub use request::{Request, Sequence};
pub use table::{Command, command};
