//! Documents that are older than their policy, brought under it.
//!
//! `Need` tells what a document lacks and what that will cost, and writes nothing.
//! `settle` brings one document into shape, in a transaction of its own: elements
//! move to pages or are dropped as the policy says, counters are made right, and
//! before the commit the pages are read back and compared with what was there.

mod need;
mod over;
mod settle;

pub use need::{Cost, Need, PageSize, looked_at};
pub use over::Over;
pub use settle::{Aim, Settled, mend_pages, remove_orphans, settle};
