//! The patterns of a collection that has a policy, as the write loop meets them.

use crate::{Returns, ShownChange, ShownDocument, Sidecar, Transaction, Version, Wanted};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::query::{Filter, Matched};
use language::update::Update;
use std::borrow::Cow;
use std::future::Future;
use std::ops::Deref;

/// What takes part in the writes to one collection. The loop hands over each document before
/// it is stored, and stores what it gets back. Patterns may write further documents through
/// the transaction, or refuse.
///
/// Each kind of write has a fast path, for what the document alone decides: it is synchronous,
/// since what an asynchronous function keeps is in the memory of its task, which is cold.
pub trait Guard<T: Transaction>: Send + Sync {
    /// What is known of an update before it meets a document.
    type Plan: Send + Sync;
    /// What the patterns learn of a document on the way, for the backend's figures.
    type Note: Default + Send + Sync;

    /// Looks at an update once for all the documents it will meet.
    fn plan(&self, update: &Update) -> Result<Self::Plan>;

    /// What of a document must be loaded for an update.
    fn update_needs(&self, update: &Update, plan: &Self::Plan, needs: &mut Needs);

    /// What of a document must be loaded before it is deleted.
    fn delete_needs(&self, needs: &mut Needs);

    /// The other documents that a batch of new ones needs, each once: one load serves them all.
    fn insert_needs(&self, documents: &[&RawDocument]) -> Vec<Wanted>;

    /// Whether clients see more of a document than what is stored: then `matches` decides.
    fn shows_more(&self, version: Version<'_>) -> bool;

    /// Whether a document matches a filter, and where.
    fn matches(
        &self,
        transaction: &mut T,
        row: &T::Row,
        filter: &Filter,
    ) -> impl Future<Output = Result<Option<Matched>>> + Send;

    /// What the client is to see of a document, which may be more than is stored.
    fn shown(
        &self,
        transaction: &mut T,
        version: Version<'_>,
        returns: &Returns<'_>,
    ) -> impl Future<Output = Result<RawDocumentBuf>> + Send;

    /// What of a document must be loaded, so that clients can be shown what an update changes.
    fn change_needs(&self, update: &Update, plan: &Self::Plan, needs: &mut Needs);

    /// A document with all that clients see of it, or of what an update may change; `None` if
    /// that is what is stored. It fails for no size.
    fn whole(
        &self,
        transaction: &mut T,
        version: Version<'_>,
        plan: Option<&Self::Plan>,
    ) -> impl Future<Output = Result<Option<ShownDocument>>> + Send;

    /// Whether all that an update does to what clients see beyond the document is to append.
    fn appends(&self, update: &Update, plan: &Self::Plan, before: Version<'_>) -> bool;

    /// How clients see such an update; `None` if they see what is stored.
    fn appended(
        &self,
        update: &Update,
        plan: &Self::Plan,
        before: &RawDocument,
        after: Version<'_>,
    ) -> Result<Option<ShownChange>>;

    /// How clients see any other, of documents that `whole` has shown.
    fn compared(
        &self,
        plan: &Self::Plan,
        before: ShownDocument,
        after: ShownDocument,
    ) -> Result<ShownChange>;

    /// The fast path of `insert`.
    fn fast_insert<'d>(&self, document: Cow<'d, RawDocument>)
    -> Result<FastInsert<'d, Self::Note>>;

    /// Takes part in the insertion of a document.
    fn insert<'d>(
        &self,
        transaction: &mut T,
        document: Cow<'d, RawDocument>,
    ) -> impl Future<Output = Result<Inserted<'d, Self::Note>>> + Send;

    /// The fast path of `update`; `None` where it takes more than the document.
    fn fast_update(
        &self,
        transaction: &T,
        row: &T::Row,
        applied: &Applied<'_, Self::Plan>,
    ) -> Result<Option<Outcome<Self::Note>>>;

    /// What becomes of a document under an update.
    fn update(
        &self,
        transaction: &mut T,
        row: &T::Row,
        applied: Applied<'_, Self::Plan>,
    ) -> impl Future<Output = Result<Outcome<Self::Note>>> + Send;

    /// Takes part in the deletion of a document.
    fn delete(&self, transaction: &mut T, row: &T::Row) -> impl Future<Output = Result<()>> + Send;
}

/// The guard of a transaction's collections.
pub type GuardOf<T> = <<T as Transaction>::Guard as Deref>::Target;

/// What that guard learns of documents.
pub type NoteOf<T> = <GuardOf<T> as Guard<T>>::Note;

/// An update on its way to a document that matched.
#[derive(Debug)]
pub struct Applied<'a, P> {
    pub update: &'a Update,
    pub plan: &'a P,
    pub matched: Matched,
    /// What the document was loaded with.
    pub loaded: &'a Needs,
}

/// What becomes of a new document.
#[derive(Debug)]
pub struct Inserted<'d, N> {
    /// The document to insert; `None` if a pattern has put it elsewhere.
    pub document: Option<Cow<'d, RawDocument>>,
    pub sidecar: Option<RawDocumentBuf>,
    pub note: N,
}

/// How far the fast path of an insert has come.
#[derive(Debug)]
pub enum FastInsert<'d, N> {
    Done(Inserted<'d, N>),
    /// The document as it came, which needs the slow path.
    Slow(Cow<'d, RawDocument>),
}

/// What became of a document.
#[derive(Debug, Default)]
pub struct Outcome<N> {
    /// The document to store; `None` if it stays as it is.
    pub after: Option<RawDocumentBuf>,
    pub sidecar: Sidecar,
    /// Whether the update has changed something elsewhere.
    pub elsewhere: bool,
    pub note: N,
}
