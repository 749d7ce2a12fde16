//! What a batch of a migration has done, or would do.

use crate::adopt::{Cost, Over, SettledDocument};
use crate::verify::{append_count, append_failed, append_over};
use bson::{RawBson, RawBsonRef};
use error::{Error, Result};
use value::DocumentWriter;

/// Documents that are listed one by one; the rest are counted.
const LISTED_MAX: usize = 100;

#[derive(Debug, Default)]
pub struct MigratedBatch {
    pub examined: u64,
    /// Documents settled.
    pub documents: u64,
    pub cost: Cost,
    /// Index entries that would be added and removed: of a dry run alone, where the backend
    /// knows.
    pub entries: Option<u64>,
    /// What is over its bounds still.
    pub over: Vec<(RawBson, Over)>,
    pub over_documents: u64,
    pub failed: Vec<(RawBson, Error)>,
    /// The `_id` of the last document looked at, if there may be more.
    pub next: Option<RawBson>,
}

impl MigratedBatch {
    /// Notes what a document is over.
    pub(super) fn leave(&mut self, id: RawBsonRef<'_>, over: Vec<Over>) {
        self.over_documents += u64::from(!over.is_empty());
        let room = LISTED_MAX.saturating_sub(self.over.len());
        self.over.extend(over.into_iter().take(room).map(|over| (id.into(), over)));
    }

    /// Notes what has become of a document, or would.
    pub(super) fn note(
        &mut self,
        id: RawBson,
        settled: Result<Option<SettledDocument>>,
        failed: &(dyn Fn(Error) -> Result<Error> + Sync),
    ) -> Result<()> {
        match settled {
            Ok(Some(settled)) => {
                self.documents += u64::from(settled.changed);
                self.cost.add(settled.cost);
                self.leave(id.as_raw_bson_ref(), settled.over);
            }
            // Deleted meanwhile.
            Ok(None) => {}
            Err(error) => self.failed.push((id, failed(error)?)),
        }
        Ok(())
    }

    /// As replies have it.
    pub fn write(&self, out: &mut DocumentWriter) {
        append_count(out, "examined", self.examined);
        append_count(out, "documents", self.documents);
        append_count(out, "elements", self.cost.elements);
        append_count(out, "pages", self.cost.pages);
        append_count(out, "bytes", self.cost.bytes);
        append_count(out, "dropped", self.cost.dropped);
        if let Some(entries) = self.entries {
            append_count(out, "indexEntries", entries);
        }
        append_count(out, "stillOver", self.over_documents);
        append_over(out, &self.over);
        let listed = &self.failed[..self.failed.len().min(LISTED_MAX)];
        append_failed(out, self.failed.len() as u64, listed);
        if let Some(next) = &self.next {
            out.append("next", next.as_raw_bson_ref());
        }
    }
}
