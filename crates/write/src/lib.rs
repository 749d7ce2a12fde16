//! The one write loop, and the transaction it works through.
//!
//! Inserts, updates, replacements, deletes and find-and-modify all come here.
//! The loop knows no engine: it applies updates with `language` and reaches
//! documents only through `Transaction`.

mod backend;
mod delete;
pub mod document;
mod guard;
mod insert;
pub mod limits;
mod update;

pub use backend::{Backend, Candidates, Cause, Find, Selection, Transaction};
pub use delete::{Delete, Deleted, delete};
pub use guard::{Applied, AtOnce, Counted, CountedArrays, Guard, Inserted, Length, Outcome};
pub use insert::insert;
pub use update::{Change, Returns, Touched, Updated, update};
