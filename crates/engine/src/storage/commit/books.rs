//! Books on what is committed, which someone above storage keeps.
//!
//! Storage counts no documents by itself. A commit carries an entry of a type that only the
//! bookkeeper knows; the rows that come of a group's entries are part of the group's batch, so
//! the books are as durable and as exact as what they are about.

use super::CommitWrites;
use crate::storage::View;
use crate::storage::trees::TreeChange;
use error::Result;
use std::any::Any;

/// What a commit has for the books.
pub type BookEntry = Box<dyn Any + Send>;

/// What is left to do once a group is applied.
pub type AfterApply = Option<Box<dyn FnOnce()>>;

/// Keeps books on what is committed.
pub trait Bookkeeper: Send + Sync {
    /// Opens the books for a group of commits. Groups follow each other, in commit order.
    fn open(&self) -> Box<dyn Ledger + '_>;
}

/// The books while a group of commits is taken in.
pub trait Ledger {
    /// Takes in the entry of a commit. `written` is all that the commit writes; `view` shows the
    /// store without the group.
    fn take(
        &mut self,
        entry: BookEntry,
        written: &CommitWrites<'_>,
        view: &(dyn Fn() -> View + Sync),
    ) -> Result<()>;

    /// Adds the rows that the group writes.
    fn close(self: Box<Self>, changes: &mut Vec<TreeChange>) -> AfterApply;
}

/// No books: for a store that nobody writes documents to.
#[derive(Debug, Clone, Copy)]
pub struct NoBooks;

impl Bookkeeper for NoBooks {
    fn open(&self) -> Box<dyn Ledger + '_> {
        // A type without a size is not allocated.
        Box::new(NoBooks)
    }
}

impl Ledger for NoBooks {
    fn take(
        &mut self,
        _: BookEntry,
        _: &CommitWrites<'_>,
        _: &(dyn Fn() -> View + Sync),
    ) -> Result<()> {
        Err(error::Code::InternalError.error("this store has no bookkeeper"))
    }

    fn close(self: Box<Self>, _: &mut Vec<TreeChange>) -> AfterApply {
        None
    }
}
