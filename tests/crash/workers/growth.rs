//! Documents of every size, whose arrays grow and shrink under a policy that changes:
//! the figures of growth are those of a recount.

use super::DATABASE;
use crate::connection::{Answer, Connection};
use crate::load::Worker;
use crate::recount;
use bson::{Bson, Document, doc};
use rand::Rng;
use rand::rngs::StdRng;

const COLLECTION: &str = "growth";
/// More than are kept as the largest.
const DOCUMENTS: i32 = 400;
/// Numbers enough for an array out of line.
const LONG: i32 = 3_000;

#[derive(Default)]
pub struct Growth;

impl Worker for Growth {
    fn name(&self) -> &'static str {
        COLLECTION
    }

    fn prepare(&mut self, connection: &mut Connection) {
        connection.run(DATABASE, policy(0)).unwrap();
    }

    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let id = random.random_range(0..DOCUMENTS);
        let update = |change: Document| {
            doc! { "update": COLLECTION, "updates": [{ "q": { "_id": id }, "u": change }] }
        };
        let command = match random.random_range(0..100) {
            0 => policy(random.random_range(0..2)),
            1..40 => doc! {
                "update": COLLECTION,
                "updates": [{ "q": { "_id": id }, "u": document(id, random), "upsert": true }],
            },
            40..55 => update(doc! { "$push": { "few": 1, "log": { "$each": [1, 2] } } }),
            55..65 => update(doc! { "$push": { "long": { "$each": numbers(random, 50) } } }),
            65..75 => update(doc! { "$push": { "inner.$[].x": 1 } }),
            75..80 => update(doc! { "$pop": { "few": 1, "log": 1 } }),
            80..85 => update(doc! { "$unset": { "long": 1, "pad": 1 } }),
            85..90 => update(doc! { "$set": { "n": 1 } }),
            _ => {
                doc! { "delete": COLLECTION, "deletes": [{ "q": { "_id": id }, "limit": 1 }] }
            }
        };
        // A document may lack what an update is about, or have pages that are in the way.
        connection.send(DATABASE, command).map(|_| ())
    }

    fn check(&mut self, connection: &mut Connection) {
        recount::check(connection, DATABASE, COLLECTION);
    }
}

fn policy(number: i32) -> Document {
    // Documents are measured as they are stored, and so they are read.
    let overflow = doc! { "page": 4, "read": "head", "count": "logCount" };
    let mut arrays = doc! {
        "log": { "max": 3, "on_limit": "overflow", "overflow": overflow },
        "long": { "max": 100_000 },
    };
    if number == 0 {
        arrays.insert("few", doc! { "max": 20, "on_limit": "drop_oldest" });
        arrays.insert("inner.x", doc! { "max": 1_000 });
    }
    let policy = doc! { "document": { "max_bytes": "1MB" }, "arrays": arrays };
    doc! { "setGrowthPolicy": COLLECTION, "policy": policy }
}

fn document(id: i32, random: &mut StdRng) -> Document {
    let mut document = doc! { "_id": id, "few": numbers(random, 25), "log": numbers(random, 9) };
    let inner =
        (0..random.random_range(0..3)).map(|_| Bson::from(doc! { "x": numbers(random, 5) }));
    document.insert("inner", inner.collect::<Vec<_>>());
    if random.random_bool(0.2) {
        document.insert("long", numbers(random, LONG));
    }
    if random.random_bool(0.2) {
        document.insert("pad", "x".repeat(random.random_range(0..40_000)));
    }
    document
}

/// Fewer than so many numbers.
fn numbers(random: &mut StdRng, most: i32) -> Vec<Bson> {
    (0..random.random_range(0..most)).map(Bson::from).collect()
}
