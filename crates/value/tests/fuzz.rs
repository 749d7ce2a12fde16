//! The fuzz target of this crate, on random bytes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

// The targets call the crates by their short names.
extern crate freeboard_value as value;

#[path = "../../../fuzz/src/key_order.rs"]
mod key_order;

use proptest::prelude::*;

proptest! {
    #[test]
    fn key_order(data in prop::collection::vec(any::<u8>(), 0..300)) {
        key_order::run(&data);
    }
}
