//! Index bounds: which stretch of an index can hold what a filter matches.
//!
//! `translate` turns one predicate into intervals; `assign` distributes a
//! filter's predicates over the fields of an index, minding arrays; `keys` turns
//! the intervals into byte ranges to read.

mod assign;
mod bracket;
mod interval;
mod keys;
mod leaf;
pub mod text;
mod translate;

pub use assign::{Assignment, assign};
pub use interval::Intervals;
pub use keys::{Checker, KeyRange, Verdict, ranges, successor};
pub use leaf::{Conjunct, Leaf, Leaves, NodePlace, conjuncts, is_positional};
pub use translate::{Target, Tightness, implies_exists, translate};

#[cfg(test)]
mod tests;
