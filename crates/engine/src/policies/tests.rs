//! What clients cannot break and storage can: written past the policies, found and
//! mended by `verifyGrowth`.

mod dry_run;
mod list;
mod orphans;

use crate::Engine;
use crate::plan::Interrupt;
use crate::storage::Mark;
use crate::transaction::Transaction;
use crate::writes::Writes;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use command::{Client, Namespace, Request};
use error::{Code, Result};
use guard::Policy;
use guard::adopt::count_oversize;
use guard::policy::legacy;
use language::Needs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use value::element::get_value;
use value::{DocumentWriter, elements};
use write::Transaction as _;

mod provide;

async fn run(engine: &Arc<Engine>, body: RawDocumentBuf) -> Result<RawDocumentBuf> {
    let client = Arc::new(Client::new(1, SocketAddr::from((Ipv4Addr::LOCALHOST, 1))));
    engine.run(Request::from(body), &client).await.map(|reply| reply.body)
}

fn namespace(collection: &str) -> Namespace {
    Namespace::new("d", collection).unwrap()
}

/// A policy that names what it keeps.
fn policy_of(namespace: &Namespace) -> RawDocumentBuf {
    let overflow = rawdoc! { "page": 2 };
    let arrays = rawdoc! { "a": { "max": 2, "on_limit": "overflow", "overflow": overflow } };
    legacy::written_out(namespace, &rawdoc! { "arrays": arrays })
}

fn policy() -> RawDocumentBuf {
    policy_of(&namespace("c"))
}

/// A store with four documents of five elements each, in a head and two pages.
async fn filled(directory: &tempfile::TempDir) -> Arc<Engine> {
    let engine = Engine::open(directory.path()).await.unwrap();
    let set = rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy() };
    run(&engine, set).await.unwrap();
    for id in 1..=4 {
        let document = rawdoc! { "_id": id, "a": [1, 2, 3, 4, 5] };
        let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [document] };
        run(&engine, insert).await.unwrap();
    }
    engine
}

/// Changes a document past the policy; `None` deletes it.
async fn break_in(
    engine: &Arc<Engine>,
    collection: &str,
    id: RawBsonRef<'_>,
    change: impl Fn(&RawDocument) -> Option<RawDocumentBuf>,
) {
    let namespace = namespace(collection);
    let mut transaction = Transaction::begin(engine.clone());
    let row = transaction.get(&namespace, id, &Needs::All).await.unwrap().unwrap();
    match change(&row) {
        Some(after) => transaction
            .replace(&namespace, &row, (&after).into(), write::Cause::UNKNOWN)
            .await
            .unwrap(),
        None => transaction.delete(&namespace, &row).await.unwrap(),
    }
    engine.store.commit(transaction.into_commit(), Mark::Synced).await.unwrap();
}

/// The document with a field set to a number, or without it.
fn with(document: &RawDocument, key: &str, number: Option<i32>) -> RawDocumentBuf {
    let mut out = DocumentWriter::new();
    elements(document).filter(|field| field.key != key).for_each(|field| out.copy(field));
    number.into_iter().for_each(|number| out.append_i32(key, number));
    out.finish()
}

async fn verify(engine: &Arc<Engine>, repair: bool) -> RawDocumentBuf {
    let verify = rawdoc! { "verifyGrowth": "c", "$db": "d", "repair": repair };
    run(engine, verify).await.unwrap()
}

/// What was found: the kind, the document, and whether it was mended.
fn found(reply: &RawDocument) -> Vec<String> {
    let drift = get_value(reply, "drift").and_then(|drift| drift.as_array()).unwrap();
    let items = value::element::array_elements(drift).filter_map(|it| it.value().as_document());
    let text = |drift: &RawDocument| {
        let id = get_value(drift, "_id").map_or("none".to_owned(), value::text::value);
        let kind = get_value(drift, "kind").and_then(|kind| kind.as_str()).unwrap();
        let mended = get_value(drift, "repaired").and_then(|it| it.as_bool()) == Some(true);
        format!("{kind} {id}{}", if mended { " mended" } else { "" })
    };
    items.map(text).collect()
}

fn clean(reply: &RawDocument) -> bool {
    get_value(reply, "clean").and_then(|clean| clean.as_bool()).unwrap()
}

