//! One row for each distinct value of an index field, skipping from value to value.

use super::index_scan::{IndexCursor, IndexStep};
use super::{Member, Operator, Running, Shared, Stats, Work, covered, fetch};
use crate::plan::IndexScan;
use crate::storage::{Document, Entry};
use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use error::Result;
use std::sync::Arc;
use value::key::{self, Direction};
use value::{DocumentWriter, Path};

pub struct DistinctScanOperation {
    plan: Arc<IndexScan>,
    field: usize,
    cursor: IndexCursor,
    directions: Vec<Direction>,
}

impl DistinctScanOperation {
    pub fn new(plan: Arc<IndexScan>, field: usize) -> DistinctScanOperation {
        let (cursor, directions) = (IndexCursor::new(&plan), plan.directions());
        DistinctScanOperation { plan, field, cursor, directions }
    }

    /// The bytes of a key up to and with the field.
    fn prefix<'e>(&self, entry: &'e Entry) -> &'e [u8] {
        let mut end = 0;
        for direction in self.directions.iter().take(self.field + 1) {
            end += key::skip(&entry.key()[end..], *direction).unwrap_or(0);
        }
        &entry.key()[..end]
    }
}

impl Operator for DistinctScanOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let entry = match self.cursor.step(shared, stats)? {
            IndexStep::Entry(entry) => entry,
            IndexStep::Outside => return Ok(Work::Pending),
            IndexStep::Done => return Ok(Work::Done),
        };
        let mut values = covered::values(&self.plan, &self.directions, &entry)?;
        let value = values.swap_remove(self.field);
        let path = &self.plan.index.fields[self.field].path;
        let document = if matches!(value, RawBson::Null | RawBson::Undefined) {
            // Null in the key may be missing in the document, and undefined an empty
            // array: every one is read until a real one is found.
            stats.documents_examined += 1;
            let record = shared.view.record(shared.collection, entry.record)?;
            let document = record.ok_or_else(fetch::dangling)?.load(&shared.view, &shared.needs)?;
            let found = crate::index::extract::single(path, &document);
            if found.is_ok_and(|found| found == Some(value.as_raw_bson_ref())) {
                self.cursor.pass_prefix(self.prefix(&entry));
            }
            document
        } else {
            self.cursor.pass_prefix(self.prefix(&entry));
            Document::Built(wrap(path, value.as_raw_bson_ref()))
        };
        let record = entry.record;
        Ok(Work::Advanced(Member { record, entry: Some(entry), document: Some(document) }))
    }

    fn inputs(&self) -> Vec<&Running> {
        Vec::new()
    }
}

/// A document in which `path` has exactly this value. An array was an element of
/// an array, and stays one.
fn wrap(path: &Path, value: RawBsonRef<'_>) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    let last = path.len() - 1;
    (0..last).for_each(|at| writer.begin_document(path.component(at)));
    if matches!(value, RawBsonRef::Array(_)) {
        writer.begin_array(path.component(last));
        writer.append("0", value);
        writer.end();
    } else {
        writer.append(path.component(last), value);
    }
    (0..last).for_each(|_| writer.end());
    writer.finish()
}
