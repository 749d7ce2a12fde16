//! What takes part in the writes to a collection that has a policy.

use crate::{Returns, Transaction};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;
use language::Needs;
use language::query::{Filter, Matched};
use language::update::Update;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::future::Future;

/// The patterns of one collection, as the write loop meets them: it hands each
/// document over before it is stored, and stores what it gets back. Patterns may
/// write further documents through the transaction, or refuse.
pub trait Guard<T: Transaction>: Send + Sync {
    /// What is known of an update before it meets a document.
    type Plan: Send + Sync;

    /// Looks at an update once for all the documents it will meet.
    fn plan(&self, update: &Update) -> Result<Self::Plan>;

    /// What of a document must be loaded for the update.
    fn needs(&self, update: &Update, plan: &Self::Plan, needs: &mut Needs);

    /// Whether filters see more of documents than what is stored: then `matches` tells.
    fn shows_more(&self) -> bool;

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
        document: &RawDocument,
        returns: &Returns<'_>,
    ) -> impl Future<Output = Result<RawDocumentBuf>> + Send;

    /// As `insert`, where the document alone tells what becomes of it, as with most; else it
    /// is given back.
    fn insert_at_once<'d>(&self, document: Cow<'d, RawDocument>) -> Result<AtOnce<'d>>;

    /// Takes part in the insertion of a document.
    fn insert<'d>(
        &self,
        transaction: &mut T,
        document: Cow<'d, RawDocument>,
    ) -> impl Future<Output = Result<Inserted<'d>>> + Send;

    /// As `update`, where the document alone tells what becomes of it, as with most.
    fn update_at_once(
        &self,
        transaction: &T,
        row: &T::Row,
        applied: &Applied<'_, Self::Plan>,
    ) -> Result<Option<Outcome>>;

    /// Applies an update to a document.
    fn update(
        &self,
        transaction: &mut T,
        row: &T::Row,
        applied: Applied<'_, Self::Plan>,
    ) -> impl Future<Output = Result<Outcome>> + Send;

    /// Takes part in the deletion of a document.
    fn delete(&self, transaction: &mut T, row: &T::Row) -> impl Future<Output = Result<()>> + Send;
}

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
pub struct Inserted<'d> {
    /// The document to insert in its place.
    pub document: Cow<'d, RawDocument>,
    pub counted: CountedArrays,
}

/// What becomes of a new document, if that can be told at once.
#[derive(Debug)]
pub enum AtOnce<'d> {
    Done(Inserted<'d>),
    Not(Cow<'d, RawDocument>),
}

/// What became of a document.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The document to store; `None` if it stays as it is.
    pub after: Option<RawDocumentBuf>,
    /// Whether the update has changed something elsewhere.
    pub elsewhere: bool,
    pub counted: CountedArrays,
    /// Whether all other arrays that the policy names stay as they are.
    pub all_counted: bool,
}

/// Arrays that a guard has counted on the way.
pub type CountedArrays = SmallVec<[Counted; 2]>;

/// An array before a write and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Which array of the policy it is.
    pub rule: usize,
    /// `None` where there is no array.
    pub before: Option<Length>,
    pub after: Option<Length>,
}

/// How long an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    pub elements: usize,
    /// The pages that hold what the document does not.
    pub pages: usize,
}
