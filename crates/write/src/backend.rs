//! What the write loop asks of whoever keeps the documents.

use crate::{Counted, Guard};
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use language::Needs;
use language::query::Filter;
use language::update::Update;
use std::future::Future;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Documents, reached inside a transaction: all of its writes, or none.
///
/// A write takes an intent on what it changes. Where another transaction holds
/// that intent, it fails with `WriteConflict`; the loop then asks `retry`.
pub trait Transaction: Send + Sized {
    /// A document that this transaction holds an intent on.
    type Row: Deref<Target = RawDocument> + Send + Sync;
    /// What takes part in writes to a collection that has a policy, for as long as one
    /// holds it.
    type Guard: Deref<Target: Guard<Self>> + Send + Sync;

    /// The collection's guard, if it has a policy. It stays the same until the
    /// transaction ends.
    fn guard(
        &mut self,
        namespace: &Namespace,
    ) -> impl Future<Output = Result<Option<Self::Guard>>> + Send;

    /// The document with this `_id`, its intent taken. Values outside `needs`
    /// may be missing from it in all but name; updates keep them as they are.
    fn get(
        &mut self,
        namespace: &Namespace,
        id: RawBsonRef<'_>,
        needs: &Needs,
    ) -> impl Future<Output = Result<Option<Self::Row>>> + Send;

    /// The same document with more of it loaded.
    fn load(
        &mut self,
        row: &Self::Row,
        needs: &Needs,
    ) -> impl Future<Output = Result<Self::Row>> + Send;

    /// The size of a document as a whole: of a row, or of what is to be stored in
    /// its place, where values outside the row's needs stand in all but name.
    fn size(&self, row: &Self::Row, document: &RawDocument) -> usize;

    /// Documents that match, their intents taken.
    fn find(
        &mut self,
        namespace: &Namespace,
        find: &Find<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>>> + Send;

    /// Adds a document, which has an `_id`, and of which the guard has counted some
    /// arrays.
    fn insert(
        &mut self,
        namespace: &Namespace,
        document: &RawDocument,
        counted: &[Counted],
    ) -> impl Future<Output = Result<()>> + Send;

    /// Puts `after` in the place of `row`. Their `_id`s are equal.
    fn replace(
        &mut self,
        namespace: &Namespace,
        row: &Self::Row,
        after: &RawDocument,
        cause: Cause<'_>,
    ) -> impl Future<Output = Result<()>> + Send;

    fn delete(
        &mut self,
        namespace: &Namespace,
        row: &Self::Row,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Refuses a document that breaks the collection's validator.
    fn check(
        &mut self,
        namespace: &Namespace,
        before: Option<&RawDocument>,
        after: &RawDocument,
    ) -> Result<()>;

    /// What `check` looks at in documents of this collection.
    fn check_needs(&self, namespace: &Namespace, needs: &mut Needs);

    /// After a failure: undoes everything, waits for whoever was in the way, and
    /// says true if the work may be done anew. A client's own transaction says
    /// false: the failure is the client's to see.
    fn retry(&mut self) -> impl Future<Output = Result<bool>> + Send;
}

/// What is known of the way from one document to the next, and need not be found out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cause<'a> {
    /// The client's update, which tells what may have changed.
    pub update: Option<&'a Update>,
    /// Arrays that the guard has counted.
    pub counted: &'a [Counted],
    /// Whether all others that it looks after stay as they are.
    pub all_counted: bool,
}

/// Which documents a transaction looks for.
#[derive(Debug)]
pub struct Find<'a> {
    pub filter: &'a Arc<Filter>,
    /// As a client writes it; empty for no particular order.
    pub sort: &'a RawDocument,
    pub limit: usize,
    /// No more are wanted once those that were found take so much.
    pub bytes: usize,
    pub needs: &'a Needs,
}

/// Where transactions begin and end.
pub trait Backend: Sync {
    type Transaction: Transaction;
    type Candidates: Candidates<Self::Transaction>;

    /// A transaction for one step of the loop. Inside a client's transaction it
    /// is that transaction.
    fn begin(&self) -> impl Future<Output = Result<Self::Transaction>> + Send;

    /// Ends a step, which may have written nothing. What it wrote survives once
    /// the command is acknowledged, and later steps of the same command see it.
    fn commit(&self, transaction: Self::Transaction) -> impl Future<Output = Result<()>> + Send;

    /// Ends a step that inserted the documents at these places of the statement.
    fn commit_inserted(
        &self,
        transaction: Self::Transaction,
        places: Range<usize>,
    ) -> impl Future<Output = Result<()>> + Send {
        let _ = places;
        self.commit(transaction)
    }

    /// Finds what a write is about to touch.
    fn select(
        &self,
        namespace: &Namespace,
        selection: &Selection<'_>,
    ) -> impl Future<Output = Result<Self::Candidates>> + Send;
}

/// Which documents a write is about.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    pub filter: &'a Arc<Filter>,
    pub sort: Option<&'a RawDocument>,
    pub hint: Option<RawBsonRef<'a>>,
    pub multi: bool,
}

/// Documents that matched when the write began. By the time their turn comes
/// they may have changed, so each is claimed and matched again.
pub trait Candidates<T: Transaction>: Send {
    /// Takes the next candidate; false when there is none.
    fn advance(&mut self) -> impl Future<Output = Result<bool>> + Send;

    /// The current candidate as it is now, its intent taken; `None` if it is gone.
    fn claim(
        &mut self,
        transaction: &mut T,
        needs: &Needs,
    ) -> impl Future<Output = Result<Option<T::Row>>> + Send;
}
