//! The naive backend and the engine: the same statements, patterns and retry records on both,
//! through random histories of write commands. They agree on every reply, and on every document
//! and page at the end.

use bson::{Bson, Document, RawDocumentBuf, doc};
use freeboard_tests::Result;
use freeboard_tests::connection::Connection;
use freeboard_tests::served;
use naive::Memory;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::runtime::Runtime;

const SEEDS: std::ops::Range<u64> = 0..8;
const COMMANDS: usize = 250;
/// Few, so that commands meet the same documents again.
const IDS: std::ops::Range<i32> = 0..9;
/// One in so many commands is sent twice, as a driver does that lost the reply.
const REPEATED: u32 = 4;

#[test]
fn random_commands_are_answered_alike() -> Result<()> {
    naive::stamp::switch_on();
    let served = served::own(|_| {})?;
    for seed in SEEDS {
        let mut random = StdRng::seed_from_u64(seed);
        let read = if seed % 2 == 0 { "merged" } else { "head" };
        let keep = if seed % 4 < 2 { "oldest" } else { "newest" };
        let mut twins = Twins::new(Connection::open(served.address)?, seed, keep, read)?;
        for number in 0..COMMANDS {
            let command = command(&mut random);
            let retryable = random.random_bool(0.5).then_some(number as i64 + 1);
            let times = 1 + u32::from(random.random_ratio(1, REPEATED));
            for _ in 0..times {
                twins.run(&command, retryable)?;
            }
        }
        twins.compare()?;
    }
    Ok(())
}

/// The same collections twice.
struct Twins {
    connection: Connection,
    memory: Memory,
    runtime: Runtime,
    session: bson::Uuid,
    told: String,
}

