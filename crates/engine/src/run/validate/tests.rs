use super::*;
use crate::Engine;
use crate::storage::{Commit, Mark, Tree, TreeChange, entry, keys};
use bson::{RawDocumentBuf, rawdoc};
use command::{Client, Namespace, Request};
use value::element::get_value;

/// A collection of two documents with an index, to be damaged.
struct Patient {
    engine: Arc<Engine>,
    collection: Arc<Collection>,
    _directory: tempfile::TempDir,
}

impl Patient {
    async fn new() -> Patient {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path()).await.unwrap();
        let namespace = Namespace::new("d", "c").unwrap();
        for command in [
            rawdoc! { "createIndexes": "c", "$db": "d", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
            rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": 1, "a": 1 }, { "_id": 2, "a": 2 }] },
        ] {
            run(&engine, command).await;
        }
        let collection = engine.registry.get(&namespace).unwrap();
        Patient { engine, collection, _directory: directory }
    }

    async fn change(&self, tree: Tree, key: impl Into<fjall::Slice>, value: Option<&[u8]>) {
        let change = TreeChange { tree, key: key.into(), value: value.map(Into::into) };
        let commit = Commit::of(vec![change]);
        self.engine.store.commit(commit, Mark::Synced).await.unwrap();
    }

    /// The place of the first entry of the index on `a`.
    fn entry(&self) -> Vec<u8> {
        let index = &self.collection.indexes[1];
        let entry = self.engine.store.view().all_entries(index.id, false).next().unwrap().unwrap();
        entry::place(index.id, entry.key(), Some(entry.record))
    }

    async fn validate(&self) -> RawDocumentBuf {
        run(&self.engine, rawdoc! { "validate": "c", "$db": "d" }).await
    }
}

async fn run(engine: &Arc<Engine>, command: RawDocumentBuf) -> RawDocumentBuf {
    let client = Arc::new(Client::new(1, "127.0.0.1:1".parse().unwrap()));
    engine.run(Request::from(command), &client).await.unwrap().body
}

fn is_valid(reply: &RawDocument) -> bool {
    get_value(reply, "valid").and_then(|valid| valid.as_bool()).unwrap()
}

fn count(reply: &RawDocument, list: &str) -> usize {
    value::element::array_len(get_value(reply, list).and_then(|list| list.as_array()).unwrap())
}

#[tokio::test]
async fn a_sound_collection_is_valid() {
    let patient = Patient::new().await;
    let reply = patient.validate().await;
    assert!(is_valid(&reply), "{reply:?}");
    assert_eq!(get_value(&reply, "nrecords"), Some(RawBsonRef::Int32(2)));
    patient.engine.close().await;
}

#[tokio::test]
async fn an_entry_that_is_missing_is_found() {
    let patient = Patient::new().await;
    patient.change(Tree::Entries, patient.entry(), None).await;
    let reply = patient.validate().await;
    assert!(!is_valid(&reply));
    assert_eq!(count(&reply, "missingIndexEntries"), 1);
    assert_eq!(count(&reply, "extraIndexEntries"), 0);
    patient.engine.close().await;
}

#[tokio::test]
async fn an_entry_too_many_is_found() {
    let patient = Patient::new().await;
    let mut elsewhere = patient.entry();
    *elsewhere.last_mut().unwrap() += 77;
    patient.change(Tree::Entries, elsewhere, Some(b"")).await;
    let reply = patient.validate().await;
    assert!(!is_valid(&reply));
    assert_eq!(count(&reply, "extraIndexEntries"), 1);
    assert_eq!(count(&reply, "missingIndexEntries"), 0);
    patient.engine.close().await;
}

#[tokio::test]
async fn counts_must_be_those_of_the_records() {
    let patient = Patient::new().await;
    let counts = Counts { documents: 3, bytes: 1 }.write();
    patient.change(Tree::Records, keys::counts(patient.collection.id), Some(&counts)).await;
    let reply = patient.validate().await;
    assert!(!is_valid(&reply));
    assert_eq!(count(&reply, "errors"), 1);
    patient.engine.close().await;
}

#[tokio::test]
async fn a_damaged_record_is_named() {
    let patient = Patient::new().await;
    let all = (Bound::Unbounded, Bound::Unbounded);
    let view = patient.engine.store.view();
    let (id, record) = view.records(patient.collection.id, all).next().unwrap().unwrap();
    let mut bytes = record.stored().as_bytes().to_vec();
    // The type of the first element becomes one that there is not.
    bytes[4] = 0x77;
    patient.change(Tree::Records, keys::record(patient.collection.id, id), Some(&bytes)).await;
    let reply = patient.validate().await;
    assert!(!is_valid(&reply));
    assert_eq!(count(&reply, "corruptRecords"), 1);
    assert_eq!(get_value(&reply, "nInvalidDocuments"), Some(RawBsonRef::Int32(1)));
    patient.engine.close().await;
}
