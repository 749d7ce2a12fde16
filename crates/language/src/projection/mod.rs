//! Projections of `find` and `$project`.

use crate::query::{Filter, Matched};
use crate::{Context, Needs};
use bson::{RawDocument, RawDocumentBuf};
use error::Result;

/// A parsed projection.
#[derive(Debug)]
pub struct Projection {}

impl Projection {
    /// `find`'s projection: with `$slice`, `$elemMatch`, positional `$`. `filter`
    /// is what the positional operator refers to.
    pub fn parse(
        spec: &RawDocument,
        filter: Option<&Filter>,
        context: &Context,
    ) -> Result<Projection> {
        let _ = (spec, filter, context);
        todo!()
    }

    /// `$project`'s: the same without find's own operators.
    pub fn parse_stage(spec: &RawDocument, context: &Context) -> Result<Projection> {
        let _ = (spec, context);
        todo!()
    }

    pub fn needs_match(&self) -> bool {
        todo!()
    }

    pub fn apply(&self, document: &RawDocument, matched: Matched) -> Result<RawDocumentBuf> {
        let _ = (document, matched);
        todo!()
    }

    pub fn needs(&self, needs: &mut Needs) {
        let _ = needs;
        todo!()
    }
}
