//! Large values out of line.
//!
//! A field whose value passes `LARGE_VALUE_BYTES` is kept under a key of its
//! own, or under several if it is an array (`segments`), and the record holds a stub in
//! its place: a write that does not change the field copies the stub, a read that does
//! not need it does not follow it. Sub-documents are split further down, at the values
//! that make them large. Values that are known to stay as they are while their document
//! changes are kept apart from `COLD_VALUE_BYTES` on. A value that was loaded and comes
//! back as it was keeps its place.
//!
//! A record that holds stubs ends, after its document and what policies keep beside it, with
//!
//! ```text
//! 0   next    u32       the number the next large value gets, if it is free
//! 4   size    u32       the size of the whole document
//! ```

mod join;
mod look;
mod segments;
mod split;
mod stub;
#[cfg(test)]
mod tests;

pub use join::{join, join_within};
pub use look::{Hidden, Large, bytes, find, hidden, items, numbers, size};
pub use split::{Before, Split, split};
pub use stub::Secret;

/// What a value may weigh and still stand in its record.
pub const LARGE_VALUE_BYTES: usize = 16 * 1024;
/// The same for a value that seldom changes when its document does.
pub const COLD_VALUE_BYTES: usize = 1024;

pub const TRAILER_BYTES: usize = 8;
