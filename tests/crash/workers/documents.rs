//! Documents are inserted, updated, replaced and deleted, one or many at a time, some
//! of them with large values. The workers share a collection; each has its own ids.

use super::DATABASE;
use crate::connection::{Answer, Connection};
use crate::ledger::{Ledger, Write};
use crate::load::Worker;
use bson::{Bson, Document, doc};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;

pub const COLLECTION: &str = "documents";
/// Beyond this a worker deletes rather than inserts.
const DOCUMENTS_MAX: usize = 400;
const MANY_MAX: usize = 20;
/// Larger values than the engine keeps within a record.
const LARGE_BYTES: std::ops::Range<usize> = 17_000..400_000;

pub struct Documents {
    worker: i64,
    next: i64,
    ledger: Ledger,
}

impl Documents {
    pub fn new(worker: i64) -> Documents {
        Documents { worker, next: worker << 32, ledger: Ledger::default() }
    }

    fn document(&mut self, random: &mut StdRng) -> Document {
        self.next += 1;
        self.document_with_id(self.next, random)
    }

    fn document_with_id(&self, id: i64, random: &mut StdRng) -> Document {
        let tags: Vec<i32> = (0..random.random_range(0..4)).map(|tag| tag * 7).collect();
        let mut document = doc! {
            "_id": id,
            "worker": self.worker,
            "unique": id * 2,
            "number": random.random_range(0..1000),
            "tags": tags,
            "text": "y".repeat(random.random_range(0..300)),
        };
        if random.random_ratio(1, 15) {
            document.insert("large", large(random));
        }
        document
    }

    fn run(&mut self, write: Write, command: Document, connection: &mut Connection) -> Answer<()> {
        self.ledger.begin(write);
        connection.run(DATABASE, command)?;
        self.ledger.acknowledge();
        Ok(())
    }

    /// Some of the worker's documents.
    fn some(&self, most: usize, random: &mut StdRng) -> Vec<i64> {
        self.ledger.known().keys().map(|(_, id)| *id).choose_multiple(random, most)
    }

    fn insert(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let many = if random.random() { 1 } else { random.random_range(1..MANY_MAX) };
        let documents: Vec<_> = (0..many).map(|_| self.document(random)).collect();
        let changes = documents.iter().map(|one| (one.get_i64("_id").unwrap(), Some(one.clone())));
        let write = write(changes);
        // What is not synced survives the process, too.
        let concern = doc! { "w": 1, "j": random.random_bool(0.8) };
        let command =
            doc! { "insert": COLLECTION, "documents": documents, "writeConcern": concern };
        self.run(write, command, connection)
    }

    /// Changes fields of some documents, in one command.
    fn update(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let many = if random.random() { 1 } else { MANY_MAX };
        let ids = self.some(many, random);
        let mut set = doc! { "number": random.random_range(0..1000) };
        if random.random_ratio(1, 4) {
            set.insert("tags", vec![random.random_range(0..100); 2]);
        }
        if ids.len() == 1 && random.random_ratio(1, 4) {
            set.insert("large", large(random));
        }
        let after = |id: &i64| {
            let mut document = self.ledger.known()[&(COLLECTION, *id)].clone();
            document.extend(set.clone());
            (*id, Some(document))
        };
        let write = write(ids.iter().map(after));
        let query = doc! { "_id": { "$in": ids } };
        let update = doc! { "q": query, "u": { "$set": set }, "multi": true };
        let command = doc! { "update": COLLECTION, "updates": [update] };
        self.run(write, command, connection)
    }

    fn replace(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let Some(id) = self.some(1, random).pop() else { return Ok(()) };
        let document = self.document_with_id(id, random);
        let write = write([(id, Some(document.clone()))]);
        let command =
            doc! { "findAndModify": COLLECTION, "query": { "_id": id }, "update": document };
        self.run(write, command, connection)
    }

    fn delete(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let many = if random.random() { 1 } else { MANY_MAX };
        let ids = self.some(many, random);
        let write = write(ids.iter().map(|id| (*id, None)));
        let delete = doc! { "q": { "_id": { "$in": ids } }, "limit": 0 };
        let command = doc! { "delete": COLLECTION, "deletes": [delete] };
        self.run(write, command, connection)
    }
}

/// A text that tells where it was cut or exchanged.
fn large(random: &mut StdRng) -> Bson {
    let bytes = random.random_range(LARGE_BYTES);
    let mark = format!("{:08x} ", random.random::<u32>());
    Bson::String(mark.repeat(bytes / mark.len()))
}

fn write(changes: impl IntoIterator<Item = (i64, Option<Document>)>) -> Write {
    let changes = changes.into_iter().map(|(id, document)| ((COLLECTION, id), document)).collect();
    Write { changes, whole: false }
}

impl Worker for Documents {
    fn name(&self) -> &'static str {
        "documents"
    }

    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()> {
        let full = self.ledger.known().len() >= DOCUMENTS_MAX;
        match random.random_range(0..10) {
            0..4 if !full => self.insert(connection, random),
            0..6 => self.update(connection, random),
            6..8 => self.replace(connection, random),
            _ => self.delete(connection, random),
        }
    }

    fn check(&mut self, connection: &mut Connection) {
        let found = connection.all(DATABASE, COLLECTION);
        let mine = found.into_iter().filter(|one| one.get_i64("worker").unwrap() == self.worker);
        let place = |document: Document| ((COLLECTION, document.get_i64("_id").unwrap()), document);
        self.ledger.check(mine.map(place).collect());
    }
}
