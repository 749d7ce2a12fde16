//! The binary itself, as a user starts it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod apply;
mod audit;
mod bench;
mod binary;
mod budget;
mod demo;
mod jobs;
mod memory;
mod migrate;
mod parsed;
mod refusing;
mod serve;
mod stranger;
