//! The fuzz targets of this crate, on random bytes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

// The targets call the crates by their short names.
extern crate freeboard_value as value;

#[path = "../../../fuzz/src/bson_decode.rs"]
mod bson_decode;
#[path = "../../../fuzz/src/key_order.rs"]
mod key_order;

use proptest::prelude::*;

proptest! {
    #[test]
    fn bson_decode(data in prop::collection::vec(any::<u8>(), 0..300)) {
        bson_decode::run(&data);
    }

    /// Bytes that are often types, short lengths and zeros.
    #[test]
    fn bson_decode_of_likely_bytes(data in prop::collection::vec(0_u8..0x14, 0..200)) {
        bson_decode::run(&data);
    }

    #[test]
    fn key_order(data in prop::collection::vec(any::<u8>(), 0..300)) {
        key_order::run(&data);
    }
}
