//! Plans: how a query is answered, chosen, run and explained.
//!
//! 1. A command parses its arguments into a `Query`.
//! 2. `choose` looks at the collection's indexes and makes candidates, each a tree
//!    of `Stage`s. Several candidates are run side by side for a short while, and
//!    the most productive goes on.
//! 3. `Execution` is an iterator of rows. It holds its view of the store and may
//!    live in a cursor for as long as the client likes.
//! 4. `explain` describes the chosen tree, the rejected ones, and what each stage
//!    has done.
//!
//! Take the view before planning: whether an index has met arrays is read while
//! planning and must not be older than the entries the plan will read.

pub mod bounds;
mod choose;
pub mod execute;
pub mod explain;
mod implication;
mod interrupt;
mod paged;
mod query;
mod residual;
mod stage;
mod usage;

pub use choose::{Chosen, open};
pub use execute::{Execution, ResultRow};
pub use interrupt::Interrupt;
pub use paged::{Audience, Paged, PagedArray};
pub use query::{Hint, Purpose, Query, Scan, Sort, SortField};
pub use residual::Residual;
pub use stage::{CollectionScan, IdRead, IndexScan, Parents, Plan, Shape, Stage};

#[cfg(test)]
mod tests;
