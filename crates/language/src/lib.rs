//! What MongoDB's language means, on documents: queries, projections, updates,
//! aggregation. Pure: no IO, no storage. One operator a file, one row a table.

pub mod aggregate;
pub mod binding;
pub mod context;
pub mod describe;
mod extent;
pub mod interrupt;
pub mod metadata;
mod names;
pub mod needs;
pub mod projection;
pub mod query;
pub mod regex;
pub mod report;
pub mod schema;
pub mod sort;
#[cfg(test)]
mod testing;
pub mod update;
pub mod variables;

pub use binding::Binding;
pub use context::Context;
pub use extent::Extent;
pub use metadata::{Metadatum, Wanted};
pub use needs::Needs;
