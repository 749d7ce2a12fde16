//! A walk through a collection.

use crate::patterns::place;
use bson::{RawBson, RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use std::ops::Deref;
use std::vec::IntoIter;
use write::Snapshot;

/// Documents that are read at once, and what they may take.
const BATCH_DOCUMENTS: usize = 64;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The documents of a collection in the order of `_id`s, in one snapshot: rows of one mean
/// nothing in another.
pub struct Documents<'a, R> {
    namespace: &'a Namespace,
    /// The last `_id` of the batch.
    after: Option<RawBson>,
    batch: IntoIter<R>,
}

impl<'a, R: Deref<Target = RawDocument>> Documents<'a, R> {
    pub fn all(namespace: &'a Namespace) -> Documents<'a, R> {
        Documents::after(namespace, None)
    }

    /// Those behind an `_id`.
    pub fn after(namespace: &'a Namespace, id: Option<RawBsonRef<'_>>) -> Documents<'a, R> {
        Documents { namespace, after: id.map(RawBson::from), batch: Vec::new().into_iter() }
    }

    /// The next document. Its large values are not loaded.
    pub async fn next<S: Snapshot<Row = R>>(&mut self, snapshot: &mut S) -> Result<Option<R>> {
        if let Some(row) = self.batch.next() {
            return Ok(Some(row));
        }
        let after = self.after.as_ref().map(RawBson::as_raw_bson_ref);
        let rows = snapshot.walk(self.namespace, after, BATCH_DOCUMENTS, BATCH_BYTES).await?;
        if let Some(last) = rows.last() {
            self.after = Some(place::id(last).into());
        }
        self.batch = rows.into_iter();
        Ok(self.batch.next())
    }
}
