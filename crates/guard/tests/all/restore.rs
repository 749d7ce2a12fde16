//! Policies left again, on a naive store: a twin without a policy gets the same writes, and must
//! be the same in the end.

use super::migrate::verified;
use bson::{Bson, Document, RawBson, RawDocumentBuf, doc, rawdoc};
use error::Code;
use freeboard_guard::Policy;
use freeboard_guard::restore::{Restoration, RestoredBatch};
use naive::{Memory, namespace};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const DOCUMENTS: i32 = 40;

/// Policies that keep either end, with counters that have names, or some, or none.
fn policies() -> Vec<RawDocumentBuf> {
    let mut policies = Vec::new();
    for keep in ["oldest", "newest"] {
        let hidden = rawdoc! { "into": "p", "page": 3, "page_bytes": 120, "keep": keep };
        let mut counted = hidden.clone();
        counted.append(bson::cstr!("count"), "s.n");
        let mut named = counted.clone();
        named.append(bson::cstr!("flag"), "more");
        named.append(bson::cstr!("pages"), "pages");
        for overflow in [hidden, counted, named] {
            policies.push(rawdoc! { "document": { "max_bytes": 2_000 }, "arrays": {
                "s.a": { "max": 4, "on_limit": "overflow", "overflow": overflow },
                "b": { "max": 2, "on_limit": "overflow", "overflow": { "into": "q" } },
            } });
        }
    }
    policies
}

fn item(random: &mut StdRng) -> Bson {
    match random.random_range(0..8) {
        0 => Bson::String("x".repeat(random.random_range(0..60))),
        _ => Bson::Int32(random.random_range(0..100)),
    }
}

fn items(random: &mut StdRng) -> Vec<Bson> {
    (0..random.random_range(0..14)).map(|_| item(random)).collect()
}

/// A write that means the same with a policy and without.
async fn write(random: &mut StdRng, guarded: &Memory, plain: &Memory) {
    let id = random.random_range(0..DOCUMENTS);
    let update = match random.random_range(0..8) {
        0 => doc! { "$push": { "s.a": item(random) } },
        1 => doc! { "$push": { "s.a": { "$each": items(random) }, "b": item(random) } },
        2 => doc! { "$pop": { "s.a": 1 } },
        7 => doc! { "$pop": { "s.a": -1 } },
        3 => doc! { "$pull": { "s.a": { "$gt": 50 } } },
        4 => doc! { "$set": { "s.a": items(random), "x": 1 } },
        5 => doc! { "$inc": { "v": 1 } },
        _ => doc! { "s": { "a": items(random), "k": 2 }, "b": items(random) },
    };
    let (filter, update) = (rawdoc! { "_id": id }, RawDocumentBuf::try_from(&update).unwrap());
    for memory in [guarded, plain] {
        memory.update("c", &filter, bson::RawBsonRef::Document(&update), None).await.unwrap();
    }
}

fn documents(memory: &Memory) -> Vec<Document> {
    let mut documents: Vec<Document> =
        memory.documents("c").iter().map(|it| Document::try_from(&**it).unwrap()).collect();
    documents.sort_by_key(|document| document.get_i32("_id").unwrap());
    documents
}

fn leaving(policy: &RawDocumentBuf) -> Policy {
    Policy::parse(&namespace("c"), policy).unwrap().with_leaving(true)
}

#[tokio::test]
async fn a_policy_that_was_left_leaves_nothing_behind() {
    for (seed, policy) in policies().into_iter().cycle().take(12).enumerate() {
        let random = &mut StdRng::seed_from_u64(seed as u64);
        let (mut guarded, plain) = (Memory::with_policy("c", &policy), Memory::default());
        for id in 0..DOCUMENTS {
            let document = doc! { "_id": id, "s": { "a": items(random) }, "b": items(random) };
            let document = RawDocumentBuf::try_from(&document).unwrap();
            guarded.insert("c", &document).await.unwrap();
            plain.insert("c", &document).await.unwrap();
        }
        for _ in 0..50 {
            write(random, &guarded, &plain).await;
        }
        assert!(!guarded.documents("p").is_empty());
        guarded.set_leaving("c");
        guarded.conflict_after = random.random_range(0..4);
        let policy = leaving(&policy);
        let mut after: Option<RawBson> = None;
        let mut restored = RestoredBatch::default();
        loop {
            let limit = random.random_range(1..6);
            let from = after.as_ref().map(RawBson::as_raw_bson_ref);
            let batch = Restoration { policy: &policy, after: from, limit };
            restored.add(batch.run(&guarded, &Err).await.unwrap());
            after = restored.next.take();
            if after.is_none() {
                break;
            }
            for _ in 0..5 {
                write(random, &guarded, &plain).await;
            }
        }
        assert!(restored.documents > 0 && restored.too_large == 0, "{seed}");
        for _ in 0..50 {
            write(random, &guarded, &plain).await;
        }
        // Nothing has overflowed again: one pass was enough.
        assert_eq!(documents(&guarded), documents(&plain), "{seed}");
        assert!(guarded.documents("p").is_empty() && guarded.documents("q").is_empty(), "{seed}");
        assert!(guarded.sidecars("c").iter().all(Option::is_none), "{seed}");
    }
}

