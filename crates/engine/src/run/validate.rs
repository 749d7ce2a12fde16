//! `validate`: reads everything a collection has and checks that it fits together.
//!
//! Every record decodes, is well formed and has the size that is counted; every
//! key of every record is in every index, and no index has another. All of it is
//! looked at in one view of the store.

use super::{Call, reading};
use crate::catalog::{Collection, Index};
use crate::index;
use crate::plan::Interrupt;
use crate::storage::{Counts, Entry, RecordId, View};
use bson::{RawBsonRef, RawDocument};
use command::views::Validate;
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use language::Needs;
use std::ops::Bound;
use std::sync::Arc;

/// The deepest nesting that is taken for well formed.
const DEPTH_MAX: usize = 200;
/// Records and entries between two looks at whether to stop.
const ITEMS_PER_CHECK: u64 = 1024;
/// The most faults that are described one by one.
const FAULTS_MAX: usize = 100;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let validate = Validate::parse(call.request)?;
    let namespace = &validate.namespace;
    let found = call.engine.registry.get(namespace);
    let collection = found.ok_or_else(|| {
        Code::NamespaceNotFound
            .error(format!("Collection '{namespace}' does not exist to validate."))
    })?;
    if collection.is_view() {
        return Err(Code::CommandNotSupportedOnView.error("Cannot validate a view"));
    }
    let interrupt = call.operation.interrupt.clone();
    let mut check = Check::new(reading::view(call)?, collection, interrupt);
    turn::aside(|| check.run(validate.metadata))?;
    Ok(check.reply())
}

/// What has been found so far.
struct Check {
    view: View,
    collection: Arc<Collection>,
    interrupt: Interrupt,
    counted: Counts,
    invalid: i64,
    non_compliant: i64,
    /// The keys of each index that records ask for.
    keys: Vec<u64>,
    /// What is wrong with each index.
    index_errors: Vec<Vec<String>>,
    errors: Vec<String>,
    warnings: Vec<String>,
    missing: Vec<(String, RecordId)>,
    extra: Vec<(String, RecordId)>,
    corrupt: Vec<RecordId>,
}

impl Check {
    fn new(view: View, collection: Arc<Collection>, interrupt: Interrupt) -> Check {
        let indexes = collection.indexes.len();
        Check {
            view,
            collection,
            interrupt,
            counted: Counts::default(),
            invalid: 0,
            non_compliant: 0,
            keys: vec![0; indexes],
            index_errors: vec![Vec::new(); indexes],
            errors: Vec::new(),
            warnings: Vec::new(),
            missing: Vec::new(),
            extra: Vec::new(),
            corrupt: Vec::new(),
        }
    }

    fn run(&mut self, only_metadata: bool) -> Result<()> {
        if only_metadata {
            return Ok(());
        }
        let collection = self.collection.clone();
        let all = (Bound::Unbounded, Bound::Unbounded);
        for record in self.view.records(collection.id, all) {
            let (id, record) = match record {
                Ok(record) => record,
                // Behind what cannot be read nothing can be found.
                Err(error) => {
                    self.corrupted(RecordId(0), error.message());
                    break;
                }
            };
            if self.counted.documents.is_multiple_of(ITEMS_PER_CHECK) {
                self.interrupt.check()?;
            }
            self.counted.documents += 1;
            self.counted.bytes += record.size() as u64;
            match record.load(&self.view, &Needs::All) {
                Ok(document) => self.document(id, &document, record.size())?,
                // What there is no memory for is not damaged.
                Err(error) if error.code() == Code::ExceededMemoryLimit => return Err(error),
                Err(error) => self.corrupted(id, error.message()),
            }
        }
        self.counts()?;
        for at in 0..collection.indexes.len() {
            self.entries(at)?;
        }
        Ok(())
    }

    fn document(&mut self, id: RecordId, document: &RawDocument, size: usize) -> Result<()> {
        if let Err(error) = value::check::document(document.as_bytes(), DEPTH_MAX) {
            self.corrupted(id, error.message());
            return Ok(());
        }
        if document.as_bytes().len() != size {
            self.corrupted(id, "a record's size is not that of its document");
        }
        let collection = self.collection.clone();
        if let Some(validator) = &collection.validator
            && !validator.accepts(document)?
        {
            self.non_compliant += 1;
            if self.non_compliant == 1 {
                self.warnings.push(
                    "Detected one or more documents not compliant with the collection's schema."
                        .to_owned(),
                );
            }
        }
        for (at, index) in collection.indexes.iter().enumerate().filter(|(_, i)| i.ready) {
            match index::keys(index, document) {
                Ok(found) => {
                    for key in &found.keys {
                        self.key(at, index, id, key)?;
                    }
                }
                Err(error) if language::interrupt::is_stopping() => return Err(error),
                Err(error) => self.index_errors[at].push(error.message().to_owned()),
            }
        }
        Ok(())
    }

    fn key(
        &mut self,
        at: usize,
        index: &Index,
        record: RecordId,
        key: &value::key::Key,
    ) -> Result<()> {
        self.keys[at] += 1;
        let of = (!index.bare_keys).then_some(record);
        let found = self.view.entry(index.id, &key.bytes, of)?;
        if !found.is_some_and(|it| it.record == record && it.types() == key.types) {
            self.index_errors[at].push(format!("missing index entry of record {}", record.0));
            self.missing.push((index.name.clone(), record));
        }
        Ok(())
    }

