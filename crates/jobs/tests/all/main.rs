//! Jobs against a real server.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod backup;
mod connect;
mod definition;
mod demo;
mod files;
mod large;
mod migrate;
mod place;