fn page(parent: i32, number: i32) -> bson::RawBson {
    rawdoc! { "parent": parent, "path": "a", "page": number }.into()
}

/// A client looked up what guards a collection that was not there; before it inserts, it comes
/// with a policy.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_comes_between_is_not_missed() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let mut transaction = Transaction::begin(engine.clone());
    assert!(transaction.guard(&namespace("c")).await.unwrap().is_none());
    run(&engine, rawdoc! { "create": "c", "$db": "d" }).await.unwrap();
    let set = rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy() };
    run(&engine, set).await.unwrap();
    let document = rawdoc! { "_id": 1, "a": [1, 2, 3] };
    let refused = transaction.insert(&namespace("c"), (&document).into(), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::WriteConflict);
    assert!(transaction.retry().await.unwrap());
    assert!(transaction.guard(&namespace("c")).await.unwrap().is_some());
}

/// The same in a client's transaction, which makes the collection itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_comes_before_the_commit_is_not_missed() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let mut transaction = Transaction::begin_client(engine.clone());
    assert!(transaction.guard(&namespace("c")).await.unwrap().is_none());
    let document = rawdoc! { "_id": 1, "a": [1, 2, 3] };
    transaction.insert(&namespace("c"), (&document).into(), None).await.unwrap();
    let set = rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy() };
    run(&engine, set).await.unwrap();
    let refused = transaction.commit_client().await.unwrap_err();
    assert_eq!(refused.code(), Code::WriteConflict);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_storage_broke_is_found_and_mended() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    assert!(clean(&verify(&engine, false).await));
    break_in(&engine, "c", RawBsonRef::Int32(1), |row| Some(with(row, "aCount", Some(77)))).await;
    break_in(&engine, "c", RawBsonRef::Int32(2), |row| Some(with(row, "aHasOverflow", None))).await;
    let wrong = page(3, 2);
    let change = |row: &RawDocument| Some(with(row, "count", Some(9)));
    break_in(&engine, "c_a", wrong.as_raw_bson_ref(), change).await;
    break_in(&engine, "c", RawBsonRef::Int32(4), |_| None).await;

    let reply = verify(&engine, false).await;
    assert!(!clean(&reply));
    let expected = ["count 1", "flag 2", "pageCount 3", "orphan 4", "orphan 4"];
    assert_eq!(found(&reply), expected);
    let reply = verify(&engine, true).await;
    assert_eq!(found(&reply), expected.map(|it| format!("{it} mended")));
    assert!(clean(&reply));
    let reply = verify(&engine, false).await;
    assert!(clean(&reply) && found(&reply).is_empty());
    let pages = get_value(&reply, "pages");
    assert_eq!(pages, Some(RawBsonRef::Int32(6)));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nothing_mends_safely_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    // A page that belongs to another document by its name than by its parent.
    let stray = page(2, 2);
    let change = |row: &RawDocument| Some(with(row, "parentId", Some(1)));
    break_in(&engine, "c_a", stray.as_raw_bson_ref(), change).await;
    let reply = verify(&engine, true).await;
    let kinds = found(&reply);
    assert!(kinds.contains(&"pageShape 1".to_owned()), "{kinds:?}");
    assert!(!clean(&reply));
    // Nothing was thrown away.
    let counted = run(&engine, rawdoc! { "count": "c_a", "$db": "d" }).await.unwrap();
    assert_eq!(get_value(&counted, "n"), Some(RawBsonRef::Int32(8)));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_indexes_and_views_are_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    engine.drop_collection(&namespace("c_a_all")).await.unwrap();
    engine
        .remove_indexes(&namespace("c_a"), &["parentId_1_page_1_count_1".to_owned()])
        .await
        .unwrap();
    assert_eq!(found(&verify(&engine, false).await), ["index none", "view none"]);
    assert!(clean(&verify(&engine, true).await));
    assert!(found(&verify(&engine, false).await).is_empty());
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_that_had_no_time_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    for id in 0..3 {
        // Out of line, and over whatever its length is.
        let document = rawdoc! { "_id": id, "a": ["x".repeat(40_000)] };
        let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [document] };
        run(&engine, insert).await.unwrap();
    }
    let bounds = rawdoc! { "arrays": { "a": { "max_bytes": "20KB" } } };
    let policy = Policy::parse(&namespace("c"), &bounds).unwrap();
    let writes = Writes::new(engine.clone());
    let count =
        async |limit| count_oversize(&writes, &policy, Instant::now() + limit).await.unwrap();
    let all = count(Duration::from_secs(60)).await;
    assert_eq!((all.oversize, all.complete), (3, true));
    let none = count(Duration::ZERO).await;
    assert_eq!((none.oversize, none.complete), (1, false));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_are_not_trusted_before_all_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let stale = rawdoc! { "_id": 1, "a": [1, 2], "aCount": 9, "aOverflowPages": 3 };
    let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [stale] };
    run(&engine, insert).await.unwrap();
    // As it is between the policy's commit and the end of the count, or after a crash there.
    engine.set_policy(&namespace("c"), &policy()).await.unwrap();
    engine.close().await;
    drop(engine);
    let engine = Engine::open(directory.path()).await.unwrap();
    assert!(!engine.policies.current().policy(&namespace("c")).unwrap().is_counted());
    let find = rawdoc! { "find": "c", "$db": "d", "projection": { "a": { "$slice": -1 } } };
    let last = run(&engine, find.clone()).await.unwrap();
    let first = last.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    let first = first.get_document(0).unwrap();
    assert_eq!(first.get_array("a").unwrap().get_i32(0).unwrap(), 2);
    let update = rawdoc! {
        "update": "c", "$db": "d", "updates": [{ "q": { "_id": 1 }, "u": { "$push": { "a": 3 } } }],
    };
    run(&engine, update).await.unwrap();
    assert!(clean(&verify(&engine, false).await));
    // The last batch of a migration has looked at all of them.
    run(&engine, rawdoc! { "migrateGrowth": "c", "$db": "d" }).await.unwrap();
    assert!(engine.policies.current().policy(&namespace("c")).unwrap().is_counted());
    assert!(clean(&verify(&engine, false).await));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_collection_is_made_with_nothing_held() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    run(&engine, rawdoc! { "drop": "c", "$db": "d" }).await.unwrap();
    let mut transaction = Transaction::begin(engine.clone());
    let page = rawdoc! { "_id": 1, "parentId": 1, "page": 1, "count": 1, "a": [1] };
    transaction.insert(&namespace("c_a"), (&page).into(), None).await.unwrap();
    // Whoever waits for that page may be in the way of a change of definition.
    let document = rawdoc! { "_id": 1 };
    let refused = transaction.insert(&namespace("c"), (&document).into(), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::WriteConflict);
    assert!(engine.registry.get(&namespace("c")).is_none());
    transaction.start_over().await.unwrap();
    assert!(engine.registry.get(&namespace("c")).is_some());
    transaction.insert(&namespace("c"), (&document).into(), None).await.unwrap();
    drop(transaction);
    engine.close().await;
}

