//! Whether an index can be made unique: no documents share a key.

use crate::catalog::{Collection, Index};
use crate::plan::Interrupt;
use crate::storage::{RecordId, View};
use bson::{RawArrayBuf, RawBson, RawBsonRef, rawdoc};
use error::{Code, Result};
use std::ops::Bound;
use value::element::get_value;

/// What the documents that are told may take, of those that share keys.
const VIOLATIONS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Entries between two looks at whether to stop.
const ENTRIES_PER_CHECK: u64 = 1024;

/// Refuses an index that has a key of several documents, and tells them, key by key.
pub fn check(
    view: &View,
    collection: &Collection,
    index: &Index,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut violations = Violations { view, collection, found: RawArrayBuf::new() };
    let (mut key, mut records): (Vec<u8>, Vec<RecordId>) = (Vec::new(), Vec::new());
    let all = (Bound::Unbounded, Bound::Unbounded);
    for (entry, number) in view.entries(index.id, index.bare_keys, all).zip(0u64..) {
        let entry = entry?;
        if number % ENTRIES_PER_CHECK == 0 {
            interrupt.check()?;
        }
        if entry.key() != key {
            violations.add(&records)?;
            key.clear();
            key.extend_from_slice(entry.key());
            records.clear();
        }
        records.push(entry.record);
    }
    violations.add(&records)?;
    violations.finish()
}

struct Violations<'a> {
    view: &'a View,
    collection: &'a Collection,
    found: RawArrayBuf,
}

impl Violations<'_> {
    /// Adds the documents of one key, if they are several.
    fn add(&mut self, records: &[RecordId]) -> Result<()> {
        if records.len() < 2 || self.found.as_bytes().len() > VIOLATIONS_BYTES_MAX {
            return Ok(());
        }
        let mut ids = RawArrayBuf::new();
        for record in records {
            if let Some(record) = self.view.record(self.collection.id, *record)? {
                let id = get_value(record.stored(), "_id").unwrap_or(RawBsonRef::Null);
                ids.push(RawBson::from(id));
            }
            if ids.as_bytes().len() > VIOLATIONS_BYTES_MAX {
                break;
            }
        }
        self.found.push(rawdoc! { "ids": ids });
        Ok(())
    }

    fn finish(self) -> Result<()> {
        if self.found.is_empty() {
            return Ok(());
        }
        Err(Code::CannotConvertIndexToUnique
            .error(
                "Cannot convert the index to unique. Please resolve conflicting documents before \
                 running collMod again.",
            )
            .detail("violations", self.found))
    }
}
