//! Updates: operators, replacements and pipelines, applied to raw documents.

use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::Result;

/// A parsed update.
#[derive(Debug)]
pub struct Update {}

impl Update {
    /// `update` is a document of operators, a replacement, or a pipeline (array).
    pub fn parse(
        update: RawBsonRef<'_>,
        array_filters: Option<&RawArray>,
        context: &Context,
    ) -> Result<Update> {
        let _ = (update, array_filters, context);
        todo!()
    }

    pub fn is_replacement(&self) -> bool {
        todo!()
    }

    /// The document after the update, or `None` if nothing changes (a no-op).
    /// Fields the update does not touch are copied as bytes, in place and order.
    pub fn apply(&self, before: &RawDocument, matched: Matched) -> Result<Option<RawDocumentBuf>> {
        let _ = (before, matched);
        todo!()
    }

    /// The document an upsert inserts: values from the filter's equalities, then
    /// the update, `$setOnInsert` included. Without an `_id` there, none is made.
    pub fn upsert(&self, filter: &Filter) -> Result<RawDocumentBuf> {
        let _ = filter;
        todo!()
    }

    /// The paths that are read or written. `All` for replacements and pipelines
    /// whose needs are unknown.
    pub fn needs(&self, needs: &mut Needs) {
        let _ = needs;
        todo!()
    }
}
