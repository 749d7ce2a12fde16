//! Changes as clients see them, for change streams.

use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use freeboard_guard::adopt::{Aim, settle};
use freeboard_guard::restore::Restoration;
use naive::{Memory, namespace};
use value::element::get_value;
use value::elements;
use write::{ShownChange, Transaction as _, Transactions as _, Watched};

const MEGABYTE: usize = 1024 * 1024;

fn memory(watched: Watched, policy: &RawDocument) -> Memory {
    let mut memory = Memory::with_policy("c", policy);
    memory.watched = watched;
    memory
}

fn overflow(overflow: RawDocumentBuf) -> RawDocumentBuf {
    rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": overflow } } }
}

/// A document whose array is too large to be shown whole.
async fn whale(watched: Watched, too_large: &str) -> Memory {
    let policy = overflow(rawdoc! { "page": 1, "too_large": too_large });
    let memory = memory(watched, &policy);
    memory.insert("c", &rawdoc! { "_id": 1, "a": ["first", "second"] }).await.unwrap();
    for _ in 0..17 {
        update(&memory, rawdoc! { "$push": { "a": "x".repeat(MEGABYTE) } }).await;
    }
    memory
}

async fn update(memory: &Memory, update: RawDocumentBuf) {
    let update = RawBsonRef::Document(&update);
    memory.update("c", &rawdoc! {}, update, None).await.unwrap();
}

fn part(document: &Option<RawDocumentBuf>, name: &str) -> Option<RawBson> {
    get_value(document.as_deref()?, name).map(RawBson::from)
}

fn array(items: &[&str]) -> Option<RawBson> {
    let mut array = RawArrayBuf::new();
    items.iter().for_each(|item| array.push(*item));
    Some(RawBson::Array(array))
}

#[tokio::test]
async fn a_change_of_what_is_too_large_shows_the_head() {
    for too_large in ["head", "error"] {
        for watched in [Watched::Changes, Watched::Documents] {
            let memory = whale(watched, too_large).await;
            let shown = memory.shown().len();
            update(&memory, rawdoc! { "$pull": { "a": "second" } }).await;
            update(&memory, rawdoc! { "$set": { "n": 1 } }).await;
            update(&memory, rawdoc! { "$set": { "a.5": "x" } }).await;
            update(&memory, rawdoc! { "$push": { "a": "last" } }).await;
            update(&memory, rawdoc! { "$unset": { "a": 1 } }).await;
            update(&memory, rawdoc! { "$set": { "a": ["new"] } }).await;
            let changes = memory.shown().split_off(shown);
            let mut changes = changes.iter().map(|(_, change)| &**change);
            let head = array(&["first"]);

            let pulled = changes.next().unwrap();
            assert_eq!(part(&pulled.before, "a"), Some(RawBson::Null));
            assert_eq!(part(&pulled.after, "a"), head);
            check_images(pulled, watched);
            if watched == Watched::Documents {
                let set = changes.next().unwrap();
                assert_eq!(part(&set.before, "a"), head);
                assert_eq!(part(&set.after, "a"), head);
            }
            let numbered = changes.next().unwrap();
            assert_eq!(part(&numbered.after, "a"), head);
            assert!(numbered.is_visible());
            let pushed = changes.next().unwrap();
            assert_eq!(pushed.cut.as_ref().unwrap().1, 17);
            check_images(pushed, watched);
            let removed = changes.next().unwrap();
            assert_eq!(part(&removed.before, "a"), head);
            assert_eq!(part(&removed.after, "a"), None);
            assert!(changes.next().is_none(), "it has no pages any more");
        }
    }
}

/// What is compared may be less than what is kept.
fn check_images(change: &ShownChange, watched: Watched) {
    if watched == Watched::Documents {
        let [before, after] = change.images.clone().map(|it| it.map(Some)).unwrap();
        assert!(matches!(part(&before, "a"), Some(RawBson::Array(_))));
        assert_eq!(part(&after, "a"), array(&["first"]));
    }
}

