//! Whole collections brought under their policy, on a naive store.

use bson::oid::ObjectId;
use bson::{Bson, Document, RawBson, RawDocumentBuf, doc, rawdoc};
use error::{Code, Result};
use freeboard_guard::Policy;
use freeboard_guard::adopt::{Adopted, count_oversize, settle_counters};
use freeboard_guard::migrate::{MigratedBatch, Migration};
use freeboard_guard::verify::Check;
use naive::{Memory, namespace};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::cmp::Ordering;
use std::time::{Duration, Instant};
use write::Transactions as _;

const MAX: usize = 4;

fn bounds(keep: &str) -> RawDocumentBuf {
    crate::named(rawdoc! { "arrays": {
        "s.a": { "max": MAX as i32, "on_limit": "overflow",
                 "overflow": { "into": "p", "page": 3, "page_bytes": 120, "keep": keep } },
        "log": { "max": 2, "on_limit": "drop_oldest" },
    } })
}

fn policy(keep: &str) -> Policy {
    Policy::parse(&namespace("c"), &bounds(keep)).unwrap().with_counted(false)
}

/// An `_id` of some type; a number makes it the only one.
fn id(random: &mut StdRng, number: i32) -> Bson {
    match random.random_range(0..5) {
        0 => Bson::Int32(number),
        1 => Bson::Double(f64::from(number) + 0.5),
        2 => Bson::String(format!("{}", number * 7_919 % 1_000)),
        3 => doc! { "n": number }.into(),
        _ => Bson::ObjectId(ObjectId::from_bytes([number as u8; 12])),
    }
}

fn document(random: &mut StdRng, number: i32) -> Document {
    let item = |random: &mut StdRng| match random.random_range(0..8) {
        0 => Bson::String("x".repeat(random.random_range(0..150))),
        _ => Bson::Int32(random.random_range(0..100)),
    };
    let len = random.random_range(0..3 * MAX);
    let array: Vec<Bson> = (0..len).map(|_| item(random)).collect();
    let log: Vec<i32> = (0..random.random_range(0..4)).collect();
    let mut document = doc! { "_id": id(random, number), "s": { "a": array }, "log": log };
    match random.random_range(0..6) {
        // Fields that were there before the policy, by the names of its counters.
        0 => {
            let above = document.get_document_mut("s").unwrap();
            above.extend(doc! { "aCount": 70, "aHasOverflow": true, "aOverflowPages": 7 });
        }
        1 => document = doc! { "_id": document.remove("_id").unwrap(), "s": 5 },
        _ => {}
    }
    document
}

fn filled(random: &mut StdRng, keep: &str) -> (Memory, Vec<Document>) {
    let memory = Memory::with_uncounted_policy("c", &bounds(keep));
    let documents: Vec<_> = (0..150).map(|number| document(random, number)).collect();
    for document in &documents {
        memory.put("c", RawDocumentBuf::try_from(document).unwrap());
    }
    (memory, documents)
}

/// Runs batches of so many documents to the end.
async fn migrate(memory: &Memory, policy: &Policy, limit: usize) -> Vec<MigratedBatch> {
    let mut batches: Vec<MigratedBatch> = Vec::new();
    loop {
        let after = batches.last().and_then(|batch| batch.next.clone());
        let after = after.as_ref().map(RawBson::as_raw_bson_ref);
        let batch = Migration { policy, after, limit }.run(memory, &Ok).await.unwrap();
        let is_last = batch.next.is_none();
        batches.push(batch);
        if is_last {
            return batches;
        }
    }
}

pub async fn verified(memory: &Memory, policy: &Policy) -> Check {
    let mut check = Check::default();
    check.look(policy, &mut memory.snapshot().await.unwrap(), &|_, _| {}).await.unwrap();
    check
}

