//! Figures that writes keep up against a recount, while writers and changes
//! of the policy are in each other's way, and after the store is opened again.

use super::chosen::Sampler;
use super::figures::FigureScope;
use super::recount::count;
use super::{ArrayFigures, Grown, GrowthEvent, GrowthFigures, LengthenedArrays, PagedBytes, event};
use crate::Engine;
use crate::catalog::Collection;
use crate::plan::Interrupt;
use crate::storage::{CollectionId, Commit, CommitWrites, Mark, RecordId, Tree, TreeChange, keys};
use crate::transaction::Transaction;
use bson::{RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};
use command::{Client, Namespace, Request};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use statistics::{Histogram, Largest, Range};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use write::Transaction as _;

/// How long a lock that is held for a moment may take to come free.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
const WRITERS: u64 = 4;
const DOCUMENTS: u64 = 100_000;
const WRITES: usize = 250;
const POLICIES: i32 = 12;
const IDS: i32 = 200;
/// More than are kept.
const LARGER: u64 = 300;

async fn open(directory: &Path) -> Arc<Engine> {
    Engine::open(directory).await.expect("a store")
}

/// Runs a command, whatever it answers.
async fn run(engine: &Arc<Engine>, body: RawDocumentBuf) {
    let client = Arc::new(Client::new(1, SocketAddr::from((Ipv4Addr::LOCALHOST, 1))));
    let _ = engine.run(Request::from(body), &client).await;
}

fn collection(engine: &Engine) -> Arc<Collection> {
    engine.registry.get(&Namespace::new("d", "c").unwrap()).expect("a collection")
}

async fn set_policy(engine: &Arc<Engine>, number: i32) {
    let mut arrays = rawdoc! { "a": { "max": 1_000_000 } };
    if number % 2 == 0 {
        arrays.append(bson::cstr!("s.x"), rawdoc! { "max": 1_000 });
        let overflow = rawdoc! { "max": 4, "on_limit": "overflow", "overflow": { "page": 3 } };
        arrays.append(bson::cstr!("o"), overflow);
    } else {
        let overflow = rawdoc! { "max": 6, "on_limit": "overflow", "overflow": { "page": 3 } };
        arrays.append(bson::cstr!("o"), overflow);
    }
    let policy = rawdoc! { "arrays": arrays };
    run(engine, rawdoc! { "setGrowthPolicy": "c", "$db": "d", "policy": policy }).await;
}

fn numbers(random: &mut StdRng, most: i32) -> RawArrayBuf {
    (0..random.random_range(0..most)).map(RawBson::Int32).collect()
}

async fn write(engine: &Arc<Engine>, random: &mut StdRng) {
    let id = random.random_range(0..IDS);
    // Some arrays go out of line.
    let most = if random.random_bool(0.1) { 4_000 } else { 10 };
    let change = match random.random_range(0..10) {
        0..4 => rawdoc! {
            "a": numbers(random, most), "s": [{ "x": numbers(random, 4) }, { "x": [1] }],
            "o": numbers(random, 8),
        },
        4..6 => rawdoc! { "$push": { "a": 1, "o": 2 } },
        6 => rawdoc! { "$push": { "a": { "$each": numbers(random, most) } } },
        7 => rawdoc! { "$unset": { "a": 1 }, "$set": { "n": 1 } },
        8 => rawdoc! { "$set": { "t": "x".repeat(random.random_range(0..30_000)) } },
        _ => {
            let one = rawdoc! { "q": { "_id": id }, "limit": 1 };
            let concern = rawdoc! { "w": 1, "j": false };
            let body = rawdoc! {
                "delete": "c", "$db": "d", "deletes": [one], "writeConcern": concern,
            };
            return run(engine, body).await;
        }
    };
    let one = rawdoc! { "q": { "_id": id }, "u": change, "upsert": true };
    let concern = rawdoc! { "w": 1, "j": false };
    let body = rawdoc! { "update": "c", "$db": "d", "updates": [one], "writeConcern": concern };
    run(engine, body).await;
}

/// What of figures must be the same, kept up or recounted.
#[derive(Debug, PartialEq)]
struct Essence {
    documents: u64,
    bytes: u64,
    sizes: Spread,
    arrays: Vec<(String, [u64; 4], Spread)>,
}

#[derive(Debug, PartialEq)]
struct Spread {
    ranges: Vec<Range>,
    largest: Vec<u32>,
}

fn spread<T: Default>(histogram: &Histogram, largest: &Largest<T>) -> Spread {
    let ranked = largest.ranked().into_iter().take(super::SHOWN);
    Spread { ranges: histogram.ranges(), largest: ranked.map(|(_, value)| value).collect() }
}

fn essence(figures: &GrowthFigures) -> Essence {
    let sizes = figures.sizes.as_ref().expect("sizes");
    let of_path = |it: &ArrayFigures| {
        let numbers = [it.documents, it.elements, it.overflowed, it.pages];
        (it.path.as_str().to_owned(), numbers, spread(&it.histogram, &it.longest))
    };
    let mut arrays: Vec<_> = figures.arrays.iter().map(of_path).collect();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    Essence {
        documents: figures.counts.documents,
        bytes: figures.counts.bytes,
        sizes: spread(&sizes.histogram, &sizes.largest),
        arrays,
    }
}