impl Twins {
    fn new(mut connection: Connection, seed: u64, keep: &str, read: &str) -> Result<Twins> {
        let mut overflow = doc! { "into": "pages", "page": 3, "keep": keep, "read": read };
        if read == "head" {
            overflow.insert("count", "aCount");
        }
        match seed % 3 {
            0 => {}
            1 => overflow.extend(doc! { "total_max": 12, "on_total": "reject" }),
            _ => overflow.extend(doc! { "total_max": 9, "on_total": "drop_oldest" }),
        }
        let policy = doc! {
            "document": { "max_bytes": 600 },
            "arrays": {
                "a": { "max": 4, "on_limit": "overflow", "overflow": overflow },
                "r": { "max": 3, "on_limit": "reject" },
                "d": { "max": 3, "on_limit": "drop_oldest" },
            },
        };
        let stamped = doc! {
            "document": { "warn_bytes": 12_345 },
            "arrays": { "r": { "max": 3, "on_limit": "reject" } },
        };
        // The log of the stamped collection refuses lines after a while.
        let log = doc! { "arrays": { "lines": { "max": 60, "on_limit": "reject" } } };
        let mut memory = Memory::default();
        memory.shows_all = true;
        ask(&mut connection, doc! { "dropDatabase": 1 })?;
        for (collection, policy) in [("c", policy), ("stamped", stamped), ("log", log)] {
            memory.set_policy(collection, &RawDocumentBuf::try_from(&policy)?);
            let set = doc! { "setGrowthPolicy": collection, "policy": policy };
            let reply = ask(&mut connection, set)?;
            assert_eq!(reply.get_f64("ok")?, 1.0, "{reply}");
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let told = format!("seed {seed}, keep {keep}, read {read}");
        Ok(Twins { connection, memory, runtime, session: bson::Uuid::new(), told })
    }

    fn run(&mut self, command: &Document, number: Option<i64>) -> Result<()> {
        let mut sent = command.clone();
        sent.insert("$db", if sent.contains_key("bulkWrite") { "admin" } else { "test" });
        let naive = RawDocumentBuf::try_from(&sent)?;
        let naive = self.runtime.block_on(self.memory.run(&naive, number));
        let naive = match naive {
            Ok(reply) => Document::try_from(reply)?,
            Err(error) => doc! { "code": error.code().number() },
        };
        if let Some(number) = number {
            sent.insert("lsid", doc! { "id": self.session });
            sent.insert("txnNumber", number);
        }
        let engine = self.connection.command(&RawDocumentBuf::try_from(&sent)?)?;
        let engine = Document::try_from(engine)?;
        let told = || format!("{}: {command}, number {number:?}", self.told);
        assert_eq!(essence(naive), essence(engine), "{}", told());
        Ok(())
    }

    /// Every document of both, pages and logs too.
    fn compare(&mut self) -> Result<()> {
        for collection in ["c", "pages", "stamped", "log"] {
            let mut naive: Vec<Document> = Vec::new();
            for document in self.memory.documents(collection) {
                naive.push(Document::try_from(document)?);
            }
            // As they are stored: without a policy nothing is completed.
            if collection == "c" {
                let reply = ask(&mut self.connection, doc! { "verifyGrowth": "c" })?;
                assert!(reply.get_bool("clean")?, "{}: {reply}", self.told);
            }
            let find = doc! { "find": collection, "batchSize": 10_000, "rawData": true };
            let reply = ask(&mut self.connection, find)?;
            let batch = reply.get_document("cursor")?.get_array("firstBatch")?;
            let mut engine: Vec<Document> =
                batch.iter().filter_map(Bson::as_document).cloned().collect();
            let id = |document: &Document| document.get("_id").map(Bson::to_string);
            naive.sort_by_key(id);
            engine.sort_by_key(id);
            assert_eq!(naive, engine, "{}: {collection}", self.told);
        }
        Ok(())
    }
}

fn ask(connection: &mut Connection, mut command: Document) -> Result<Document> {
    command.insert("$db", "test");
    Ok(Document::try_from(connection.command(&RawDocumentBuf::try_from(&command)?)?)?)
}

/// What both must say: not the words of errors, nor what frames a reply.
fn essence(reply: Document) -> Document {
    let mut essence = Document::new();
    for (key, value) in reply {
        match (key.as_str(), value) {
            ("ok" | "errmsg" | "codeName" | "errInfo" | "keyPattern" | "keyValue", _) => {}
            ("$clusterTime" | "operationTime" | "errorLabels", _) => {}
            ("cursor", Bson::Document(cursor)) => {
                let results = cursor.get_array("firstBatch").cloned().unwrap_or_default();
                essence.insert("results", each(results));
            }
            (_, Bson::Array(items)) if key == "writeErrors" || key == "results" => {
                essence.insert(key, each(items));
            }
            (_, value) => {
                essence.insert(key, value);
            }
        }
    }
    essence
}

fn each(items: Vec<Bson>) -> Vec<Bson> {
    let essence = |item| match item {
        Bson::Document(item) => Bson::Document(essence(item)),
        other => other,
    };
    items.into_iter().map(essence).collect()
}

fn command(random: &mut StdRng) -> Document {
    let collection = if random.random_bool(0.75) { "c" } else { "stamped" };
    match random.random_range(0..10) {
        0..=2 => {
            let documents: Vec<_> =
                (0..random.random_range(1..4)).map(|_| document(random)).collect();
            doc! { "insert": collection, "documents": documents, "ordered": random.random_bool(0.5) }
        }
        3..=6 => {
            let updates: Vec<_> = (0..random.random_range(1..3)).map(|_| update(random)).collect();
            doc! { "update": collection, "updates": updates, "ordered": random.random_bool(0.5) }
        }
        7 => doc! { "delete": collection, "deletes": [delete(random)] },
        8 => find_and_modify(random, collection),
        _ => bulk_write(random),
    }
}

fn id(random: &mut StdRng) -> i32 {
    random.random_range(IDS)
}

fn numbers(random: &mut StdRng, most: usize) -> Vec<Bson> {
    let len = random.random_range(0..=most);
    (0..len).map(|_| Bson::Int32(random.random_range(0..20))).collect()
}

fn document(random: &mut StdRng) -> Document {
    let mut document = doc! { "_id": id(random), "n": random.random_range(0..4) };
    for (name, most) in [("a", 9), ("r", 4), ("d", 6), ("x", 3)] {
        if random.random_bool(0.7) {
            document.insert(name, numbers(random, most));
        }
    }
    if random.random_ratio(1, 12) {
        document.insert("pad", "x".repeat(random.random_range(300..700)));
    }
    document
}

fn filter(random: &mut StdRng) -> Document {
    match random.random_range(0..8) {
        0 => doc! { "n": random.random_range(0..4) },
        1 => doc! { "a": random.random_range(0..20) },
        _ => doc! { "_id": id(random) },
    }
}

fn change(random: &mut StdRng) -> Bson {
    let array = ["a", "a", "a", "r", "d", "x"][random.random_range(0..6)];
    let number = random.random_range(0..20);
    let document = match random.random_range(0..14) {
        0..=3 => doc! { "$push": { array: number } },
        4 => doc! { "$push": { array: { "$each": numbers(random, 5) } } },
        5 => doc! { "$push": { array: { "$each": numbers(random, 3), "$position": 0 } } },
        6 => doc! { "$push": { array: { "$each": numbers(random, 3), "$slice": -5 } } },
        7 => doc! { "$pull": { array: { "$gt": number } } },
        8 => doc! { "$pop": { array: if random.random_bool(0.5) { 1 } else { -1 } } },
        9 => doc! { "$addToSet": { array: number }, "$inc": { "n": 1 } },
        10 => doc! { "$set": { array: numbers(random, 8) } },
        11 => doc! { "$unset": { array: 1 }, "$set": { "n": number } },
        12 => return Bson::Array(vec![doc! { "$set": { "m": { "$add": ["$n", 1] } } }.into()]),
        _ => {
            let mut replacement = document(random);
            replacement.remove("_id");
            // Never what is there already: whether that is a change depends on what is loaded.
            replacement.insert("v", random.random::<u32>());
            replacement
        }
    };
    Bson::Document(document)
}

fn update(random: &mut StdRng) -> Document {
    let filter = filter(random);
    let change = change(random);
    let operators =
        change.as_document().is_some_and(|it| it.keys().all(|key| key.starts_with('$')));
    let by_id = filter.get("_id").is_some_and(|id| id.as_i32().is_some());
    let multi = operators && random.random_ratio(1, 6);
    let upsert = by_id && random.random_ratio(1, 3);
    doc! { "q": filter, "u": change, "multi": multi, "upsert": upsert }
}

fn delete(random: &mut StdRng) -> Document {
    doc! { "q": filter(random), "limit": i32::from(random.random_bool(0.8)) }
}

fn find_and_modify(random: &mut StdRng, collection: &str) -> Document {
    let mut command = doc! {
        "findAndModify": collection, "query": { "_id": id(random) }, "sort": { "_id": 1 },
    };
    if random.random_ratio(1, 4) {
        command.insert("remove", true);
    } else {
        command.insert("update", change(random));
        command.insert("new", random.random_bool(0.5));
        command.insert("upsert", random.random_ratio(1, 4));
    }
    match random.random_range(0..3) {
        0 => command.insert("fields", doc! { "a": { "$slice": random.random_range(-4..5) } }),
        1 => command.insert("fields", doc! { "n": 1, "r": 1 }),
        _ => None,
    };
    command
}

fn bulk_write(random: &mut StdRng) -> Document {
    let mut ops = Vec::new();
    for _ in 0..random.random_range(1..5) {
        let namespace = i32::from(random.random_ratio(1, 4));
        ops.push(match random.random_range(0..4) {
            0 | 1 => doc! { "insert": namespace, "document": document(random) },
            2 => doc! {
                "update": namespace, "filter": { "_id": id(random) }, "updateMods": change(random),
                "upsert": random.random_bool(0.3),
            },
            _ => doc! { "delete": namespace, "filter": { "_id": id(random) } },
        });
    }
    doc! {
        "bulkWrite": 1, "ops": ops, "ordered": random.random_bool(0.5),
        "nsInfo": [{ "ns": "test.c" }, { "ns": "test.stamped" }],
    }
}
