//! Whether an index can be made unique: no documents share a key.

use crate::catalog::{Collection, Index};
use crate::plan::Interrupt;
use crate::storage::{RecordId, View};
use bson::{RawArrayBuf, RawBsonRef, rawdoc};
use error::{Code, Result};
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
    for (entry, number) in view.all_entries(index.id, index.bare_keys).zip(0u64..) {
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
                ids.push(guard::verify::shown_id(id));
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

#[cfg(test)]
mod tests {
    use crate::Engine;
    use bson::{RawDocumentBuf, rawdoc};
    use command::{Client, Request};
    use std::sync::Arc;

    async fn run(engine: &Arc<Engine>, command: RawDocumentBuf) -> error::Result<RawDocumentBuf> {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let client = Arc::new(Client::new(1, address));
        engine.run(Request::from(command), &client).await.map(|reply| reply.body)
    }

    /// How many of several inserts of one key, all at once, were taken.
    async fn taken(engine: &Arc<Engine>, from: i32, key: i32) -> i32 {
        let inserts = (from..from + 16).map(|id| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let document = rawdoc! { "_id": id, "a": key };
                run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": [document] }).await
            })
        });
        let mut taken = 0;
        for insert in inserts.collect::<Vec<_>>() {
            taken += insert.await.unwrap().unwrap().get_i32("n").unwrap();
        }
        taken
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_prepared_and_a_converted_index_take_each_key_once_and_after_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path()).await.unwrap();
        let index = rawdoc! { "key": { "a": 1 }, "name": "a" };
        run(&engine, rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [index] })
            .await
            .unwrap();
        assert_eq!(taken(&engine, 0, 0).await, 16);
        run(&engine, rawdoc! { "delete": "c", "$db": "d", "deletes": [{ "q": {}, "limit": 0 }] })
            .await
            .unwrap();

        let prepare = rawdoc! { "name": "a", "prepareUnique": true };
        run(&engine, rawdoc! { "collMod": "c", "$db": "d", "index": prepare }).await.unwrap();
        assert_eq!(taken(&engine, 0, 1).await, 1);

        let convert = rawdoc! { "name": "a", "unique": true };
        run(&engine, rawdoc! { "collMod": "c", "$db": "d", "index": convert }).await.unwrap();
        assert_eq!(taken(&engine, 100, 1).await, 0);
        assert_eq!(taken(&engine, 100, 2).await, 1);

        engine.close().await;
        drop(engine);
        let engine = Engine::open(directory.path()).await.unwrap();
        assert_eq!(taken(&engine, 200, 2).await, 0);
        assert_eq!(taken(&engine, 200, 3).await, 1);
        let checked = run(&engine, rawdoc! { "validate": "c", "$db": "d" }).await.unwrap();
        assert!(checked.get_bool("valid").unwrap(), "{checked:?}");
        let hint = rawdoc! { "find": "c", "$db": "d", "filter": { "a": 2 }, "hint": "a" };
        let found = run(&engine, hint).await.unwrap();
        let batch = found.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        assert_eq!(batch.into_iter().count(), 1);
    }
}
