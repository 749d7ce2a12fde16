//! The server over real sockets, spoken to by a client that can misbehave.

extern crate freeboard_server as server;

mod client;
mod commands;
mod handshake;
mod malformed;
mod many;
mod probe;
mod stopping;
mod streams;
