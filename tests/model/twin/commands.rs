//! Random commands of every kind: reads, writes, batches, retries, transactions.

use super::{filters, pipelines, updates};
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

/// More than there is: the ids of cursors are random.
const BATCH: i32 = 100_000;

/// One client session: its transaction, and its last retryable write.
pub struct Session {
    /// The arrays that overflow, of which each command is about one.
    paths: Vec<&'static str>,
    database: String,
    id: Document,
    number: i64,
    transaction: Option<Transaction>,
    /// What may be sent again.
    last_write: Option<Document>,
}

struct Transaction {
    started: bool,
    left: u32,
}

impl Session {
    pub fn new(paths: Vec<&'static str>, database: &str, seed: u64) -> Session {
        let mut bytes = vec![7; 16];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        let id = Binary { subtype: BinarySubtype::Uuid, bytes };
        let id = doc! { "id": id };
        let database = database.to_owned();
        Session { paths, database, id, number: 0, transaction: None, last_write: None }
    }

    fn path(&self, random: &mut StdRng) -> &'static str {
        self.paths[random.random_range(0..self.paths.len())]
    }

    pub fn next(&mut self, random: &mut StdRng) -> Document {
        if self.transaction.is_some() {
            return self.in_transaction(random);
        }
        match random.random_range(0..100) {
            0..=54 => self.write(random),
            55..=57 => {
                self.transaction =
                    Some(Transaction { started: false, left: random.random_range(1..6) });
                self.number += 1;
                self.in_transaction(random)
            }
            58..=60 => match self.last_write.take() {
                Some(write) => write,
                None => read(self.path(random), random),
            },
            _ => read(self.path(random), random),
        }
    }

    /// A write, at times one that may be sent again.
    fn write(&mut self, random: &mut StdRng) -> Document {
        let mut command = self.any_write(random);
        if random.random_bool(0.2) && is_retryable(&command) {
            self.number += 1;
            command.insert("lsid", &self.id);
            command.insert("txnNumber", self.number);
            self.last_write = Some(command.clone());
        }
        command
    }

    fn any_write(&self, random: &mut StdRng) -> Document {
        match random.random_range(0..16) {
            0 => bulk_write(self.path(random), &self.database, random),
            1 => merge(self.path(random), random),
            _ => write(self.path(random), random),
        }
    }

    /// What ends the transaction that is open, if one is.
    pub fn abort(&self) -> Option<Document> {
        let abort = doc! {
            "abortTransaction": 1, "lsid": &self.id, "txnNumber": self.number, "autocommit": false,
            "$db": "admin",
        };
        self.transaction.as_ref().is_some_and(|it| it.started).then_some(abort)
    }

    fn in_transaction(&mut self, random: &mut StdRng) -> Document {
        let path = self.path(random);
        let Some(transaction) = &mut self.transaction else { return doc! { "ping": 1 } };
        let mut command = match (transaction.left, random.random_bool(0.7)) {
            (0, true) => doc! { "commitTransaction": 1 },
            (0, false) => doc! { "abortTransaction": 1 },
            (_, true) => write(path, random),
            (_, false) => loop {
                let command = read(path, random);
                // A count is none of a transaction's commands.
                if !command.contains_key("count") {
                    break command;
                }
            },
        };
        command.insert("lsid", &self.id);
        command.insert("txnNumber", self.number);
        command.insert("autocommit", false);
        if transaction.left == 0 {
            command.insert("$db", "admin");
            self.transaction = None;
            return command;
        }
        transaction.left -= 1;
        if !transaction.started {
            command.insert("startTransaction", true);
            transaction.started = true;
        }
        command
    }
}

/// Whether a write is of one document a statement.
fn is_retryable(command: &Document) -> bool {
    let many = |list: &str, one: &dyn Fn(&Document) -> bool| {
        let statements = command.get_array(list).into_iter().flatten();
        !statements.filter_map(Bson::as_document).all(one)
    };
    let ops = |it: &Document| !it.get_bool("multi").unwrap_or(false);
    !command.contains_key("aggregate")
        && !many("ops", &ops)
        && !many("updates", &|it| !it.get_bool("multi").unwrap_or(false))
        && !many("deletes", &|it| it.get_i32("limit").is_ok_and(|it| it == 1))
}

fn read(path: &str, random: &mut StdRng) -> Document {
    match random.random_range(0..20) {
        0..=9 => find(path, random),
        10 | 11 => doc! { "count": "c", "query": filters::of_many(path, random) },
        12 => {
            let key = ["k".to_owned(), path.to_owned(), format!("{path}.n")];
            let key = &key[random.random_range(0..3)];
            doc! { "distinct": "c", "key": key, "query": filters::of_many(path, random) }
        }
        _ => {
            let pipeline = pipelines::stages(path, random);
            doc! { "aggregate": "c", "pipeline": pipeline, "cursor": { "batchSize": BATCH } }
        }
    }
}