    fn counts(&mut self) -> Result<()> {
        let stored = self.view.counts(self.collection.id)?;
        if stored != self.counted {
            self.errors.push(format!(
                "the stored counts ({} documents, {} bytes) are not those of the records ({} \
                 documents, {} bytes)",
                stored.documents, stored.bytes, self.counted.documents, self.counted.bytes
            ));
        }
        Ok(())
    }

    /// Each entry that is in its place was met from its record. If there are more
    /// entries than that, the others are found by looking from the entries.
    fn entries(&mut self, at: usize) -> Result<()> {
        let collection = self.collection.clone();
        let index = &collection.indexes[at];
        let mut found = 0;
        for entry in self.view.all_entries(index.id, index.bare_keys) {
            if let Err(error) = entry {
                self.index_errors[at].push(error.message().to_owned());
                return Ok(());
            }
            found += 1;
            if found % ITEMS_PER_CHECK == 0 {
                self.interrupt.check()?;
            }
        }
        if !index.ready || found == self.keys[at] && self.index_errors[at].is_empty() {
            return Ok(());
        }
        for entry in self.view.all_entries(index.id, index.bare_keys) {
            let entry = entry?;
            if !self.belongs(index, &entry)? {
                self.index_errors[at]
                    .push(format!("extra index entry of record {}", entry.record.0));
                self.extra.push((index.name.clone(), entry.record));
            }
        }
        Ok(())
    }

    fn belongs(&self, index: &Index, entry: &Entry) -> Result<bool> {
        let Some(record) = self.view.record(self.collection.id, entry.record)? else {
            return Ok(false);
        };
        let document = record.load(&self.view, &Needs::All)?;
        let keys = index::keys(index, &document)?.keys;
        Ok(keys.iter().any(|key| key.bytes == entry.key()))
    }

    fn corrupted(&mut self, id: RecordId, why: &str) {
        self.invalid += 1;
        self.corrupt.push(id);
        self.errors.push(format!("record {}: {why}", id.0));
    }

    fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.index_errors.iter().all(Vec::is_empty)
    }

    fn reply(mut self) -> Reply {
        let valid = self.is_valid();
        if self.index_errors.iter().any(|errors| !errors.is_empty()) {
            self.errors.push("one or more indexes contain invalid index entries.".to_owned());
        }
        let collection = self.collection.clone();
        let mut reply = ReplyWriter::new();
        reply.append("ns", &*collection.namespace.to_string());
        let uuid = bson::Binary::from(collection.uuid);
        reply.append("uuid", RawBsonRef::Binary(uuid.as_raw_binary()));
        reply.writer().append_number("nInvalidDocuments", self.invalid);
        reply.writer().append_number("nNonCompliantDocuments", self.non_compliant);
        reply.writer().append_number("nrecords", self.counted.documents as i64);
        // A clustered collection is its own index.
        let listed = usize::from(collection.is_clustered());
        let indexes = || collection.indexes.iter().enumerate().skip(listed);
        reply.append("nIndexes", indexes().count() as i32);
        let out = reply.writer();
        out.begin_document("keysPerIndex");
        indexes().for_each(|(at, index)| out.append_number(&index.name, self.keys[at] as i64));
        out.end();
        out.begin_document("indexDetails");
        for (at, index) in indexes() {
            out.begin_document(&index.name);
            out.append_bool("valid", self.index_errors[at].is_empty());
            out.append_document("spec", &index.spec);
            append_texts(out, "errors", &self.index_errors[at], false);
            out.end();
        }
        out.end();
        out.append_bool("valid", valid);
        out.append_bool("repaired", false);
        append_texts(out, "warnings", &self.warnings, true);
        append_texts(out, "errors", &self.errors, true);
        append_entries(out, "extraIndexEntries", &self.extra);
        append_entries(out, "missingIndexEntries", &self.missing);
        out.begin_array("corruptRecords");
        self.corrupt
            .iter()
            .take(FAULTS_MAX)
            .for_each(|id| out.push(RawBsonRef::Int64(id.0 as i64)));
        out.end();
        if !valid {
            out.append_str(
                "advice",
                "A corrupt namespace has been detected. Restore the store from a backup.",
            );
        }
        reply.finish()
    }
}

fn append_texts(out: &mut value::DocumentWriter, name: &str, texts: &[String], always: bool) {
    if texts.is_empty() && !always {
        return;
    }
    out.begin_array(name);
    texts.iter().take(FAULTS_MAX).for_each(|text| out.push(RawBsonRef::String(text)));
    out.end();
}

fn append_entries(out: &mut value::DocumentWriter, name: &str, entries: &[(String, RecordId)]) {
    out.begin_array(name);
    for (index, record) in entries.iter().take(FAULTS_MAX) {
        out.begin_next_document();
        out.append_str("indexName", index);
        out.append_i64("recordId", record.0 as i64);
        out.end();
    }
    out.end();
}

#[cfg(test)]
mod tests;
