//! The patterns: what policies make of writes, one module and one row of `table` each.
//!
//! A pattern reaches documents only through `write::Transaction`, so it works
//! wherever they are kept.

pub mod bounds;
mod declaration;
pub(crate) mod fields;
mod fitting;
mod measured;
pub mod overflow;
mod pattern;
pub mod place;
mod plan;
pub(crate) mod sequence;
#[cfg(feature = "test_patterns")]
pub mod stamp;
mod table;

pub use declaration::OneStatement;
pub use measured::{ArrayLength, ArrayLengths, Length, Measured};
pub use plan::Plan;
pub(crate) use table::declarations;
