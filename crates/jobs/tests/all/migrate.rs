//! Documents brought into bounds, and verified, while others write to them.

use crate::place::Place;
use bson::{Bson, Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};
use freeboard_jobs::{Migrate, Migrated, Pace, Verified, Verify};
use futures::TryStreamExt;
use mongodb::Collection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn policy(max: i32) -> Document {
    let overflow = doc! {
        "into": "p", "read": "head", "count": "aCount", "flag": "aHasOverflow",
        "pages": "aOverflowPages",
    };
    doc! { "arrays": { "a": { "max": max, "on_limit": "overflow", "overflow": overflow } } }
}

async fn set(place: &Place, policy: &Document) -> Document {
    let command = doc! { "setGrowthPolicy": "c", "policy": policy.clone() };
    place.client.database("d").run_command(command).await.unwrap()
}

async fn migrate(place: &Place, policy: &Document, batch: u32, dry_run: bool) -> Migrated {
    let policies = [("c".to_owned(), policy.clone())];
    let (uri, pace) = (&*place.uri, Pace::Full);
    let migrate = Migrate { uri, database: "d", policies: &policies, batch, pace, dry_run };
    migrate.run().await.unwrap()
}

async fn verify(place: &Place, repair: bool) -> Vec<Verified> {
    let (uri, database) = (&*place.uri, None);
    Verify { uri, database, repair }.run().await.unwrap()
}

/// The numbers in a document's array, head and pages in order; and the document.
async fn sequence(place: &Place, id: i32) -> (Vec<i32>, Document) {
    let documents: Collection<Document> = place.client.database("d").collection("c");
    let document = documents.find_one(doc! { "_id": id }).await.unwrap().unwrap();
    let numbers = |document: &Document| -> Vec<i32> {
        let items = document.get_array("a").unwrap().iter();
        items.map(|item| item.as_document().unwrap().get_i32("n").unwrap()).collect()
    };
    let mut all = numbers(&document);
    let pages: Collection<Document> = place.client.database("d").collection("p");
    let mut pages = pages.find(doc! { "parentId": id }).sort(doc! { "page": 1 }).await.unwrap();
    while let Some(page) = pages.try_next().await.unwrap() {
        assert_eq!(page.get_i32("count").unwrap() as usize, numbers(&page).len());
        all.extend(numbers(&page));
    }
    (all, document)
}