#[tokio::test]
async fn what_is_deleted_is_shown_once_all_else_is_written() {
    // `patterns/stamp.rs` writes a line to the log.
    naive::stamp::switch_on();
    let policy = rawdoc! {
        "document": { "warn_bytes": 12_345 },
        "arrays": { "a": { "max": 2, "on_limit": "overflow" } },
    };
    let memory = memory(Watched::Documents, &policy);
    memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5] }).await.unwrap();
    memory.delete("c", &rawdoc! {}).await.unwrap();
    assert_eq!(memory.documents("log").len(), 1);
    let shown = memory.shown();
    let (of, deleted) = shown.last().unwrap();
    assert_eq!(*of, namespace("c"));
    let whole: RawArrayBuf = [1, 2, 3, 4, 5].into_iter().collect();
    assert_eq!(part(&deleted.before, "a"), Some(RawBson::Array(whole)));
    assert_eq!(deleted.after, None);
}

/// Two arrays, of which clients see one whole, and how long the other is.
fn both(page: i32, total: RawDocumentBuf) -> RawDocumentBuf {
    let mut overflow = rawdoc! { "page": page };
    elements(&total).for_each(|field| {
        overflow.append(bson::raw::CString::try_from(field.key).unwrap(), field.value());
    });
    rawdoc! { "arrays": {
        "a": { "max": 2, "on_limit": "overflow", "overflow": overflow },
        "h": { "max": 2, "on_limit": "overflow",
               "overflow": { "page": page, "read": "head", "count": "hCount" } },
    } }
}

fn numbers(range: std::ops::Range<i32>) -> Option<RawBson> {
    Some(RawBson::Array(range.collect()))
}

async fn paged(watched: Watched) -> Memory {
    let memory = memory(watched, &both(4, rawdoc! {}));
    let document = rawdoc! { "_id": 1, "a": numbers(0..9).unwrap(), "h": numbers(0..9).unwrap() };
    memory.insert("c", &document).await.unwrap();
    memory
}

#[tokio::test]
async fn what_a_migration_drops_is_shown_and_what_it_moves_is_not() {
    for watched in [Watched::Changes, Watched::Documents] {
        let mut memory = paged(watched).await;
        let shown = memory.shown().len();
        let settle = async |memory: &Memory| {
            let settled = settle(memory, &namespace("c"), RawBsonRef::Int32(1), Aim::Bounds).await;
            assert!(settled.unwrap().unwrap().changed);
            memory.shown().split_off(shown)
        };
        memory.set_policy("c", &both(3, rawdoc! {}));
        assert!(settle(&memory).await.is_empty());
        memory.set_policy("c", &both(2, rawdoc! { "total_max": 5, "on_total": "drop_oldest" }));
        let changes = settle(&memory).await;
        assert_eq!(changes.len(), 1);
        let change = &changes[0].1;
        assert_eq!(part(&change.before, "a"), Some(RawBson::Null));
        assert_eq!(part(&change.after, "a"), numbers(4..9));
        assert_eq!(part(&change.after, "h"), part(&change.before, "h"));
        assert_eq!(change.images.is_some(), watched == Watched::Documents);
        if let Some(images) = change.images.clone() {
            let [before, after] = images.map(Some);
            assert_eq!(part(&before, "a"), numbers(0..9));
            assert_eq!(part(&after, "a"), numbers(4..9));
        }
    }
}

#[tokio::test]
async fn a_restoration_shows_what_clients_did_not_see() {
    for watched in [Watched::Changes, Watched::Documents] {
        let mut memory = paged(watched).await;
        let shown = memory.shown().len();
        memory.set_leaving("c");
        let policy = memory.begin().await.unwrap().guard(&namespace("c")).await.unwrap().unwrap();
        let policy = policy.policy().unwrap();
        let restoration = Restoration { policy, after: None, limit: 10 };
        let restored = restoration.run(&memory, &|error| Err(error)).await.unwrap();
        assert_eq!(restored.documents, 1);
        let changes = memory.shown().split_off(shown);
        assert_eq!(changes.len(), 1);
        let change = &changes[0].1;
        assert_eq!(part(&change.after, "a"), part(&change.before, "a"), "that is as it was");
        assert_eq!(part(&change.before, "h"), Some(RawBson::Null));
        assert_eq!(part(&change.after, "h"), numbers(0..9));
        assert_eq!(part(&change.before, "hCount"), Some(RawBson::Int32(9)));
        assert_eq!(part(&change.after, "hCount"), None);
    }
}
