//! Why a document does not match a filter: what a collection's validator says of
//! a document that it refuses, in the shape of MongoDB's `errInfo`.
//!
//! The filter is read a second time, as it was written (`clause`), since what is
//! told repeats it; a condition on a field is explained by its row in `leaf`.
//! `sentence` turns the account into words.

mod clause;
mod leaf;
mod sentence;
#[cfg(test)]
mod tests;

use crate::Context;
use crate::report::{self, Extent, Report};
use bson::{RawDocument, RawDocumentBuf};
use clause::Clause;
use error::Result;

/// A filter that can say why it does not match.
#[derive(Debug)]
pub struct Refusal {
    root: Clause,
}

impl Refusal {
    pub fn parse(filter: &RawDocument, context: &Context) -> Result<Refusal> {
        Ok(Refusal { root: Clause::parse(filter, context)? })
    }

    /// The `errInfo` of a document that does not match.
    pub fn info(&self, document: &RawDocument) -> RawDocumentBuf {
        report::info(document, |report| self.root.explain(document, false, report))
    }

    /// The first rule that a document breaks, where, and with which value.
    pub fn sentence(&self, document: &RawDocument) -> String {
        let mut report = Report::new(Extent::Words);
        self.root.explain(document, false, &mut report);
        sentence::of(&report.out.finish())
    }
}
