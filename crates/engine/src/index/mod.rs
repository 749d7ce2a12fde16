//! From a document to its index keys.
//!
//! `keys` gives every key of a document for one index; `diff` gives what a write
//! adds to and removes from an index. `extract` walks the documents, and the
//! planner's sort uses it too, so that an index orders documents exactly as a
//! sort in memory does.

mod diff;
pub mod extract;
pub mod hashed;
mod key;
pub mod multikey;
pub mod wildcard;

pub use diff::{diff, untouched};
pub use key::{Keys, keys};

#[cfg(test)]
mod tests;
