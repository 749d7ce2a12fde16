//! Reads of arrays, a few of which are long: in one collection they have overflowed, in the
//! other they are plain. And the save of a whole document, as object mappers do it.

use bson::{Document, RawArrayBuf, RawDocumentBuf, doc, rawdoc};
use futures::TryStreamExt as _;
use futures::future::BoxFuture;

use crate::Error;
use crate::lane::Lane;
use crate::site::Site;
use crate::workloads::{Counts, Workload};

const PLAIN: &str = "users";
const GUARDED: &str = "users_guarded";
/// Users, of whom one in a hundred has a long array.
const USERS_MAX: u64 = 20_000;
const LONG_EVERY: u64 = 100;
/// The long arrays have up to so many elements, and two fifths of that at least.
const LONG_MAX: u64 = 50_000;
/// What the others have at the most.
const SHORT_MAX: u64 = 50;
/// What a guarded document keeps of its array.
const HEAD_ELEMENTS: i32 = 1_000;
/// Elements are found by one of so many numbers.
const NUMBERS: u64 = 1_000_000;
/// Where the documents of those begin that read and save whole ones, a document a client.
const WHOLE_FROM: i64 = 1_000_000;
const WHOLE_ELEMENTS: u64 = 5_000;
const SAVED_FROM: i64 = 2_000_000;
/// What one insert sends.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// One workload: what it is called over either collection, and what it does.
macro_rules! read {
    ($name:literal, $guarded:literal, $run:ident) => {
        [
            Workload {
                name: $name,
                help: "a read of a document with an array",
                counts: Counts::Operations,
                costs: false,
                on_demand: true,
                prepare: |site| Box::pin(prepare(site, PLAIN)),
                run: |lane| $run(lane, PLAIN),
            },
            Workload {
                name: $guarded,
                help: "the same where long arrays have overflowed",
                counts: Counts::Operations,
                costs: false,
                on_demand: true,
                prepare: |site| Box::pin(prepare(site, GUARDED)),
                run: |lane| $run(lane, GUARDED),
            },
        ]
    };
}

pub const BY_ELEMENT: [Workload; 2] = read!("by_element", "by_element_guarded", by_element);
pub const COUNT: [Workload; 2] = read!("count", "count_guarded", count);
pub const SIZE: [Workload; 2] = read!("size", "size_guarded", size);
pub const SLICE: [Workload; 2] = read!("slice", "slice_guarded", slice);
pub const LAST: [Workload; 2] = read!("last", "last_guarded", last);
pub const WITHOUT: [Workload; 2] = read!("without", "without_guarded", without);
pub const WHOLE: [Workload; 2] = read!("whole", "whole_guarded", whole);
pub const SAVE: [Workload; 2] = read!("save", "save_guarded", save);

type Run = BoxFuture<'static, Result<Lane, Error>>;

/// Makes a collection, unless an earlier comparison has.
async fn prepare(site: Site, name: &'static str) -> Result<(), Error> {
    let collection = site.collection_with_journal(name, false);
    if collection.estimated_document_count().await? > 0 {
        return Ok(());
    }
    if name == GUARDED {
        let rule = doc! { "max": HEAD_ELEMENTS, "on_limit": "overflow" };
        let policy = doc! { "arrays": { "a": rule } };
        site.database.run_command(doc! { "setGrowthPolicy": name, "policy": policy }).await?;
    }
    let index = doc! { "key": { "a.n": 1 }, "name": "a.n_1" };
    site.database.run_command(doc! { "createIndexes": name, "indexes": [index] }).await?;
    let mut random = 1;
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let clients = 0..site.clients as i64;
    let whole = clients.clone().map(|client| (WHOLE_FROM + client, WHOLE_ELEMENTS));
    let saved = clients.map(|client| (SAVED_FROM + client, long(&site)));
    let users = (0..users(&site)).map(|id| (id as i64, elements_of(&site, id)));
    for (id, elements) in users.chain(whole).chain(saved) {
        let user = user(id, elements, &mut random);
        bytes += user.as_bytes().len();
        batch.push(user);
        if bytes > BATCH_BYTES {
            collection.insert_many(std::mem::take(&mut batch)).await?;
            bytes = 0;
        }
    }
    collection.insert_many(&batch).await?;
    Ok(())
}

