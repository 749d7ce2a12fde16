//! The store on disk: commits, reopening, large values.

use super::large::{self, LARGE_VALUE_BYTES};
use super::*;
use bson::{RawDocumentBuf, rawdoc};
use language::Needs;
use parking_lot::{Mutex, MutexGuard};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use value::Path as FieldPath;

const COLLECTION: CollectionId = CollectionId(7);

/// Counts the documents of the collection and their bytes.
#[derive(Default)]
struct Tally {
    counts: Mutex<Option<Counts>>,
    /// How many groups have been applied.
    groups: Arc<AtomicU64>,
}

struct Sheet<'t> {
    counts: MutexGuard<'t, Option<Counts>>,
    groups: &'t Arc<AtomicU64>,
}

/// By how much a commit makes the collection larger.
struct Added(Counts);

fn books() -> Arc<Tally> {
    Arc::default()
}

impl Bookkeeper for Tally {
    fn open(&self) -> Box<dyn Ledger + '_> {
        Box::new(Sheet { counts: self.counts.lock(), groups: &self.groups })
    }
}

impl Ledger for Sheet<'_> {
    fn take(
        &mut self,
        entry: BookEntry,
        written: &CommitWrites<'_>,
        view: &(dyn Fn() -> View + Sync),
    ) -> error::Result<()> {
        let Added(added) = *entry.downcast().expect("an entry for these books");
        assert!(!written.is_empty(), "the changes are those of the commit");
        let was = match *self.counts {
            Some(counts) => counts,
            None => view().counts(COLLECTION)?,
        };
        let Counts { documents, bytes } = was;
        let documents = documents + added.documents;
        *self.counts = Some(Counts { documents, bytes: bytes + added.bytes });
        Ok(())
    }

    fn close(self: Box<Self>, changes: &mut Vec<TreeChange>) -> AfterApply {
        if let Some(counts) = *self.counts {
            let value = Some(counts.write().into());
            changes.push(TreeChange { tree: Tree::Records, key: keys::counts(COLLECTION), value });
        }
        let groups = self.groups.clone();
        Some(Box::new(move || {
            groups.fetch_add(1, Ordering::Relaxed);
        }))
    }
}

fn open(path: &Path) -> Store {
    Store::open(path, books()).expect("opens")
}

fn put(store: &Store, record: u64, document: &RawDocumentBuf) -> Commit {
    let id = RecordId(record);
    let split = large::split(document, None, store.secret(), &[]);
    let mut changes = vec![TreeChange {
        tree: Tree::Records,
        key: keys::record(COLLECTION, id).into(),
        value: Some(split.record.into()),
    }];
    for (number, value) in split.values {
        let key = keys::large(COLLECTION, id, number).into();
        changes.push(TreeChange { tree: Tree::Large, key, value: Some(value) });
    }
    let added = Added(Counts { documents: 1, bytes: split.size as u64 });
    Commit { writes: 1, entry: Some(Box::new(added)), ..Commit::of(changes) }
}

fn all(view: &View) -> Vec<(u64, RawDocumentBuf)> {
    view.records(COLLECTION, (Bound::Unbounded, Bound::Unbounded))
        .map(|record| {
            let (id, record) = record.expect("reads");
            (id.0, record.load(view, &Needs::All).expect("loads").into())
        })
        .collect()
}

#[tokio::test]
async fn what_is_committed_is_there_after_a_reopen() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, two) = (rawdoc! { "_id": 1 }, rawdoc! { "_id": 2, "b": "x" });
    {
        let store = open(directory.path());
        store.commit(put(&store, 1, &one), Mark::Synced).await.expect("commits");
        let before = store.view();
        store.commit(put(&store, 2, &two), Mark::Synced).await.expect("commits");
        assert_eq!(all(&before), [(1, one.clone())], "a view is a snapshot");
        assert_eq!(store.view().counts(COLLECTION).expect("reads").documents, 2);
        assert!(store.figures().syncs.load(Ordering::Relaxed) >= 2);
        store.close();
    }
    let store = open(directory.path());
    assert_eq!(all(&store.view()), [(1, one.clone()), (2, two.clone())]);
    assert_eq!(all(&store.synced_view()).len(), 2);
    let bytes = (one.as_bytes().len() + two.as_bytes().len()) as u64;
    assert_eq!(store.view().counts(COLLECTION).expect("reads"), Counts { documents: 2, bytes });
    store.close();
}

