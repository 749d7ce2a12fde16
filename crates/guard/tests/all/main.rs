//! The patterns on a naive store in memory: they know no engine.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod adopt;
mod batch;
mod bounds;
mod changes;
mod migrate;
mod model;
mod overflow;
mod read;
mod restore;
mod statement;
mod verify;

use bson::RawDocumentBuf;
use freeboard_guard::policy::legacy;
use naive::namespace;

/// A policy that names what counts its arrays, and shows their heads.
fn named(policy: RawDocumentBuf) -> RawDocumentBuf {
    legacy::written_out(&namespace("c"), &policy)
}
