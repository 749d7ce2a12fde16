//! Random writes of single documents, each one commit.

use bson::{Document, doc};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;

/// Beyond this there are deletes rather than inserts.
const DOCUMENTS_MAX: usize = 60;
/// Larger values than the engine keeps within a record; the largest have index keys that the
/// trees cannot hold whole.
const LARGE_BYTES: std::ops::Range<usize> = 17_000..90_000;

/// A write, and what it makes of its document.
pub struct Step {
    pub command: Document,
    pub id: i64,
    pub after: Option<Document>,
}

/// The next write to a collection that holds these documents. Ids are taken from
/// `first` on.
pub fn step<'a>(
    collection: &str,
    there: impl Iterator<Item = (i64, &'a Document)>,
    first: i64,
    random: &mut StdRng,
) -> Step {
    let there: Vec<_> = there.collect();
    let choice = random.random_range(0..10);
    match there.iter().choose(random) {
        Some((id, before)) if choice < 4 => update(collection, *id, before, random),
        Some((id, _)) if choice < 6 || there.len() >= DOCUMENTS_MAX => {
            let delete = doc! { "q": { "_id": id }, "limit": 1 };
            Step {
                command: doc! { "delete": collection, "deletes": [delete] },
                id: *id,
                after: None,
            }
        }
        _ => {
            let id = there.iter().map(|(id, _)| id + 1).max().unwrap_or(first);
            let document = document(id, random);
            let command = doc! { "insert": collection, "documents": [document.clone()] };
            Step { command, id, after: Some(document) }
        }
    }
}

fn update(collection: &str, id: i64, before: &Document, random: &mut StdRng) -> Step {
    let mut set = doc! { "n": random.random_range(0..100) };
    if random.random_ratio(1, 4) {
        set.insert("large", text(random));
    }
    let mut after = before.clone();
    after.extend(set.clone());
    let update = doc! { "q": { "_id": id }, "u": { "$set": set } };
    let command = doc! { "update": collection, "updates": [update] };
    Step { command, id, after: Some(after) }
}

pub fn document(id: i64, random: &mut StdRng) -> Document {
    let tags: Vec<i32> = (0..random.random_range(0..4)).collect();
    let mut document = doc! { "_id": id, "n": random.random_range(0..100), "u": id, "tags": tags };
    if random.random_ratio(1, 5) {
        document.insert("large", text(random));
    }
    document
}

fn text(random: &mut StdRng) -> String {
    let mark = format!("{:08x} ", random.random::<u32>());
    mark.repeat(random.random_range(LARGE_BYTES) / mark.len())
}

/// The indexes that the collections of these tests have.
pub fn indexes(collection: &str) -> Document {
    let number = doc! { "name": "n", "key": { "n": 1 } };
    let unique = doc! { "name": "u", "key": { "u": 1 }, "unique": true };
    let tags = doc! { "name": "tags", "key": { "tags": 1, "n": -1 } };
    let large = doc! { "name": "large", "key": { "large": 1, "n": 1 }, "sparse": true };
    doc! { "createIndexes": collection, "indexes": [number, unique, tags, large] }
}
