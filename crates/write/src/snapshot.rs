//! Documents as of one moment, for those who look through collections.

use crate::StoredRow;
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use language::Needs;
use language::query::Filter;
use std::future::Future;
use std::sync::Arc;
use value::Path;

/// Visits a document, of so many bytes.
pub type Visit<'a> = dyn FnMut(&RawDocument, usize) + Send + 'a;

/// What was committed at one moment. It takes no intents and blocks no writer. Long work takes
/// a new one now and then.
pub trait Snapshot: Send {
    type Row: StoredRow;

    /// The next documents after an `_id`, in the order of the collection's `_id` index; none at
    /// the end. No more are wanted once they take so many bytes. It seeks: the cost does not
    /// depend on what lies before. Large values need not be loaded.
    fn walk(
        &mut self,
        namespace: &Namespace,
        after: Option<RawBsonRef<'_>>,
        documents: usize,
        bytes: usize,
    ) -> impl Future<Output = Result<Vec<Self::Row>>> + Send;

    /// The same document with more of it loaded.
    fn load(
        &mut self,
        row: &Self::Row,
        needs: &Needs,
    ) -> impl Future<Output = Result<Self::Row>> + Send;

    /// The size of the whole document, be it loaded or not.
    fn size(&self, row: &Self::Row) -> usize;

    /// What is known of the array at a path without loading it.
    fn outline(&self, row: &Self::Row, path: &Path) -> Option<Outline>;

    /// Visits the documents that match, in order.
    fn each(
        &mut self,
        namespace: &Namespace,
        filter: &Arc<Filter>,
        sort: &RawDocument,
        needs: &Needs,
        visit: &mut Visit<'_>,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Whether there is a document with this `_id`.
    fn contains(
        &mut self,
        namespace: &Namespace,
        id: RawBsonRef<'_>,
    ) -> impl Future<Output = Result<bool>> + Send;

    /// How many documents a collection has.
    fn count(&mut self, namespace: &Namespace) -> impl Future<Output = Result<u64>> + Send;
}

/// An array that is not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    pub bytes: usize,
    /// How many elements it has, where that is known.
    pub items: Option<usize>,
}
