//! The contract between the write loop and a backend.

use crate::{Guard, NoteOf, RetryRecord, ShownChange, Snapshot, StoredRow, Version, Watched};
use bson::{RawBson, RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use language::Needs;
use language::query::Filter;
use language::update::Update;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

/// Documents, reached inside a transaction: all of its writes, or none.
///
/// A write takes an intent on what it changes. Where another transaction holds
/// that intent, it fails with `WriteConflict`; the loop then calls `retry`.
pub trait Transaction: Send + Sized {
    /// A document that this transaction holds an intent on.
    type Row: StoredRow;
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
    /// may be stubs in it; updates keep them as they are.
    fn get(
        &mut self,
        namespace: &Namespace,
        id: RawBsonRef<'_>,
        needs: &Needs,
    ) -> impl Future<Output = Result<Option<Self::Row>>> + Send;

    /// Loads documents that writes of this transaction will look at, in as few round trips as the
    /// backend needs. One that is not there is no error. Where each `get` is cheap there is
    /// nothing to do.
    fn load_ahead(&mut self, wanted: &[Wanted]) -> impl Future<Output = Result<()>> + Send {
        let _ = wanted;
        std::future::ready(Ok(()))
    }

    /// The same document with more of it loaded.
    fn load(
        &mut self,
        row: &Self::Row,
        needs: &Needs,
    ) -> impl Future<Output = Result<Self::Row>> + Send;

    /// The size of a document as a whole: of a row, or of what is to be stored in
    /// its place, where values outside the row's needs may be stubs.
    fn size(&self, row: &Self::Row, document: &RawDocument) -> usize;

    /// Documents that match, their intents taken.
    fn find(
        &mut self,
        namespace: &Namespace,
        find: &Find<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>>> + Send;

    /// Adds a document, which has an `_id`, as it is: past patterns and validators.
    /// `write::insert_in` goes through them.
    fn insert(
        &mut self,
        namespace: &Namespace,
        version: Version<'_>,
        note: Option<&NoteOf<Self>>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Puts `after` in the place of `row`, as it is: past patterns and validators.
    /// `write::update_in` goes through them. Their `_id`s are equal. Only the sidecar may
    /// differ.
    fn replace(
        &mut self,
        namespace: &Namespace,
        row: &Self::Row,
        after: Version<'_>,
        cause: Cause<'_, Self>,
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

    /// Whether changes of the collection are watched as clients see them, where its guard shows
    /// more than is stored.
    fn watched(&self, namespace: &Namespace) -> Watched {
        let _ = namespace;
        Watched::Not
    }

    /// Says how clients see the next write to a collection that is watched.
    fn announce(&mut self, change: ShownChange) {
        let _ = change;
    }

    /// How many index entries its writes have added and removed, those of `_id`s aside; `None`
    /// where that is not known.
    fn index_entries(&self) -> Option<u64> {
        None
    }

    /// After a conflict: rolls everything back, waits for the transaction in the way, and
    /// says true if the work may be done over. A client's own transaction says
    /// false: the failure is the client's to see.
    fn retry(&mut self) -> impl Future<Output = Result<bool>> + Send;
}

/// What is known of the way from one document to the next, and need not be found out.
pub struct Cause<'a, T: Transaction> {
    /// The client's update, which bounds what may have changed.
    pub update: Option<&'a Update>,
    /// What the patterns learned on the way.
    pub note: Option<&'a NoteOf<T>>,
}

impl<T: Transaction> Cause<'_, T> {
    /// Nothing is known.
    pub const UNKNOWN: Self = Cause { update: None, note: None };
}

impl<T: Transaction> Clone for Cause<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Transaction> Copy for Cause<'_, T> {}

/// A document that a write will look at beside the one it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub namespace: Namespace,
    pub id: RawBson,
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

/// Where transactions begin. By itself it cannot commit them: what a dry run writes is rolled
/// back.
pub trait Transactions: Sync {
    type Transaction: Transaction;
    type Snapshot: Snapshot;

    /// A transaction for one step of the loop. Inside a client's transaction it
    /// is that transaction.
    fn begin(&self) -> impl Future<Output = Result<Self::Transaction>> + Send;

    /// What is committed now.
    fn snapshot(&self) -> impl Future<Output = Result<Self::Snapshot>> + Send;
}

/// Where transactions begin and are committed.
pub trait Backend: Transactions {
    type Candidates: Candidates<Self::Transaction>;

    /// Whether everything is part of a client's own transaction, which ends with the first
    /// failure.
    fn is_clients(&self) -> bool {
        false
    }

    /// Ends a step, which may have written nothing. What it wrote survives once
    /// the command is acknowledged, and later steps of the same command see it.
    /// The record of a step that wrote something is part of the commit.
    fn commit(
        &self,
        transaction: Self::Transaction,
        record: RetryRecord<'_>,
    ) -> impl Future<Output = Result<()>> + Send;

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
