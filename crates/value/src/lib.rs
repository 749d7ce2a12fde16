//! BSON values: walking, ordering, arithmetic, paths, and keys that sort by
//! bytes exactly as BSON sorts. Pure: no IO, no storage.
//!
//! Documents are checked once where they enter (`check`); everything else may
//! then walk them without meeting malformed bytes.

pub mod check;
pub mod collation;
pub mod decimal;
pub mod element;
mod exact_sum;
pub mod key;
pub mod number;
pub mod order;
mod owned;
pub mod path;
#[cfg(test)]
mod sample;
mod shape;
pub mod text;
pub mod value;
pub mod wide;
pub mod writer;

pub use collation::Collator;
pub use element::{Element, Elements, elements};
pub use exact_sum::ExactSum;
pub use number::Number;
pub use order::compare;
pub use owned::OwnedValue;
pub use path::Path;
pub use value::Value;
pub use writer::{ArrayWriter, DocumentWriter, null_bytes};