fn find(path: &str, random: &mut StdRng) -> Document {
    let mut find = doc! { "find": "c", "filter": filters::of_many(path, random) };
    if random.random_bool(0.6) {
        find.insert("projection", pipelines::projection(path, random));
    }
    let sort = match random.random_range(0..6) {
        0 => doc! { format!("{path}.t"): -1, "_id": 1 },
        1 => doc! { "k": -1, "_id": 1 },
        _ => doc! { "_id": 1 },
    };
    find.insert("sort", sort);
    find.insert("batchSize", BATCH);
    if random.random_bool(0.2) {
        find.insert("limit", random.random_range(1..4));
        find.insert("skip", random.random_range(0..2));
    }
    find
}

fn write(path: &str, random: &mut StdRng) -> Document {
    match random.random_range(0..40) {
        0..=5 => {
            let documents: Vec<Document> =
                (0..random.random_range(1..3)).map(|_| updates::document(path, random)).collect();
            doc! { "insert": "c", "documents": documents, "ordered": random.random_bool(0.5) }
        }
        6 => {
            doc! { "delete": "c", "deletes": [{ "q": filters::of_one(path, random), "limit": 1 }] }
        }
        7 if random.random_bool(0.2) => {
            // Events come in the order of the documents.
            let hint = doc! { "$natural": 1 };
            let delete = doc! { "q": filters::of_many(path, random), "limit": 0, "hint": hint };
            doc! { "delete": "c", "deletes": [delete] }
        }
        8..=12 => find_and_modify(path, random),
        _ => {
            let statements: Vec<Document> =
                (0..random.random_range(1..3)).map(|_| statement(path, random)).collect();
            doc! { "update": "c", "updates": statements, "ordered": random.random_bool(0.5) }
        }
    }
}

fn bulk_write(path: &str, database: &str, random: &mut StdRng) -> Document {
    let op = |random: &mut StdRng| match random.random_range(0..5) {
        0 => doc! { "insert": 0, "document": updates::document(path, random) },
        1 => doc! { "delete": 0, "filter": filters::of_one(path, random) },
        _ => {
            let statement = statement(path, random);
            let mut op = doc! { "update": 0 };
            for (key, name) in [
                ("q", "filter"),
                ("u", "updateMods"),
                ("multi", "multi"),
                ("upsert", "upsert"),
                ("hint", "hint"),
                ("arrayFilters", "arrayFilters"),
            ] {
                op.extend(statement.get(key).map(|value| (name.to_owned(), value.clone())));
            }
            op
        }
    };
    let ops: Vec<Document> = (0..random.random_range(1..4)).map(|_| op(random)).collect();
    doc! {
        "bulkWrite": 1, "ops": ops, "nsInfo": [{ "ns": format!("{database}.c") }],
        "ordered": random.random_bool(0.5), "$db": "admin",
    }
}

/// A `$merge` into the collection that it reads.
fn merge(path: &str, random: &mut StdRng) -> Document {
    let n = random.random_range(0..12);
    let made = match random.random_range(0..3) {
        0 => doc! { "$set": { "k": n % 3 } },
        1 => doc! { "$set": { path: { "$slice": [updates::whole(path), n + 1] } } },
        _ => doc! { "$set": { "_id": n % filters::IDS, path: filters::elements(random, 9) } },
    };
    let matched = ["replace", "merge", "keepExisting"][random.random_range(0..3)];
    let pipeline = vec![
        doc! { "$match": filters::of_many(path, random) },
        doc! { "$sort": { "_id": 1 } },
        made,
        doc! { "$merge": { "into": "c", "whenMatched": matched } },
    ];
    doc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} }
}

fn statement(path: &str, random: &mut StdRng) -> Document {
    let (update, array_filters) = updates::update(path, random);
    let is_whole =
        update.as_document().is_some_and(|it| it.keys().all(|key| !key.starts_with('$')));
    let multi = !is_whole && random.random_bool(0.15);
    let filter = match multi {
        true => filters::of_many(path, random),
        false => filters::of_one(path, random),
    };
    let mut statement = doc! { "q": filter, "u": update, "multi": multi };
    if multi {
        // One that fails leaves those behind it: the order counts.
        statement.insert("hint", doc! { "$natural": 1 });
    } else if random.random_bool(0.1) {
        statement.insert("upsert", true);
    }
    if let Some(filters) = array_filters {
        statement.insert("arrayFilters", filters);
    }
    statement
}

fn find_and_modify(path: &str, random: &mut StdRng) -> Document {
    // Of many, the sort says which.
    let (query, sort) = match random.random_range(0..4) {
        0 => (filters::of_many(path, random), doc! { format!("{path}.t"): 1, "_id": 1 }),
        1 => (filters::of_many(path, random), doc! { "_id": -1 }),
        _ => (filters::of_one(path, random), doc! {}),
    };
    let by_id = sort.is_empty();
    let mut command = doc! { "findAndModify": "c", "query": query, "sort": sort };
    if random.random_bool(0.1) {
        command.insert("remove", true);
    } else {
        let (update, array_filters) = updates::update(path, random);
        command.insert("update", update);
        command.insert("new", random.random_bool(0.5));
        // Without an `_id` it would get one of its own.
        command.insert("upsert", by_id && random.random_bool(0.1));
        if let Some(filters) = array_filters {
            command.insert("arrayFilters", filters);
        }
    }
    if random.random_bool(0.3) {
        command.insert("fields", pipelines::projection(path, random));
    }
    command
}
