//! The naive backend: documents in lists, every transaction a copy of all of them.
//!
//! It runs the same statements, patterns, migration and verification as the engine, through
//! the same contract (`write::Backend`), and tests compare the two. Only tests use it: it
//! panics where a test is wrong.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod call;
mod memory;

pub use call::Call;
pub use guard::patterns::stamp;
pub use memory::{Copied, Ids, Memory, Proposed, Row, namespace};