/// Compares what is known of the collection with a recount.
async fn check(engine: &Arc<Engine>) {
    let collection = collection(engine);
    let interrupt = Interrupt::default();
    let known = engine.growth_figures(&collection, &interrupt).await.unwrap().expect("figures");
    let guarded = engine.policies.get(&collection.namespace);
    let view = || engine.store.view();
    let place = FigureScope {
        collection: collection.id,
        policy: event::policy(guarded.as_ref()),
        view: &view,
    };
    let counted = count(place, engine.store.view(), &interrupt).await.unwrap();
    assert_eq!(essence(&known), essence(&counted));
    let counts = engine.store.view().counts(collection.id).unwrap();
    assert_eq!(counts, counted.counts);
    assert!(counts.documents > IDS as u64 / 4, "the writers have written");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_writes_keep_up_is_what_a_recount_gives() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let mut tasks = Vec::new();
    for writer in 0..WRITERS {
        let engine = engine.clone();
        tasks.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(writer);
            for _ in 0..WRITES {
                write(&engine, &mut random).await;
            }
        }));
    }
    for number in 0..POLICIES {
        set_policy(&engine, number).await;
        check_is_counted(&engine).await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    check(&engine).await;
    engine.close().await;
    drop(engine);

    let engine = open(directory.path()).await;
    check(&engine).await;
    let mut random = StdRng::seed_from_u64(WRITERS);
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    check(&engine).await;
    engine.close().await;
    drop(engine);

    // No figures are read before the writers write, so no document has been looked up.
    let engine = open(directory.path()).await;
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    check(&engine).await;
    engine.close().await;
}

/// Commits go on while a document is waited for: none is read under their lock.
#[tokio::test(flavor = "multi_thread")]
async fn no_commit_waits_for_documents_to_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    set_policy(&engine, 0).await;
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    engine.close().await;
    drop(engine);

    let engine = open(directory.path()).await;
    let collection = collection(&engine);
    let guarded = engine.policies.get(&collection.namespace);
    let growth = &engine.growth;
    // The rows of the collection are read, and none of its documents.
    assert!(growth.is_whole(collection.id, guarded.as_ref(), &|| engine.store.view()).unwrap());
    let mut grown = Grown::new(collection.clone());
    for record in 0..LARGER {
        let (record, size) = (RecordId(u64::MAX - record), 100_000 + record as u32);
        let arrays = LengthenedArrays::new();
        let paged = PagedBytes::default();
        grown.push(GrowthEvent { record, before: None, after: Some(size), paged, arrays });
    }
    grown.guarded = guarded.clone();
    let mut books = growth.books();
    books.add(&grown, &CommitWrites::default(), &|| panic!("a commit reads documents")).unwrap();
    drop(books);

    let view = || {
        // The background may hold the lock for a moment. If this look-up held it, it would
        // never come free.
        let lock = growth.standings.try_lock_for(LOCK_WAIT_MAX);
        assert!(lock.is_some(), "commits wait for documents to be read");
        engine.store.view()
    };
    let policy = event::policy(guarded.as_ref());
    let place = FigureScope { collection: collection.id, policy, view: &view };
    growth.resolve(place, &Interrupt::default()).unwrap();
    let figures = growth.counted(place).unwrap().expect("figures");
    assert!(figures.unresolved(policy).is_empty());
    let largest = figures.sizes.as_ref().unwrap().largest.ranked();
    let expected = (0..LARGER as u32).rev().map(|it| 100_000 + it).take(super::SHOWN);
    assert!(largest.iter().map(|(_, size)| *size).take(super::SHOWN).eq(expected));
    engine.close().await;
}

/// Where so many come that those of an earlier run should go, they are looked up in the
/// background.
#[tokio::test(flavor = "multi_thread")]
async fn lists_that_grow_are_looked_up_in_the_background() {
    let directory = tempfile::tempdir().unwrap();
    let insert = |from: i32| {
        let documents = (from..from + 200)
            .map(|id| RawBson::Document(rawdoc! { "_id": id, "t": "x".repeat(id as usize) }));
        let documents: RawArrayBuf = documents.collect();
        rawdoc! { "insert": "c", "$db": "d", "documents": documents }
    };
    let engine = open(directory.path()).await;
    run(&engine, insert(0)).await;
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    run(&engine, insert(200)).await;
    let collection = collection(&engine);
    let unresolved = || {
        let standings = engine.growth.standings.lock();
        standings[&collection.id].figures.unresolved(None).len()
    };
    while unresolved() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    run(&engine, insert(400)).await;
    let view = engine.store.view();
    let rows = view.range(Tree::Records, keys::kept_rows(collection.id)).count();
    assert!((64..=128).contains(&rows), "{rows} rows are kept");
    check(&engine).await;
    engine.close().await;
}

