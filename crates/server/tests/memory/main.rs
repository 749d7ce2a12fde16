//! What the server does when clients are slow or memory is short. In a process of its own,
//! since the budget is the process's.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "the client is that of the other tests")]

extern crate freeboard_server as server;

#[path = "../all/client.rs"]
mod client;
#[path = "../all/probe.rs"]
mod probe;
mod slow;
