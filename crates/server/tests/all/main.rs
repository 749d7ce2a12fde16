//! The server over real sockets, spoken to by a client that can misbehave.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

extern crate freeboard_server as server;

mod client;
mod commands;
mod handshake;
mod malformed;
mod many;
mod probe;
mod stopping;
mod streams;