/// The array of a document, as head and pages hold it.
fn sequence(memory: &Memory, id: &Bson, keep: &str) -> Option<Vec<Bson>> {
    let read = |collection: &str| -> Vec<Document> {
        let documents = memory.documents(collection);
        documents.iter().map(|it| Document::try_from(&**it).unwrap()).collect()
    };
    let document = read("c").into_iter().find(|it| it.get("_id") == Some(id)).unwrap();
    let head = document.get_document("s").ok()?.get_array("a").ok()?.clone();
    let mut pages = read("p");
    pages.retain(|page| page.get("parentId") == Some(id));
    pages.sort_by_key(|page| page.get_i32("page").unwrap());
    let paged: Vec<Bson> =
        pages.iter().flat_map(|page| page.get_array("a").unwrap().clone()).collect();
    Some(match keep {
        "oldest" => [head, paged].concat(),
        _ => [paged, head].concat(),
    })
}

#[tokio::test]
async fn random_documents_verify_clean_once_they_are_migrated() {
    for seed in 0..6 {
        let random = &mut StdRng::seed_from_u64(seed);
        let keep = ["oldest", "newest"][seed as usize % 2];
        let policy = policy(keep);
        let (mut memory, documents) = filled(random, keep);
        memory.conflict_after = random.random_range(0..4);
        let before = verified(&memory, &policy).await;
        assert!(!before.is_clean() && before.oversize > 0, "{seed}");
        let batches = migrate(&memory, &policy, random.random_range(1..30)).await;
        let sum = |of: fn(&MigratedBatch) -> u64| batches.iter().map(of).sum::<u64>();
        assert_eq!(sum(|it| it.examined), documents.len() as u64, "{seed}");
        assert_eq!(sum(|it| it.failed.len() as u64 + it.over_documents), 0, "{seed}");
        assert_eq!(sum(|it| it.cost.pages), memory.documents("p").len() as u64, "{seed}");
        let after = verified(&memory, &policy).await;
        assert!(after.is_clean(), "{seed}: {after:?}");
        assert_eq!(after.documents, documents.len() as u64);
        for document in &documents {
            let id = document.get("_id").unwrap();
            let array = document.get_document("s").ok().map(|it| it.get_array("a").unwrap());
            assert_eq!(sequence(&memory, id, keep).as_ref(), array, "{seed}: {id}");
        }
        // Idempotent.
        let again = migrate(&memory, &policy, 1_000).await;
        assert!(again.iter().all(|batch| batch.documents == 0), "{seed}");
    }
}

#[tokio::test]
async fn batches_go_by_the_order_of_ids() {
    let random = &mut StdRng::seed_from_u64(7);
    let policy = policy("oldest");
    let (memory, _) = filled(random, "oldest");
    let batches = migrate(&memory, &policy, 1).await;
    let ends: Vec<_> = batches.iter().filter_map(|batch| batch.next.as_ref()).collect();
    assert!(ends.len() > 50);
    let order = |a: &RawBson, b: &RawBson| value::compare(a.as_raw_bson_ref(), b.as_raw_bson_ref());
    assert!(ends.windows(2).all(|pair| order(pair[0], pair[1]) == Ordering::Less));
}

#[tokio::test]
async fn documents_that_come_in_behind_are_found_by_the_next_run() -> Result<()> {
    let policy = policy("oldest");
    let memory = Memory::with_uncounted_policy("c", &bounds("oldest"));
    let long = |id: i32| rawdoc! { "_id": id, "s": { "a": [1, 2, 3, 4, 5, 6] } };
    [10, 20, 30].into_iter().for_each(|id| memory.put("c", long(id)));
    let first = Migration { policy: &policy, after: None, limit: 2 }.run(&memory, &Ok).await?;
    assert_eq!(first.next, Some(RawBson::Int32(20)));
    // The one that it came to goes, and another comes.
    memory.delete("c", &rawdoc! { "_id": 20 }).await?;
    memory.put("c", long(5));
    let after = first.next.as_ref().map(RawBson::as_raw_bson_ref);
    let second = Migration { policy: &policy, after, limit: 2 }.run(&memory, &Ok).await?;
    assert_eq!((second.examined, second.documents, second.next), (1, 1, None));
    assert_eq!(verified(&memory, &policy).await.oversize, 1);
    assert_eq!(migrate(&memory, &policy, 9).await[0].documents, 1);
    assert!(verified(&memory, &policy).await.is_clean());
    Ok(())
}

