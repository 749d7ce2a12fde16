//! Fuzz targets, named by subject. Each is a function of some bytes, so that
//! the test suite of its crate runs it on random bytes too.
//!
//! `cargo +nightly fuzz run wire_decode`

pub mod bson_decode;
mod input;
pub mod key_order;
pub mod pipeline_parse;
pub mod query_match;
pub mod update_apply;
pub mod wire_decode;
