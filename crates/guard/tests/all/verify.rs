//! What breaks past the policy is found and repaired, on a naive store.

use crate::migrate::verified;
use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};
use command::Namespace;
use error::{Error, Result};
use freeboard_guard::Policy;
use freeboard_guard::verify::{Check, Drift, DriftKind, Repairing};
use naive::{Memory, namespace};
use std::sync::atomic::{AtomicUsize, Ordering};

fn bounds() -> RawDocumentBuf {
    crate::named(rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow",
    "overflow": { "into": "p", "page": 2 } } } })
}

fn policy() -> Policy {
    Policy::parse(&namespace("c"), &bounds()).unwrap()
}

async fn filled() -> Memory {
    let memory = Memory::with_policy("c", &bounds());
    for id in 1..=4 {
        memory.insert("c", &rawdoc! { "_id": id, "a": [1, 2, 3, 4, 5, 6] }).await.unwrap();
    }
    memory
}

/// Changes some documents past the policy; `false` takes one away.
fn damage(memory: &Memory, collection: &str, change: impl Fn(&mut Document) -> bool) {
    let documents = memory.documents(collection);
    let documents = documents.iter().map(|it| Document::try_from(&**it).unwrap());
    let changed = documents.filter_map(|mut document| change(&mut document).then_some(document));
    let changed = changed.map(|document| RawDocumentBuf::try_from(&document).unwrap());
    memory.replace_all(collection, changed.collect());
}

#[derive(Default)]
struct Counting(AtomicUsize);

impl Repairing for Counting {
    async fn provide(&self, _: &Namespace) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn failed(&self, error: Error) -> Result<Error> {
        Ok(error)
    }
}

fn kinds(check: &Check) -> Vec<&'static str> {
    check.drifts().map(|drift| drift.kind.name()).collect()
}

#[tokio::test]
async fn broken_pages_are_found_and_repaired() {
    let memory = filled().await;
    assert!(verified(&memory, &policy()).await.is_clean());
    damage(&memory, "c", |document| {
        match document.get_i32("_id").unwrap() {
            1 => document.insert("aCount", 99).is_some(),
            // The delete of its pages was lost.
            3 => false,
            _ => true,
        }
    });
    damage(&memory, "p", |page| {
        match (page.get_i32("parentId").unwrap(), page.get_i32("page").unwrap()) {
            (2, 1) => page.insert("count", 7).is_some(),
            (4, 2) => page.insert("a", Bson::Array(Vec::new())).is_some(),
            _ => true,
        }
    });
    let mut check = verified(&memory, &policy()).await;
    assert_eq!(
        kinds(&check),
        ["count", "pageCount", "pageCount", "emptyPage", "count", "orphan", "orphan"]
    );
    let repairing = Counting::default();
    check.repair(&memory, &namespace("c"), &repairing).await.unwrap();
    assert!(check.is_clean());
    let after = verified(&memory, &policy()).await;
    assert!(after.is_clean(), "{after:?}");
    assert_eq!((after.documents, after.pages, after.elements), (3, 5, 16));
    assert_eq!(repairing.0.into_inner(), 0);
}

#[tokio::test]
async fn what_would_lose_something_is_left_alone() {
    let memory = filled().await;
    let page = doc! { "_id": "x", "parentId": 1, "page": 2, "count": 1, "a": [9] };
    memory.put("p", RawDocumentBuf::try_from(&page).unwrap());
    let mut check = verified(&memory, &policy()).await;
    assert!(kinds(&check).contains(&"pageShape") && kinds(&check).contains(&"pageOrder"));
    check.repair(&memory, &namespace("c"), &Counting::default()).await.unwrap();
    assert!(!check.is_clean());
    assert_eq!(memory.documents("p").len(), 9);
}

#[tokio::test]
async fn what_is_missing_beside_the_data_is_the_callers_to_make() {
    let memory = filled().await;
    let (path, expected) = ("a".to_owned(), Some("parentId_1_page_1_count_1".into()));
    let missing =
        Drift { kind: DriftKind::Index, id: None, path, page: None, found: None, expected };
    let mut check = Check::new(vec![missing]);
    assert!(!check.is_clean());
    let repairing = Counting::default();
    check.repair(&memory, &namespace("c"), &repairing).await.unwrap();
    assert!(check.is_clean());
    assert_eq!(repairing.0.into_inner(), 1);
}

#[tokio::test]
async fn pages_of_a_collection_that_is_gone_are_orphans() {
    let memory = filled().await;
    memory.replace_all("c", Vec::new());
    let check = verified(&memory, &policy()).await;
    assert_eq!((check.documents, check.pages, check.drifted), (0, 8, 8));
}

/// Each number takes seven bytes in an array, four of them for its value, and the array five.
#[tokio::test]
async fn what_is_kept_of_the_whole_is_recounted() {
    let bounds = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": {
        "into": "p", "page": 2, "total_bytes": 47, "on_total": "drop_oldest",
    } } } };
    let policy = Policy::parse(&namespace("c"), &bounds).unwrap();
    let memory = Memory::with_policy("c", &bounds);
    memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5, 6] }).await.unwrap();
    for (sidecar, found) in [
        (rawdoc! { "n": 6, "pages": 2, "bytes": 24 }, &[][..]),
        (rawdoc! { "n": 6, "pages": 2, "bytes": 24, "first": 1 }, &[]),
        // As an earlier version has left it.
        (rawdoc! { "n": 6, "pages": 2 }, &[]),
        (rawdoc! { "n": 6, "pages": 2, "bytes": 23, "first": 2 }, &["bytes", "firstPage"]),
    ] {
        memory.put_sidecars("c", &rawdoc! { "a": sidecar });
        assert_eq!(kinds(&verified(&memory, &policy).await), found);
    }
    let mut check = verified(&memory, &policy).await;
    check.repair(&memory, &namespace("c"), &Counting::default()).await.unwrap();
    assert!(verified(&memory, &policy).await.is_clean());
    let kept = rawdoc! { "a": { "n": 6, "pages": 2, "bytes": 24 } };
    assert_eq!(memory.sidecars("c"), [Some(kept)]);
}

#[tokio::test]
async fn what_an_earlier_version_has_not_weighed_is_weighed_by_the_first_write() {
    for (keep, on_total) in [("oldest", "reject"), ("newest", "reject"), ("oldest", "drop_oldest")]
    {
        let bounds = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": {
            "into": "p", "page": 2, "keep": keep, "total_bytes": 54, "on_total": on_total,
        } } } };
        let memory = Memory::with_policy("c", &bounds);
        memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5, 6] }).await.unwrap();
        memory.put_sidecars("c", &rawdoc! { "a": { "n": 6, "pages": 2 } });
        let push = rawdoc! { "$push": { "a": 7 } };
        let push = RawBsonRef::Document(&push);
        memory.update("c", &rawdoc! {}, push, None).await.unwrap();
        let again = memory.update("c", &rawdoc! {}, push, None).await;
        let refused = again.err().map(|error| error.code().number());
        assert_eq!(refused, (on_total == "reject").then_some(121), "{keep}, {on_total}");
        let kept = memory.sidecars("c").remove(0).unwrap();
        let kept = kept.get_document("a").unwrap();
        let number = |key: &str| kept.get_i32(key).unwrap();
        assert_eq!((number("n"), number("bytes")), (7, 28), "{kept:?}");
    }
}