fn users(site: &Site) -> u64 {
    site.documents.min(USERS_MAX)
}

fn long(site: &Site) -> u64 {
    site.elements.min(LONG_MAX)
}

fn elements_of(site: &Site, id: u64) -> u64 {
    match id.is_multiple_of(LONG_EVERY) {
        true => long(site) * 2 / 5 + id * 7_919 % (long(site) * 3 / 5).max(1),
        false => id * 7_919 % SHORT_MAX,
    }
}

fn user(id: i64, elements: u64, random: &mut u64) -> RawDocumentBuf {
    let mut array = RawArrayBuf::new();
    (0..elements).for_each(|at| array.push(element(at, random)));
    rawdoc! { "_id": id, "name": format!("user {id}"), "a": array }
}

fn element(at: u64, random: &mut u64) -> RawDocumentBuf {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    rawdoc! { "n": (*random >> 33) as i64 % NUMBERS as i64, "at": at as i64, "kind": "visit" }
}

/// Counts the documents of a find.
fn found(
    mut lane: Lane,
    name: &'static str,
    ask: impl Fn(&mut Lane) -> (Document, Document) + Send + 'static,
) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection(name);
        while let Some(start) = lane.begin() {
            let (filter, projection) = ask(&mut lane);
            let cursor = collection.find(filter).projection(projection).await?;
            let found: Vec<RawDocumentBuf> = cursor.try_collect().await?;
            lane.end(start, found.len() as u64);
        }
        Ok(lane)
    })
}

/// One of the users with a long array.
fn long_user(lane: &mut Lane) -> Document {
    let users = users(&lane.site).div_ceil(LONG_EVERY);
    doc! { "_id": (lane.random(users) * LONG_EVERY) as i64 }
}

fn by_element(lane: Lane, name: &'static str) -> Run {
    let ask = |lane: &mut Lane| (doc! { "a.n": lane.random(NUMBERS) as i64 }, doc! { "name": 1 });
    found(lane, name, ask)
}

fn count(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection(name);
        while let Some(start) = lane.begin() {
            let stages =
                [doc! { "$match": { "a.n": lane.random(NUMBERS) as i64 } }, doc! { "$count": "n" }];
            let cursor = collection.aggregate(stages).await?;
            let counted: Vec<Document> = cursor.try_collect().await?;
            lane.end(start, counted.len() as u64 + 1);
        }
        Ok(lane)
    })
}

fn size(lane: Lane, name: &'static str) -> Run {
    found(lane, name, |lane| (long_user(lane), doc! { "n": { "$size": "$a" } }))
}

fn slice(lane: Lane, name: &'static str) -> Run {
    found(lane, name, |lane| (long_user(lane), doc! { "a": { "$slice": -20 } }))
}

fn last(lane: Lane, name: &'static str) -> Run {
    found(lane, name, |lane| (long_user(lane), doc! { "last": { "$last": "$a" } }))
}

fn without(lane: Lane, name: &'static str) -> Run {
    found(lane, name, |lane| (long_user(lane), doc! { "a": 0 }))
}

fn whole(lane: Lane, name: &'static str) -> Run {
    let own = WHOLE_FROM + lane.number as i64;
    found(lane, name, move |_| (doc! { "_id": own }, doc! {}))
}

/// Appends an element to a whole document and saves that.
fn save(mut lane: Lane, name: &'static str) -> Run {
    Box::pin(async move {
        let collection = lane.site.collection_with_journal(name, false);
        let collection = collection.clone_with_type::<Document>();
        let filter = doc! { "_id": SAVED_FROM + lane.number as i64 };
        let found = collection.find_one(filter.clone()).await?;
        let mut saved = found.unwrap_or_default();
        while let Some(start) = lane.begin() {
            if let Ok(array) = saved.get_array_mut("a") {
                let at = array.len() as i64;
                array.push(doc! { "n": at, "at": at, "kind": "visit" }.into());
            }
            let result = collection.replace_one(filter.clone(), &saved).await?;
            lane.end(start, result.modified_count);
        }
        Ok(lane)
    })
}