/// Upserts that split at once, into a collection that is dropped again and again while its
/// policy changes: nobody waits for ever.
#[tokio::test(flavor = "multi_thread")]
async fn upserts_and_drops_get_out_of_each_others_way() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let rounds = 0..60;
    let upserts = (0..6).map(|task| {
        let engine = engine.clone();
        let rounds = rounds.clone();
        tokio::spawn(async move {
            for round in rounds {
                let push = rawdoc! { "$push": { "a": { "$each": [1, 2, 3, 4, round] } } };
                let update =
                    rawdoc! { "q": { "_id": (task + round) % 3 }, "u": push, "upsert": true };
                let update = rawdoc! { "update": "c", "$db": "d", "updates": [update] };
                run(&engine, update).await.unwrap();
            }
        })
    });
    let upserts: Vec<_> = upserts.collect();
    let changes = async {
        for round in rounds.clone() {
            run(&engine, rawdoc! { "drop": "c", "$db": "d" }).await.ok();
            let overflow = rawdoc! { "page": 2 + round % 2 };
            let arrays =
                rawdoc! { "a": { "max": 2, "on_limit": "overflow", "overflow": overflow } };
            let policy = legacy::written_out(&namespace("c"), &rawdoc! { "arrays": arrays });
            let set = rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy };
            run(&engine, set).await.unwrap();
        }
    };
    let all = async {
        changes.await;
        for upsert in upserts {
            upsert.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(120), all).await.expect("somebody waits for ever");
    run(&engine, rawdoc! { "migrateGrowth": "c", "$db": "d" }).await.unwrap();
    assert!(clean(&verify(&engine, false).await));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_dropped_collection_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    engine.drop_collection(&namespace("c")).await.unwrap();
    let reply = verify(&engine, false).await;
    assert_eq!(found(&reply), [1, 1, 2, 2, 3, 3, 4, 4].map(|id| format!("orphan {id}")));
    assert!(clean(&verify(&engine, true).await));
    let counted = run(&engine, rawdoc! { "count": "c_a", "$db": "d" }).await.unwrap();
    assert_eq!(get_value(&counted, "n"), Some(RawBsonRef::Int32(0)));
    engine.close().await;
}