#[tokio::test]
async fn books_are_closed_with_each_group() {
    let directory = tempfile::tempdir().expect("a directory");
    let tally = books();
    let store = Store::open(directory.path(), tally.clone()).expect("opens");
    for record in 1..=3 {
        let commit = put(&store, record, &rawdoc! { "_id": record as i64 });
        store.commit(commit, Mark::Applied).await.expect("commits");
        assert_eq!(store.view().counts(COLLECTION).expect("reads").documents, record);
        assert_eq!(tally.groups.load(Ordering::Relaxed), record, "once the group is applied");
    }
    assert_eq!(store.figures().writes.load(Ordering::Relaxed), 3);
    store.close();
}

#[tokio::test]
async fn large_values_stand_apart_and_come_back_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    let text = "x".repeat(LARGE_VALUE_BYTES + 1);
    let document =
        rawdoc! { "_id": 1, "n": 5, "big": text.as_str(), "in": { "a": 1, "big": text.as_str() } };
    store.commit(put(&store, 1, &document), Mark::Synced).await.expect("commits");
    let view = store.view();
    let record = view.record(COLLECTION, RecordId(1)).expect("reads").expect("is there");
    assert!(record.stored().as_bytes().len() < 300, "the record holds stubs");
    assert_eq!(record.size(), document.as_bytes().len());
    assert_eq!(&*record.load(&view, &Needs::All).expect("loads"), &*document);
    let small = Needs::Paths(vec![FieldPath::new("n"), FieldPath::new("in.a")]);
    let loaded = record.load(&view, &small).expect("loads");
    assert!(loaded.as_bytes().len() < 300);
    assert_eq!(loaded.get_i32("n").expect("is there"), 5);
    let one = Needs::Paths(vec![FieldPath::new("in")]);
    let loaded = record.load(&view, &one).expect("loads");
    assert_eq!(
        loaded.get_document("in").and_then(|inner| inner.get_str("big")).expect("is there"),
        text
    );
    store.close();
}

#[test]
fn a_directory_that_is_not_ours_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("letter.txt"), "dear").expect("writes");
    let error = Store::open(directory.path(), books()).err().expect("refused");
    assert!(error.to_string().contains("holds no Freeboard store"), "{error}");

    let newer = tempfile::tempdir().expect("a directory");
    std::fs::write(newer.path().join("FREEBOARD"), "freeboard store, format 9\n").expect("writes");
    let error = Store::open(newer.path(), books()).err().expect("refused");
    assert!(error.to_string().contains("use a newer Freeboard"), "{error}");

    let older = tempfile::tempdir().expect("a directory");
    std::fs::write(older.path().join("FREEBOARD"), "freeboard store, format 0\n").expect("writes");
    let error = Store::open(older.path(), books()).err().expect("refused");
    assert!(error.to_string().contains("no longer reads"), "{error}");

    let locked = tempfile::tempdir().expect("a directory");
    let store = open(locked.path());
    let error = Store::open(locked.path(), books()).err().expect("refused");
    assert!(error.to_string().contains("in use by another process"), "{error}");
    store.close();
}

#[tokio::test]
async fn a_store_of_an_older_format_is_taken_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let marker = directory.path().join("FREEBOARD");
    let document = rawdoc! { "_id": 1 };
    let store = open(directory.path());
    store.commit(put(&store, 1, &document), Mark::Synced).await.expect("commits");
    store.close();
    drop(store);
    // What stores of each format may be without.
    for (older, absent) in [
        (1, &["INVENTORY", "SYNCED.2"][..]),
        (2, &["INVENTORY", "SYNCED.2"]),
        (3, &["INVENTORY", "SYNCED.2"]),
        (3, &["SYNCED.2"]),
        (4, &[]),
        (5, &[]),
    ] {
        std::fs::write(&marker, format!("freeboard store, format {older}\n")).expect("writes");
        for name in absent {
            std::fs::remove_file(directory.path().join(name)).expect("removes");
        }
        let store = open(directory.path());
        let error = Store::open(directory.path(), books()).err().expect("refused");
        assert!(error.to_string().contains("in use by another process"), "{error}");
        assert_eq!(all(&store.view()), [(1, document.clone())]);
        let now = std::fs::read_to_string(&marker).expect("reads");
        assert_eq!(now, "freeboard store, format 6\n");
        store.close();
    }
}

#[tokio::test]
async fn writers_share_a_sync() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = std::sync::Arc::new(open(directory.path()));
    let mut tasks = Vec::new();
    for number in 0..200 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let commit = put(&store, number + 1, &rawdoc! { "_id": number as i64 });
            store.commit(commit, Mark::Synced).await
        }));
    }
    for task in tasks {
        task.await.expect("no panic").expect("commits");
    }
    assert_eq!(all(&store.view()).len(), 200);
    let syncs = store.figures().syncs.load(Ordering::Relaxed);
    assert!(syncs < 200, "200 writes took {syncs} syncs");
    store.close();
}
