//! Indexes are built and dropped while others write to their collection.

use super::{DATABASE, documents};
use crate::connection::{Answer, Connection};
use crate::load::Worker;
use bson::{Document, doc};
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::BTreeSet;

const COLLECTION: &str = documents::COLLECTION;
const NAMES: [&str; 5] = ["number", "tags", "unique", "compound", "partial"];

#[derive(Default)]
pub struct Indexes {
    known: BTreeSet<&'static str>,
    /// The index that is being built or dropped.
    pending: Option<&'static str>,
}

fn spec(name: &str) -> Document {
    match name {
        "number" => doc! { "name": name, "key": { "number": 1 } },
        "tags" => doc! { "name": name, "key": { "tags": 1 } },
        "unique" => doc! { "name": name, "key": { "unique": 1 }, "unique": true },
        "compound" => doc! { "name": name, "key": { "worker": 1, "tags": -1, "text": 1 } },
        "partial" => {
            let filter = doc! { "number": { "$gt": 500 } };
            doc! { "name": name, "key": { "text": 1 }, "partialFilterExpression": filter }
        }
        _ => panic!("no index {name}"),
    }
}

impl Worker for Indexes {
    fn name(&self) -> &'static str {
        "indexes"
    }

    fn prepare(&mut self, connection: &mut Connection) {
        connection.run(DATABASE, doc! { "create": COLLECTION }).unwrap();
    }

    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let name = NAMES[random.random_range(0..NAMES.len())];
        self.pending = Some(name);
        if self.known.contains(name) {
            connection.run(DATABASE, doc! { "dropIndexes": COLLECTION, "index": name })?;
            self.known.remove(name);
        } else {
            let create = doc! { "createIndexes": COLLECTION, "indexes": [spec(name)] };
            connection.run(DATABASE, create)?;
            self.known.insert(name);
        }
        self.pending = None;
        Ok(())
    }

    fn check(&mut self, connection: &mut Connection) {
        let found = connection.names(DATABASE, doc! { "listIndexes": COLLECTION });
        let pending = self.pending.take();
        for name in NAMES {
            let there = found.iter().any(|found| found == name);
            let known = self.known.contains(name);
            assert!(there == known || pending == Some(name), "index {name}: {found:?}");
            if there {
                self.known.insert(name);
            } else {
                self.known.remove(name);
            }
        }
        assert_eq!(found.len(), self.known.len() + 1, "{found:?}");
    }
}
