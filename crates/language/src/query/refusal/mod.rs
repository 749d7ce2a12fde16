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
use crate::report::{REPORT_BYTES_MAX, Report};
use bson::{RawDocument, RawDocumentBuf};
use clause::Clause;
use error::{Error, Result};
pub use sentence::sentence;
use value::DocumentWriter;
use value::check::DEPTH_MAX;
use value::element::get;

/// How much room below the bound of nesting an account leaves for its reply.
const REPLY_LEVELS: usize = 10;

/// A filter that can say why it does not match.
#[derive(Debug)]
pub struct Refusal {
    root: Clause,
}

impl Refusal {
    pub fn parse(filter: &RawDocument, context: &Context) -> Result<Refusal> {
        Ok(Refusal { root: Clause::parse(filter, context)? })
    }

    /// The `errInfo` of a document that does not match. Considered values and the
    /// rules as they were given are left out where they make it too large.
    pub fn explain(&self, document: &RawDocument) -> RawDocumentBuf {
        for brief in [false, true] {
            let mut report = Report::new(brief);
            if let Err(error) = self.root.explain(document, false, &mut report) {
                return note(document, "failed to generate document validation error", Some(error));
            }
            if report.is_cut() {
                continue;
            }
            let info = info(document, brief, &report.out.finish());
            if value::check::document(info.as_bytes(), DEPTH_MAX - REPLY_LEVELS).is_err() {
                let reason = "generated error was too deeply nested";
                return bson::rawdoc! { "reason": reason, "truncated": true };
            }
            if info.as_bytes().len() <= REPORT_BYTES_MAX {
                return info;
            }
        }
        note(document, "detailed error was too large", None)
    }
}

fn info(document: &RawDocument, brief: bool, details: &RawDocument) -> RawDocumentBuf {
    let mut out = start(document);
    if brief {
        out.append_bool("truncated", true);
    }
    out.append_document("details", details);
    out.finish()
}

fn note(document: &RawDocument, note: &str, error: Option<Error>) -> RawDocumentBuf {
    let mut out = start(document);
    out.append_str("note", note);
    if let Some(error) = error {
        append_error("details", &error, &mut out);
    }
    out.finish()
}

fn start(document: &RawDocument) -> DocumentWriter {
    let mut out = DocumentWriter::new();
    if let Some(id) = get(document, "_id") {
        out.copy_as("failingDocumentId", id);
    }
    out
}

fn append_error(name: &str, error: &Error, out: &mut DocumentWriter) {
    out.begin_document(name);
    out.append_i32("code", error.code().number());
    out.append_str("codeName", &error.code().name());
    out.append_str("errmsg", error.message());
    out.end();
}
