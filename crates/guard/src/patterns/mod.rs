//! The patterns: what policies make of writes, one module each.
//!
//! A pattern reaches documents only through `write::Transaction`, so it works
//! wherever they are kept.

pub mod bounds;
pub(crate) mod fields;
pub(crate) mod fitting;
pub mod overflow;
pub mod place;
