//! Index entries of what a transaction writes.

use super::duplicate::duplicate;
use super::intents::Subject;
use super::{Row, Transaction};
use crate::catalog::{Collection, Index};
use crate::index;
use crate::storage::{RecordId, Tree, entry, large};
use bson::RawDocument;
use error::Result;
use language::Needs;
use std::borrow::Cow;
use std::sync::Arc;
use value::key::Key;

impl Transaction {
    /// Adds the entries of a new document.
    pub(super) async fn add_entries(
        &mut self,
        collection: &Collection,
        record: RecordId,
        document: &RawDocument,
    ) -> Result<()> {
        for index in &collection.indexes {
            let keys = index::keys(index, document)?;
            self.set_multikey(index, &keys.arrays);
            for key in keys.keys {
                self.add_entry(collection, index, record, key, document).await?;
            }
        }
        Ok(())
    }

    /// Adds the entries of a document that was there before these indexes.
    pub async fn index_record(
        &mut self,
        collection: &Arc<Collection>,
        indexes: &[Arc<Index>],
        record: RecordId,
    ) -> Result<()> {
        let mut needs = Needs::none();
        indexes.iter().for_each(|index| index.needs(&mut needs));
        let Some(row) = self.claim(collection, record, &needs).await? else { return Ok(()) };
        for index in indexes {
            let keys = index::keys(index, &row)?;
            self.set_multikey(index, &keys.arrays);
            for key in keys.keys {
                self.add_entry(collection, index, record, key, &row).await?;
            }
        }
        Ok(())
    }

    /// Exchanges the entries of a document that changes.
    pub(super) async fn exchange_entries(&mut self, row: &Row, after: &RawDocument) -> Result<()> {
        let collection = &row.collection;
        for index in collection.indexes.iter().filter(|index| !index.is_id()) {
            if index::untouched(index, &row.document, after) {
                continue;
            }
            let before = self.whole_for(index, row, &row.document)?;
            let after = self.whole_for(index, row, after)?;
            let diff = index::diff(index, &before, &after)?;
            self.set_multikey(index, &diff.arrays);
            for key in &diff.remove {
                self.remove_entry(index, row.record.id, key).await?;
            }
            for key in diff.add {
                self.add_entry(collection, index, row.record.id, key, &after).await?;
            }
        }
        Ok(())
    }

    /// Removes the entries of a document that goes.
    pub(super) async fn remove_entries(&mut self, row: &Row) -> Result<()> {
        for index in &row.collection.indexes {
            let document = self.whole_for(index, row, &row.document)?;
            for key in index::keys(index, &document)?.keys {
                self.remove_entry(index, row.record.id, &key).await?;
            }
        }
        Ok(())
    }

    async fn add_entry(
        &mut self,
        collection: &Collection,
        index: &Arc<Index>,
        record: RecordId,
        key: Key,
        document: &RawDocument,
    ) -> Result<()> {
        language::interrupt::check()?;
        self.index_entries += u64::from(!index.is_id());
        if !index.bare_keys {
            if index.is_exclusive() {
                self.check_sole(collection, index, record, &key, document).await?;
            }
            let at = entry::place(index.id, &key.bytes, Some(record));
            self.put(Tree::Entries, at, entry::value(key, None));
            return Ok(());
        }
        let new = self.take(Subject::unique_key(index.id, &key.bytes)).await?;
        let at = entry::place(index.id, &key.bytes, None);
        if new {
            self.check_unchanged(Tree::Entries, &at)?;
        }
        // With a new intent this transaction has not touched the key yet.
        let own = match new {
            true => None,
            false => self.changes.get(Tree::Entries, &at),
        };
        let taken = match own {
            Some(value) => value.clone(),
            None => self.fresh().get(Tree::Entries, &at)?,
        };
        if taken.is_some_and(|value| value.first_chunk() != Some(&record.0.to_be_bytes())) {
            return Err(duplicate(collection, index, &key, document));
        }
        self.put(Tree::Entries, at, entry::value(key, Some(record)));
        Ok(())
    }

    /// Refuses a key that another document has, where entries go on with their records.
    async fn check_sole(
        &mut self,
        collection: &Collection,
        index: &Arc<Index>,
        record: RecordId,
        key: &Key,
        document: &RawDocument,
    ) -> Result<()> {
        self.take(Subject::unique_key(index.id, &key.bytes)).await?;
        for entry in self.latest().entries_of(index.id, false, &key.bytes) {
            let entry = entry?;
            if entry.record != record && entry.key() == key.bytes {
                return Err(duplicate(collection, index, key, document));
            }
        }
        Ok(())
    }

    async fn remove_entry(&mut self, index: &Index, record: RecordId, key: &Key) -> Result<()> {
        language::interrupt::check()?;
        self.index_entries += u64::from(!index.is_id());
        if index.is_exclusive() {
            self.take(Subject::unique_key(index.id, &key.bytes)).await?;
        }
        let record = (!index.bare_keys).then_some(record);
        self.remove(Tree::Entries, entry::place(index.id, &key.bytes, record));
        Ok(())
    }

    /// The document with the large values loaded that an index looks at.
    fn whole_for<'a>(
        &mut self,
        index: &Index,
        row: &Row,
        document: &'a RawDocument,
    ) -> Result<Cow<'a, RawDocument>> {
        if row.record.next_large().is_none() {
            return Ok(Cow::Borrowed(document));
        }
        let mut needs = Needs::none();
        index.needs(&mut needs);
        let joined = large::join(&self.view(), &row.record, document, &needs)?;
        Ok(joined.map_or(Cow::Borrowed(document), Cow::Owned))
    }
}
