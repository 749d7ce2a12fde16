//! Fuzz targets, named by subject. Each is a function of some bytes, so that
//! the test suite of its crate runs it on random bytes too.
//!
//! `cargo +nightly fuzz run wire_decode`

pub mod key_order;
pub mod wire_decode;
