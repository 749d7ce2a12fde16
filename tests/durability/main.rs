//! What an acknowledged write is worth: the engine over storage that forgets, fails
//! or is damaged.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

extern crate freeboard_engine as engine;

mod ages;
mod arrays;
mod copy;
mod definitions;
mod failure;
mod flip;
mod forgetful;
#[path = "../crash/ledger.rs"]
mod ledger;
mod long_keys;
mod many_documents;
mod many_keys;
mod meanwhile;
mod pairs;
mod power;
mod script;
mod space;
mod tail;
mod whole;
mod world;
