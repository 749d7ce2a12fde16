//! What a batch of a restoration has done, or would do.

use super::{RestoredDocument, TooLargeArray};
use crate::verify::{append_count, append_failed, append_id};
use bson::RawBson;
use error::{Error, Result};
use value::DocumentWriter;

/// Documents that are listed one by one; the rest are counted.
const LISTED_MAX: usize = 100;

#[derive(Debug, Default)]
pub struct RestoredBatch {
    pub examined: u64,
    /// Documents restored.
    pub documents: u64,
    /// The elements of their arrays that had pages, the pages that are gone, and what the arrays
    /// weigh.
    pub elements: u64,
    pub pages: u64,
    pub bytes: u64,
    /// Documents that would be too large, and the first of them.
    pub too_large: u64,
    pub left: Vec<(RawBson, TooLargeArray)>,
    pub failures: u64,
    pub failed: Vec<(RawBson, Error)>,
    /// The `_id` of the last document looked at, if there may be more.
    pub next: Option<RawBson>,
}

impl RestoredBatch {
    /// Notes what has become of a document, or would.
    pub(super) fn note(
        &mut self,
        id: RawBson,
        restored: Result<Option<RestoredDocument>>,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<()> {
        match restored {
            Ok(Some(RestoredDocument::Whole { elements, pages, bytes })) => {
                self.documents += 1;
                self.elements += elements;
                self.pages += pages;
                self.bytes += bytes;
            }
            Ok(Some(RestoredDocument::TooLarge(array))) => {
                self.too_large += 1;
                if self.left.len() < LISTED_MAX {
                    self.left.push((id, array));
                }
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => {
                let error = failed(error)?;
                self.failures += 1;
                if self.failed.len() < LISTED_MAX {
                    self.failed.push((id, error));
                }
            }
        }
        Ok(())
    }

    /// Adds what the batch after it has done. What is listed is what the last pass over the
    /// collection has found: a new pass begins with `begin_pass`.
    pub fn add(&mut self, next: RestoredBatch) {
        self.examined += next.examined;
        self.documents += next.documents;
        self.elements += next.elements;
        self.pages += next.pages;
        self.bytes += next.bytes;
        self.too_large += next.too_large;
        self.failures += next.failures;
        let room = LISTED_MAX.saturating_sub(self.left.len());
        self.left.extend(next.left.into_iter().take(room));
        let room = LISTED_MAX.saturating_sub(self.failed.len());
        self.failed.extend(next.failed.into_iter().take(room));
        self.next = next.next;
    }

    /// From here on what is left is counted and listed once more.
    pub fn begin_pass(&mut self) {
        (self.examined, self.too_large, self.failures) = (0, 0, 0);
        self.left.clear();
        self.failed.clear();
        self.next = None;
    }

    /// As replies have it.
    pub fn write(&self, out: &mut DocumentWriter) {
        append_count(out, "examined", self.examined);
        append_count(out, "documents", self.documents);
        append_count(out, "elements", self.elements);
        append_count(out, "pages", self.pages);
        append_count(out, "bytes", self.bytes);
        append_count(out, "tooLarge", self.too_large);
        out.begin_array("left");
        for (id, array) in &self.left {
            out.begin_next_document();
            append_id(out, "_id", id.as_raw_bson_ref());
            out.append_str("path", &array.path);
            append_count(out, "elements", array.elements as u64);
            append_count(out, "bytes", array.bytes as u64);
            out.end();
        }
        out.end();
        append_failed(out, self.failures, &self.failed);
        if let Some(next) = &self.next {
            out.append("next", next.as_raw_bson_ref());
        }
    }
}