#[tokio::test]
async fn a_look_counts_and_puts_counters_right() {
    let random = &mut StdRng::seed_from_u64(8);
    let policy = policy("oldest");
    let (memory, documents) = filled(random, "oldest");
    let now = Instant::now();
    let late = count_oversize(&memory, &policy, now).await.unwrap();
    assert!(!late.complete && late.oversize <= 1);
    let counted = count_oversize(&memory, &policy, now + Duration::from_secs(60)).await.unwrap();
    let is_over = |document: &&Document| {
        let array = document.get_document("s").ok().and_then(|it| it.get_array("a").ok());
        let log = document.get_array("log").map_or(0, Vec::len);
        array.is_some_and(|array| array.len() > MAX) || log > 2
    };
    assert_eq!(counted.oversize, documents.iter().filter(is_over).count() as u64);
    assert!(counted.complete);
    let mut adopted = Adopted::default();
    settle_counters(&memory, &policy, None, &mut adopted, &Ok).await.unwrap();
    assert_eq!((adopted.oversize, adopted.complete), (counted.oversize, true));
    let verified = verified(&memory, &policy).await;
    assert_eq!((verified.drifted, verified.oversize), (0, counted.oversize));
    assert!(memory.documents("p").is_empty());
}

#[tokio::test]
async fn a_look_that_is_stopped_on_the_way_is_not_complete() {
    // Without a policy in force, counters cannot be put right.
    let memory = Memory::default();
    memory.put("c", rawdoc! { "_id": 1, "s": { "a": [1], "aCount": 7 } });
    let mut adopted = Adopted::default();
    let stopped = settle_counters(&memory, &policy("oldest"), None, &mut adopted, &Err).await;
    assert!(stopped.is_err() && !adopted.complete);
    settle_counters(&memory, &policy("oldest"), None, &mut adopted, &Ok).await.unwrap();
    assert!(adopted.complete && adopted.unsettled);
}

#[tokio::test]
async fn a_dry_run_says_what_the_run_does_and_does_nothing() {
    for seed in 10..14 {
        let random = &mut StdRng::seed_from_u64(seed);
        let keep = ["oldest", "newest"][seed as usize % 2];
        let policy = policy(keep);
        let (mut memory, _) = filled(random, keep);
        let before = memory.documents("c");
        // Nothing says here that the policy is set.
        let unset = Memory::default();
        unset.replace_all("c", before.clone());
        let proposed = unset.proposing(policy.clone());
        memory.conflict_after = 2;
        let mut after: Option<RawBson> = None;
        loop {
            let migration = Migration {
                policy: &policy,
                after: after.as_ref().map(RawBson::as_raw_bson_ref),
                limit: 20,
            };
            let tried = migration.dry_run(&proposed, &Ok).await.unwrap();
            let done = migration.run(&memory, &Ok).await.unwrap();
            let figures =
                |it: &MigratedBatch| (it.examined, it.documents, it.cost, it.next.clone());
            assert_eq!(figures(&tried), figures(&done), "{seed}");
            assert_eq!(tried.over_documents, done.over_documents);
            after = done.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(unset.documents("c"), before);
        assert!(unset.documents("p").is_empty() && !memory.documents("p").is_empty());
    }
}

#[tokio::test]
async fn what_fails_is_the_documents_own_unless_all_is_to_stop() {
    // Without a policy in force, settling fails.
    let memory = Memory::default();
    memory.put("c", rawdoc! { "_id": 1, "log": [1, 2, 3] });
    let policy = policy("oldest");
    let migration = Migration { policy: &policy, after: None, limit: 9 };
    let batch = migration.run(&memory, &Ok).await.unwrap();
    assert_eq!((batch.failed.len(), batch.documents), (1, 0));
    let stopped = migration.run(&memory, &Err).await.unwrap_err();
    assert_eq!(stopped.code(), Code::BadValue);
}