/// Opens a store whose policy of `c` says something that this version does not know.
async fn unreadable(directory: &tempfile::TempDir) -> Arc<Engine> {
    let engine = filled(directory).await;
    break_in(&engine, "freeboard.policies", RawBsonRef::String("c"), |row| {
        let arrays = policy().get_document("arrays").unwrap().to_owned();
        let mut out = DocumentWriter::new();
        elements(row).filter(|field| field.key != "policy").for_each(|field| out.copy(field));
        out.append_document("policy", &rawdoc! { "shards": 3, "arrays": arrays });
        Some(out.finish())
    })
    .await;
    engine.close().await;
    drop(engine);
    Engine::open(directory.path()).await.unwrap()
}

/// The code that a command is refused with.
async fn refused(engine: &Arc<Engine>, body: RawDocumentBuf) -> Code {
    match run(engine, body).await {
        Err(error) => error.code(),
        Ok(reply) => {
            let errors = get_value(&reply, "writeErrors").and_then(|it| it.as_array()).unwrap();
            let code = errors.get_document(0).unwrap().get_i32("code").unwrap();
            [Code::InvalidOptions, Code::InvalidNamespace]
                .into_iter()
                .find(|it| it.number() == code)
                .unwrap()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_cannot_be_read_keeps_its_pages_until_it_is_set_anew() {
    let directory = tempfile::tempdir().unwrap();
    let engine = unreadable(&directory).await;
    let insert = |into: &str| {
        let document = rawdoc! { "_id": 9, "a": [1, 2, 3] };
        rawdoc! { "insert": into, "$db": "d", "documents": [document] }
    };
    assert_eq!(refused(&engine, insert("c")).await, Code::InvalidOptions);
    assert_eq!(refused(&engine, insert("c_a")).await, Code::InvalidNamespace);
    let drop = rawdoc! { "drop": "c_a", "$db": "d" };
    assert_eq!(refused(&engine, drop).await, Code::OperationFailed);
    let drop = rawdoc! { "dropGrowthPolicy": "c", "$db": "d" };
    assert_eq!(refused(&engine, drop).await, Code::BadValue);
    let set = |policy: RawDocumentBuf| {
        rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }
    };
    let elsewhere = rawdoc! { "into": "p" };
    let elsewhere = rawdoc! { "max": 2, "on_limit": "overflow", "overflow": elsewhere };
    let elsewhere = rawdoc! { "arrays": { "a": elsewhere } };
    assert_eq!(refused(&engine, set(elsewhere)).await, Code::BadValue);
    run(&engine, set(policy())).await.unwrap();
    run(&engine, insert("c")).await.unwrap();
    let reply = verify(&engine, false).await;
    assert!(clean(&reply));
    assert_eq!(get_value(&reply, "documents"), Some(RawBsonRef::Int32(5)));
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_is_dropped_with_pages_of_a_policy_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let engine = unreadable(&directory).await;
    run(&engine, rawdoc! { "drop": "c", "$db": "d" }).await.unwrap();
    let counted = run(&engine, rawdoc! { "count": "c_a", "$db": "d" }).await.unwrap();
    assert_eq!(get_value(&counted, "n"), Some(RawBsonRef::Int32(0)));
    engine.close().await;
}

/// A recount of the policies' collection holds it and waits for its turn, which a
/// policy that is being set has.
#[tokio::test(flavor = "multi_thread")]
async fn setting_a_policy_and_counting_policies_do_not_wait_for_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let is_on = &engine.growth.is_on;
    is_on.store(false, Ordering::Relaxed);
    let set = rawdoc! { "setGrowthPolicy": "x", "$db": "d", "policy": {} };
    run(&engine, set.clone()).await.unwrap();
    is_on.store(true, Ordering::Relaxed);
    let turn = engine.registry.changes.lock().await;
    let later = |body: RawDocumentBuf| {
        let engine = engine.clone();
        tokio::spawn(async move { run(&engine, body).await })
    };
    let setting = later(set);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let counting = later(rawdoc! { "growthStats": "freeboard.policies", "$db": "d" });
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(turn);
    let both = async { (setting.await.unwrap().unwrap(), counting.await.unwrap().unwrap()) };
    tokio::time::timeout(Duration::from_secs(20), both).await.expect("they wait for ever");
    engine.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_policies_that_contradict_each_other_none_is_set() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::open(directory.path()).await.unwrap();
    let paged = |into: &str| {
        let overflow = rawdoc! { "into": into };
        let arrays = rawdoc! { "a": { "max": 1, "on_limit": "overflow", "overflow": overflow } };
        legacy::written_out(&namespace("c"), &rawdoc! { "arrays": arrays })
    };
    for pair in [
        [(namespace("c"), paged("p")), (namespace("p_all"), rawdoc! {})],
        [(namespace("c"), paged("p")), (namespace("x"), paged("p_all"))],
        [(namespace("c"), paged("p")), (namespace("p"), rawdoc! {})],
    ] {
        let [first, second] = pair;
        for policies in [[first.clone(), second.clone()], [second, first]] {
            let refused = engine.ensure_policies(&policies).await.unwrap_err();
            assert_eq!(refused.code(), Code::BadValue, "{}", refused.message());
            assert!(policies.iter().all(|(name, _)| engine.policies.get(name).is_none()));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_that_is_stopped_ends_early_once_the_policy_is_set() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let interrupt = Interrupt::default();
    let writes = Writes::new(engine.clone()).stopped_by(interrupt.clone());
    interrupt.stop(Code::MaxTimeMSExpired);
    let namespace = namespace("c");
    let adopt = |limit| engine.adopt(&namespace, &writes, limit, &interrupt);
    let adopted = adopt(Some(Duration::from_secs(10))).await.unwrap();
    assert!(!adopted.complete);
    // A migration has nothing to show for that.
    assert_eq!(adopt(None).await.unwrap_err().code(), Code::MaxTimeMSExpired);
}

/// A policy that was stored when other defaults held keeps its meaning.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_of_former_defaults_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let engine = filled(&directory).await;
    let short = rawdoc! {
        "arrays": { "a": { "max": 2, "on_limit": "overflow", "overflow": { "page": 2 } } },
    };
    break_in(&engine, "freeboard.policies", RawBsonRef::String("c"), |row| {
        let mut out = DocumentWriter::new();
        let kept = elements(row).filter(|it| !matches!(it.key, "policy" | legacy::DEFAULTS));
        kept.for_each(|field| out.copy(field));
        out.append_document("policy", &short);
        Some(out.finish())
    })
    .await;
    engine.close().await;
    drop(engine);
    let engine = Engine::open(directory.path()).await.unwrap();
    let got = run(&engine, rawdoc! { "getGrowthPolicy": "c", "$db": "d" }).await.unwrap();
    assert_eq!(get_value(&got, "policy"), Some(RawBsonRef::Document(&policy())));
    let update = rawdoc! { "q": { "_id": 1 }, "u": { "$push": { "a": 6 } } };
    run(&engine, rawdoc! { "update": "c", "updates": [update], "$db": "d" }).await.unwrap();
    let found = run(&engine, rawdoc! { "find": "c", "filter": { "_id": 1 }, "$db": "d" }).await;
    let found = found.unwrap();
    let batch = found.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    let document = batch.get_document(0).unwrap();
    assert_eq!(get_value(document, "aCount"), Some(RawBsonRef::Int32(6)));
    assert_eq!(value::element::array_len(document.get_array("a").unwrap()), 2);
    assert!(clean(&verify(&engine, false).await));
    engine.close().await;
}