/// A line of the log is a line, however long an `_id` is.
#[test]
fn ids_are_cut_in_the_log() {
    let id = CollectionId(1);
    let document = rawdoc! { "_id": "x".repeat(60_000) };
    let key = keys::record(id, RecordId(1)).into();
    let value = Some(document.into_bytes().into());
    let commit = Commit::of(vec![TreeChange { tree: Tree::Records, key, value }]);
    let written = CommitWrites::by(&commit);
    let shown = super::id_of(&written, id, RecordId(1));
    assert!(shown.starts_with("\"xxx") && shown.len() < 300, "{}", shown.len());
}

/// A commit with an event for each of its documents, while all others wait for it.
#[test]
fn ids_of_very_many_documents_are_found_at_once() {
    let id = CollectionId(1);
    let change = |record: u64| TreeChange {
        tree: Tree::Records,
        key: keys::record(id, RecordId(record)).into(),
        value: Some(rawdoc! { "_id": record as i64 }.into_bytes().into()),
    };
    let commit = Commit::of((0..DOCUMENTS).map(change).collect());
    let written = CommitWrites::by(&commit);
    let began = Instant::now();
    for record in 0..DOCUMENTS {
        assert_eq!(super::id_of(&written, id, RecordId(record)), record.to_string());
    }
    // One look after another through all of them takes many times as long.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// Figures are whole whenever they are read, whatever goes on.
async fn check_is_counted(engine: &Arc<Engine>) {
    let Some(collection) = engine.registry.get(&Namespace::new("d", "c").unwrap()) else { return };
    let figures = engine.growth_figures(&collection, &Interrupt::default()).await.unwrap();
    let sizes = figures.as_ref().and_then(|figures| figures.sizes.as_ref()).expect("sizes");
    let documents = figures.as_ref().map(|figures| figures.counts.documents);
    assert_eq!(Some(sizes.histogram.count()), documents);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_figures_is_counted_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    set_policy(&engine, 0).await;
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    // As a version wrote it that kept counts alone.
    let id = collection(&engine).id;
    let counts = engine.store.view().counts(id).unwrap();
    let value = Some(counts.write().into());
    let row = TreeChange { tree: Tree::Records, key: keys::counts(id), value };
    engine.store.commit(Commit::of(vec![row]), Mark::Synced).await.unwrap();
    engine.close().await;
    drop(engine);
    let engine = open(directory.path()).await;
    write(&engine, &mut random).await;
    check(&engine).await;
    engine.close().await;
}

/// What a transaction wrote while nothing was measured is recounted, though its commit
/// comes when everything is.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_measured_is_counted_anew() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    set_policy(&engine, 0).await;
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    check(&engine).await;
    let is_on = &engine.growth.is_on;
    is_on.store(false, Ordering::Relaxed);
    let mut transaction = Transaction::begin_client(engine.clone());
    let namespace = Namespace::new("d", "c").unwrap();
    transaction.guard(&namespace).await.unwrap();
    let document = rawdoc! { "_id": "new", "a": [1, 2, 3, 4, 5] };
    transaction.insert(&namespace, (&document).into(), None).await.unwrap();
    is_on.store(true, Ordering::Relaxed);
    let ticket = transaction.commit_client().await.unwrap().unwrap();
    engine.store.reach(ticket, Mark::Applied).await.unwrap();
    check(&engine).await;
    engine.close().await;
}

/// While the parameter is off, there are no figures of what has been written to, and the error says why.
#[tokio::test(flavor = "multi_thread")]
async fn figures_that_are_not_kept_up_are_not_shown() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..WRITES {
        write(&engine, &mut random).await;
    }
    engine.growth.is_on.store(false, Ordering::Relaxed);
    let insert = rawdoc! { "insert": "c", "$db": "d", "documents": [{ "_id": "new" }] };
    run(&engine, insert).await;
    let asked = engine.growth_figures(&collection(&engine), &Interrupt::default()).await;
    let refused = asked.unwrap_err();
    assert!(refused.message().contains("the parameter growthStats is off"), "{refused}");
    engine.growth.is_on.store(true, Ordering::Relaxed);
    check(&engine).await;
    engine.close().await;
}

/// Were gaps not known, nearly every number would lead to the document behind the first.
#[tokio::test]
async fn a_sample_reaches_over_gaps() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path()).await;
    let insert = async |ids: std::ops::Range<i32>, kind: &str| {
        let documents: RawArrayBuf =
            ids.map(|id| RawBson::Document(rawdoc! { "_id": id, "kind": kind })).collect();
        run(&engine, rawdoc! { "insert": "c", "$db": "d", "documents": documents }).await;
    };
    insert(0..1, "first").await;
    insert(1..20_000, "gone").await;
    let gone = rawdoc! { "q": { "kind": "gone" }, "limit": 0 };
    run(&engine, rawdoc! { "delete": "c", "$db": "d", "deletes": [gone] }).await;
    insert(20_000..21_500, "there").await;
    let (view, interrupt) = (engine.store.view(), Interrupt::default());
    let collection = collection(&engine).id;
    let records = Sampler { view: &view, collection, interrupt: &interrupt };
    let chosen = records.chosen(1_501).unwrap();
    assert!((900..=1_000).contains(&chosen.len()), "{}", chosen.len());
}