fn filled(id: i32, elements: i32, bytes: usize) -> RawDocumentBuf {
    let filler = "x".repeat(bytes);
    let items = (0..elements).map(|n| rawdoc! { "n": n, "filler": filler.as_str() });
    rawdoc! { "_id": id, "a": items.collect::<RawArrayBuf>(), "name": "Ann" }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_at_the_wall_comes_out_whole_and_writable() {
    let place = Place::new().await;
    let documents = place.collection("c");
    let full = filled(1, 40_000, 372);
    assert!((15_800_000..16_777_216).contains(&full.as_bytes().len()));
    documents.insert_one(&full).await.unwrap();
    let large = doc! { "$push": { "a": { "n": 40_000, "filler": "x".repeat(1_000_000) } } };
    documents.update_one(doc! { "_id": 1 }, large.clone()).await.unwrap_err();
    let policy = policy(1_000);
    assert_eq!(set(&place, &policy).await.get_i32("oversize").unwrap(), 1);
    let migrated = migrate(&place, &policy, 10, false).await;
    let moved = &migrated.collections[0];
    assert_eq!((moved.documents, moved.elements, moved.failures), (1, 39_000, 0));
    assert!(moved.verified.as_ref().unwrap().is_clean());
    assert_eq!(moved.verified.as_ref().unwrap().elements, 40_000);
    documents.update_one(doc! { "_id": 1 }, large).await.unwrap();
    documents.update_one(doc! { "_id": 1 }, doc! { "$set": { "name": "Bea" } }).await.unwrap();
    let (numbers, document) = sequence(&place, 1).await;
    assert_eq!(numbers, (0..=40_000).collect::<Vec<_>>());
    assert_eq!(document.get_i32("aCount").unwrap(), 40_001);
    assert_eq!(document.get_str("name").unwrap(), "Bea");
    assert_eq!(document.get_array("a").unwrap().len(), 1_000);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_push_while_their_documents_move() {
    const DOCUMENTS: i32 = 6;
    const ELEMENTS: i32 = 1_500;
    const PUSHERS: i32 = 4;
    let place = Place::new().await;
    for id in 0..DOCUMENTS {
        place.collection("c").insert_one(filled(id, ELEMENTS, 20)).await.unwrap();
    }
    let policy = policy(100);
    set(&place, &policy).await;
    let stop = Arc::new(AtomicBool::new(false));
    let pushers: Vec<_> = (0..PUSHERS)
        .map(|pusher| {
            let (documents, stop) = (place.collection("c"), stop.clone());
            tokio::spawn(async move {
                let mut pushed = 0;
                // Some before, some while, some after.
                while !stop.load(Ordering::Relaxed) || pushed < 50 {
                    let number = ELEMENTS + pushed * PUSHERS + pusher;
                    let filter = doc! { "_id": pushed % DOCUMENTS };
                    let update = doc! { "$push": { "a": { "n": number } } };
                    let updated = documents.update_one(filter, update).await.unwrap();
                    assert_eq!(updated.modified_count, 1);
                    pushed += 1;
                }
                pushed
            })
        })
        .collect();
    let migrated = migrate(&place, &policy, 1, false).await;
    stop.store(true, Ordering::Relaxed);
    assert_eq!(migrated.collections[0].failed, Vec::<String>::new());
    let mut expected: Vec<Vec<i32>> = vec![Vec::new(); DOCUMENTS as usize];
    for (pusher, pushed) in (0..PUSHERS).zip(pushers) {
        for number in 0..pushed.await.unwrap() {
            let pushed = ELEMENTS + number * PUSHERS + pusher;
            expected[(number % DOCUMENTS) as usize].push(pushed);
        }
    }
    for id in 0..DOCUMENTS {
        let (numbers, document) = sequence(&place, id).await;
        let (old, mut new) = (&numbers[..ELEMENTS as usize], numbers[ELEMENTS as usize..].to_vec());
        assert_eq!(old, (0..ELEMENTS).collect::<Vec<_>>());
        new.sort_unstable();
        expected[id as usize].sort_unstable();
        assert_eq!(new, expected[id as usize]);
        assert_eq!(document.get_i32("aCount").unwrap() as usize, numbers.len());
        assert_eq!(document.get_array("a").unwrap().len(), 100);
    }
    assert!(verify(&place, false).await.iter().all(Verified::is_clean));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_and_a_migration_meet_on_one_document() {
    let place = Place::new().await;
    let database = place.client.database("d");
    for round in 0..12 {
        let name = format!("c{round}");
        let documents = place.collection(&name);
        documents.insert_one(filled(1, 800, 20)).await.unwrap();
        let overflow = doc! { "elements": format!("{name}_a_all") };
        let rule = doc! { "max": 50, "on_limit": "overflow", "overflow": overflow };
        let policy = doc! { "arrays": { "a": rule } };
        let set = doc! { "setGrowthPolicy": &name, "policy": policy };
        database.run_command(set).await.unwrap();
        let migration = {
            let (database, name) = (database.clone(), name.clone());
            tokio::spawn(async move { database.run_command(doc! { "migrateGrowth": name }).await })
        };
        let pushes: Vec<_> = (800..804)
            .map(|n| {
                let documents = documents.clone();
                let update = doc! { "$push": { "a": { "n": n } }, "$inc": { "pushes": 1 } };
                tokio::spawn(async move { documents.update_one(doc! { "_id": 1 }, update).await })
            })
            .collect();
        let migrated = migration.await.unwrap().unwrap();
        assert_eq!(migrated.get_i32("failures").unwrap(), 0, "{migrated}");
        for push in pushes {
            assert_eq!(push.await.unwrap().unwrap().modified_count, 1);
        }
        let view: Collection<Document> = database.collection(&format!("{name}_a_all"));
        let items = view.find(doc! {}).sort(doc! { "page": 1, "at": 1 }).await.unwrap();
        let items: Vec<Document> = items.try_collect().await.unwrap();
        let mut numbers: Vec<i32> =
            items.iter().map(|it| it.get_document("item").unwrap().get_i32("n").unwrap()).collect();
        numbers[800..].sort_unstable();
        assert_eq!(numbers, (0..804).collect::<Vec<_>>());
        let verified = database.run_command(doc! { "verifyGrowth": &name }).await.unwrap();
        assert!(verified.get_bool("clean").unwrap(), "{verified}");
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_tells_and_changes_nothing() {
    let place = Place::new().await;
    for id in 0..5 {
        place.collection("c").insert_one(filled(id, 10 * id, 20)).await.unwrap();
    }
    let mut policy = policy(15);
    policy.get_document_mut("arrays").unwrap().insert("tags", doc! { "max": 1 });
    let tags = doc! { "$set": { "tags": [1, 2] } };
    place.collection("c").update_one(doc! { "_id": 0 }, tags).await.unwrap();
    // No policy is set yet.
    let migrated = migrate(&place, &policy, 1, true).await;
    let moved = &migrated.collections[0];
    assert_eq!((moved.examined, moved.documents, moved.elements, moved.pages), (5, 3, 45, 4));
    assert_eq!(moved.still_over, 1);
    assert_eq!(moved.over, ["document 0: the array 'tags' has 2 elements and 19 bytes"]);
    let policies = place.client.database("d").run_command(doc! { "listGrowthPolicies": 1 }).await;
    assert_eq!(policies.unwrap().get_array("policies").unwrap(), &Vec::<Bson>::new());
    assert_eq!(sequence(&place, 4).await.0.len(), 40);
    set(&place, &policy).await;
    let done = migrate(&place, &policy, 1, false).await;
    let done = &done.collections[0];
    let figures = |it: &freeboard_jobs::Moved| (it.documents, it.elements, it.pages, it.bytes);
    assert_eq!(figures(done), figures(moved));
    assert_eq!(verify(&place, true).await[0].over, moved.over);
    place.stop().await;
}

/// What a dry run says is what is done, be documents older than the policy or split already.
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_tells_what_is_done() {
    let place = Place::new().await;
    let rule = |keep: &str, max: i32, page: i32| {
        doc! { "document": { "max_bytes": 2_000 }, "arrays": { "a": {
            "max": max, "on_limit": "overflow", "overflow": { "page": page, "keep": keep },
        } } }
    };
    for (round, keep) in ["oldest", "newest"].into_iter().enumerate() {
        let name = format!("c{round}");
        let collection = place.collection(&name);
        collection.insert_many((0..10).map(|id| filled(id, 12 * id, 20))).await.unwrap();
        let bad =
            bson::rawdoc! { "_id": 100, "n": "text", "a": (0..200).collect::<bson::RawArrayBuf>() };
        collection.insert_one(bad).await.unwrap();
        let validator =
            doc! { "collMod": &name, "validator": { "n": { "$not": { "$type": "string" } } } };
        place.client.database("d").run_command(validator).await.unwrap();
        for policy in [rule(keep, 40, 30), rule(keep, 40, 7), rule(keep, 9, 7), rule(keep, 9, 6)] {
            let policies = [(name.clone(), policy.clone())];
            let run = |dry_run| {
                let (uri, policies) = (place.uri.clone(), policies.clone());
                async move {
                    let migrate = Migrate {
                        uri: &uri,
                        database: "d",
                        policies: &policies,
                        batch: 3,
                        pace: Pace::Full,
                        dry_run,
                    };
                    migrate.run().await.unwrap().collections.remove(0)
                }
            };
            let told = run(true).await;
            let set = doc! { "setGrowthPolicy": &name, "policy": policy };
            place.client.database("d").run_command(set).await.unwrap();
            let done = run(false).await;
            let figures = |it: &freeboard_jobs::Moved| {
                (it.documents, it.elements, it.pages, it.bytes, it.still_over, it.failed.clone())
            };
            assert_eq!(figures(&told), figures(&done), "{policies:?}");
            assert_eq!(told.failures, 1);
            assert_eq!(run(true).await.documents, 0);
        }
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_counts_the_index_entries_that_dominate() {
    let place = Place::new().await;
    place.collection("c").insert_one(filled(1, 500, 1)).await.unwrap();
    let policy = policy(100);
    let entries = async || migrate(&place, &policy, 10, true).await.collections[0].entries;
    // Of each page its own index alone.
    let plain = entries().await;
    assert!(plain > 0 && plain < 20, "{plain}");
    let index = doc! { "key": { "a.n": 1 }, "name": "n" };
    let make = doc! { "createIndexes": "c", "indexes": [index] };
    place.client.database("d").run_command(make).await.unwrap();
    // 400 elements leave the index of the collection, and come into its mirror.
    assert_eq!(entries().await, plain + 800);
    // The same once the policy is set, and nothing after the migration.
    set(&place, &policy).await;
    assert_eq!(entries().await, plain + 800);
    migrate(&place, &policy, 10, false).await;
    assert_eq!(entries().await, 0);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_is_not_verified() {
    let place = Place::new().await;
    let verify = |database| Verify { uri: &place.uri, database: Some(database), repair: false };
    let error = verify("typo").run().await.unwrap_err().to_string();
    assert!(error.starts_with("there is no database typo"), "{error}");
    place.collection("c").insert_one(rawdoc! { "_id": 1 }).await.unwrap();
    assert_eq!(verify("d").run().await.unwrap(), []);
    place.stop().await;
}
