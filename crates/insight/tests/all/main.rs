//! Audits of a real server.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod demo;
mod findings;
mod many;
mod obstacles;
mod outliers;
mod picky;
mod place;
mod proxy;
mod reach;
