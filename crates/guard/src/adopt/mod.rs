//! Documents that are older than their policy, brought under it.
//!
//! `Need` is what a document lacks, from a look at it, and writes nothing.
//! `settle` brings one document into shape, in a transaction of its own: elements
//! move to pages or are dropped as the policy says, counters are made right, and
//! before the commit the pages are read back and compared with what was there. `rehearse_settle`
//! does the same in a transaction that is rolled back. `settle_counters` looks through a
//! whole collection for fields that only look like counters.

mod look;
mod need;
mod over;
mod settle;

pub use look::{Adopted, count_oversize, settle_counters};
pub use need::{Need, PageSize, looked_at};
pub use over::Over;
pub(crate) use settle::rehearse;
pub use settle::{Aim, Cost, Rehearsed, SettledDocument, mend_pages, no_policy};
pub use settle::{rehearse_settle, remove_orphans, settle};