#[tokio::test]
async fn what_is_miscounted_is_left_as_it_is() {
    let policy = &policies()[2];
    let mut memory = Memory::with_policy("c", policy);
    let long = rawdoc! { "_id": 1, "s": { "a": [1, 2, 3, 4, 5, 6, 7] } };
    memory.insert("c", &long).await.unwrap();
    memory.set_leaving("c");
    let mut wrong = Document::try_from(&*memory.documents("c")[0]).unwrap();
    wrong.get_document_mut("s").unwrap().insert("n", 9);
    memory.replace_all("c", vec![RawDocumentBuf::try_from(&wrong).unwrap()]);
    let policy = leaving(policy);
    let restoration = Restoration { policy: &policy, after: None, limit: 9 };
    let batch = restoration.run(&memory, &Ok).await.unwrap();
    assert_eq!((batch.documents, batch.failures), (0, 1));
    assert_eq!(batch.failed[0].1.code(), Code::OperationFailed);
    assert_eq!(documents(&memory), [wrong]);
    assert!(!memory.documents("p").is_empty());
}

#[tokio::test]
async fn a_large_document_with_no_more_than_a_count_is_over_no_bound() {
    let policy = &policies()[1];
    let mut memory = Memory::with_policy("c", policy);
    let text = "x".repeat(3_000);
    let large = rawdoc! { "_id": 1, "s": { "a": [1, 2, 3, 4, 5, 6, 7], "n": 7 }, "text": text };
    memory.replace_all("c", vec![large]);
    let holding = Policy::parse(&namespace("c"), policy).unwrap();
    assert_eq!(verified(&memory, &holding).await.oversize, 1);
    memory.set_leaving("c");
    let leaving = leaving(policy);
    let check = verified(&memory, &leaving).await;
    assert!(check.is_clean(), "{:?}", check.drifts().collect::<Vec<_>>());
    // There is something to restore all the same: the count.
    let restoration = Restoration { policy: &leaving, after: None, limit: 9 };
    assert_eq!(restoration.run(&memory, &Err).await.unwrap().documents, 1);
}

#[tokio::test]
async fn a_policy_that_holds_is_not_left() {
    let policy = &policies()[0];
    let memory = Memory::with_policy("c", policy);
    let long = rawdoc! { "_id": 1, "s": { "a": [1, 2, 3, 4, 5, 6, 7] } };
    memory.insert("c", &long).await.unwrap();
    let policy = leaving(policy);
    let restoration = Restoration { policy: &policy, after: None, limit: 9 };
    let stopped = restoration.run(&memory, &Err).await.unwrap_err();
    assert_eq!(stopped.code(), Code::ConflictingOperationInProgress);
    // A dry run sees it as if it were.
    let proposed = memory.proposing(policy.clone());
    let planned = restoration.dry_run(&proposed, &Err).await.unwrap();
    let pages = memory.documents("p").len() as u64;
    assert_eq!((planned.documents, planned.elements, planned.pages), (1, 7, pages));
    assert!(pages > 0);
}

/// Three arrays, which `put_heavy` fills.
fn heavy() -> RawDocumentBuf {
    let array = |pages: &str| {
        rawdoc! { "max": 4, "on_limit": "overflow", "overflow": { "into": pages } }
    };
    rawdoc! { "arrays": { "a": array("p"), "b": array("q"), "d": array("r") } }
}

/// A document whose arrays have a page of so many bytes each.
fn put_heavy(memory: &Memory, id: i32, bytes: usize) {
    let kept = rawdoc! { "n": 2, "pages": 1 };
    let document = rawdoc! { "_id": id, "a": [1], "b": [1], "d": [1] };
    let sidecar = rawdoc! { "a": kept.clone(), "b": kept.clone(), "d": kept };
    memory.put_beside("c", document, sidecar);
    for (pages, name) in [("p", "a"), ("q", "b"), ("r", "d")] {
        let mut page = rawdoc! {
            "_id": { "parent": id, "path": name, "page": 1 },
            "parentId": id, "page": 1, "count": 1,
        };
        let name = bson::raw::CString::try_from(name).unwrap();
        page.append(name, bson::rawbson!(["x".repeat(bytes)]));
        memory.put(pages, page);
    }
}

const MEGABYTE: usize = 1024 * 1024;

#[tokio::test]
async fn a_batch_that_ends_early_has_examined_no_more_than_it_did() {
    let mut memory = Memory::with_policy("c", &heavy());
    (0..6).for_each(|id| put_heavy(&memory, id, 5 * MEGABYTE));
    memory.set_leaving("c");
    let policy = leaving(&heavy());
    let restoration = Restoration { policy: &policy, after: None, limit: 9 };
    let first = restoration.run(&memory, &Err).await.unwrap();
    assert!(first.documents < 6 && first.examined == first.documents, "{first:?}");
    let after = first.next.as_ref().map(RawBson::as_raw_bson_ref);
    let second = Restoration { after, ..restoration }.run(&memory, &Err).await.unwrap();
    assert_eq!(first.examined + second.examined, 6);
}

#[tokio::test]
async fn no_array_is_read_once_those_before_it_are_too_large() {
    let mut memory = Memory::with_policy("c", &heavy());
    put_heavy(&memory, 1, 9 * MEGABYTE);
    memory.set_leaving("c");
    let policy = leaving(&heavy());
    let restoration = Restoration { policy: &policy, after: None, limit: 9 };
    let batch = restoration.run(&memory, &Err).await.unwrap();
    assert_eq!((batch.documents, batch.too_large, batch.left.len()), (0, 1, 1));
    let loaded = memory.loaded_bytes() / MEGABYTE;
    assert_eq!(loaded, 18, "two of three");
}
