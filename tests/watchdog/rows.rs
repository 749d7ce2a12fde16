//! What is heavy or hostile: a row a request.

use crate::frames::{Client, Frame, command, compressed, exhaust};
use bson::oid::ObjectId;
use bson::{Bson, Decimal128, Document, doc};
use freeboard_tests::process::Process;

pub struct Row {
    pub name: &'static str,
    pub frames: fn() -> Vec<Frame>,
    /// It has an end of its own and is to reach it: a change of definition.
    pub goes_on: bool,
}

const fn row(name: &'static str, frames: fn() -> Vec<Frame>) -> Row {
    Row { name, frames, goes_on: false }
}

pub fn all() -> Vec<Row> {
    vec![
        row("aggregate", || one(aggregate(vec![doc! { "$set": { "x": slow() } }]))),
        row("aggregate a constant", || one(aggregate(vec![doc! { "$set": { "x": constant() } }]))),
        row("$all of many against many", || {
            one(find(doc! { "_id": 1, "numbers": { "$all": numbers(60_000, 1_000_000) } }))
        }),
        row("$and of many ranges", || {
            let ranges: Vec<_> = (0..60_000).map(|at| doc! { "_id": { "$gt": at } }).collect();
            one(find(doc! { "$and": ranges }))
        }),
        row("bulkWrite", || {
            let update = doc! { "update": 0, "filter": { "_id": 1 }, "updateMods": set(slow()) };
            one(
                doc! { "bulkWrite": 1, "ops": [update], "nsInfo": [{ "ns": "watchdog.heavy" }], "$db": "admin" },
            )
        }),
        row("compressed documents", || {
            let body = doc! { "ping": 1, "$db": "admin", "a": vec![Bson::Null; 3_000_000] };
            vec![compressed(body); 20]
        }),
        row("compressed text", || {
            let body = doc! { "ping": 1, "$db": "admin", "a": "a".repeat(47_000_000) };
            vec![compressed(body); 20]
        }),
        row("count", || one(doc! { "count": "heavy", "query": expr(), "$db": "watchdog" })),
        row("createIndexes of too many", || {
            let index = |at| doc! { "key": { format!("f{at}"): 1 }, "name": format!("n{at}") };
            let indexes: Vec<_> = (0..12_000).map(index).collect();
            one(doc! { "createIndexes": "heavy", "indexes": indexes, "$db": "watchdog" })
        }),
        row("cross join", || {
            let join = doc! { "$lookup": { "from": "many", "pipeline": [], "as": "x" } };
            let unwind = doc! { "$unwind": "$x" };
            let stages = [join.clone(), unwind.clone(), join, unwind, doc! { "$count": "n" }];
            one(
                doc! { "aggregate": "many", "pipeline": stages.to_vec(), "cursor": {}, "$db": "watchdog" },
            )
        }),
        row("currentOp", || {
            let mut look = doc! { "currentOp": 1, "$db": "admin" };
            look.extend(expr());
            one(look)
        }),
        row("delete", || {
            one(
                doc! { "delete": "heavy", "deletes": [{ "q": expr(), "limit": 1 }], "$db": "watchdog" },
            )
        }),
        row("distinct", || {
            one(doc! { "distinct": "heavy", "key": "_id", "query": expr(), "$db": "watchdog" })
        }),
        row("distinct by places and names", || {
            let key = format!("a{}", ".0".repeat(2 * NESTED));
            one(doc! { "distinct": "nested", "key": key, "$db": "watchdog" })
        }),
        row("dropGrowthPolicy with restore", || {
            one(doc! { "dropGrowthPolicy": "left", "restore": true, "$db": "watchdog" })
        }),
        row("explain", || {
            one(doc! { "explain": find(expr()), "verbosity": "executionStats", "$db": "watchdog" })
        }),
        row("find", || one(find(expr()))),
        row("find by _id", || one(find(doc! { "_id": 1, "$expr": { "$eq": [slow(), 1] } }))),
        row("find with a constant", || {
            one(find(doc! { "_id": 1, "$expr": { "$eq": [constant(), 1] } }))
        }),
        row("find with a projection", || {
            one(with(find(doc! { "_id": 1 }), "projection", doc! { "x": slow() }))
        }),
        row("find with let", || {
            one(with(find(doc! { "_id": 1 }), "let", doc! { "x": constant() }))
        }),
        row("findAndModify", || {
            one(doc! {
                "findAndModify": "heavy", "query": { "_id": 1 }, "update": set(slow()),
                "$db": "watchdog",
            })
        }),
        row("$graphLookup", || {
            let walk = doc! { "$graphLookup": {
                "from": "many", "startWith": "$n", "connectFromField": "n", "connectToField": "m",
                "as": "x",
            } };
            one(doc! { "aggregate": "many", "pipeline": [walk], "cursor": {}, "$db": "watchdog" })
        }),
        row("$group", || {
            let group = doc! { "$group": { "_id": "$n", "all": { "$push": "$$ROOT" } } };
            let stages =
                vec![doc! { "$unwind": "$numbers" }, doc! { "$set": { "n": "$numbers" } }, group];
            one(aggregate(stages))
        }),
        row("hello of a stranger that streams", || vec![exhaust(stranger(10_000), false)]),
        row("hello of a stranger that streams to nobody", || vec![exhaust(stranger(10_000), true)]),
        row("hello that waits for nothing", || vec![exhaust(stranger(0), false)]),
        Row {
            name: "index build",
            frames: || {
                let index = doc! { "key": { "$**": 1 }, "name": "all" };
                one(doc! { "createIndexes": "built", "indexes": [index], "$db": "watchdog" })
            },
            goes_on: true,
        },
        row("$in of many", || {
            one(find(doc! { "numbers": { "$in": numbers(1_000_000, 1_000_000) } }))
        }),
        row("insert of many", || {
            let documents: Vec<_> = (0..100_000).map(|at| doc! { "n": at }).collect();
            one(doc! { "insert": "inserted", "documents": documents, "$db": "watchdog" })
        }),
        row("insert under a validator", || {
            one(
                doc! { "insert": "validated", "documents": [{ "numbers": numbers(1_000, 0) }], "$db": "watchdog" },
            )
        }),
        row("$or of many", || {
            let branches: Vec<_> =
                (0..50_000).map(|at| doc! { "n": at, "m": { "$gt": at } }).collect();
            one(find(doc! { "$or": branches }))
        }),
        row("patternProperties", || {
            let patterns: Document =
                (0..2_000).map(|at| (format!("x{at}$"), doc! {}.into())).collect();
            one(find(
                doc! { "$jsonSchema": { "properties": { "names": { "patternProperties": patterns } } } },
            ))
        }),
        row("pipelined pings", || vec![command(doc! { "ping": 1, "$db": "admin" }); 100_000]),
        row("projection of many paths", || {
            let paths: Document =
                (0..200_000).map(|at| (format!("f{at}"), Bson::Int32(1))).collect();
            one(with(find(doc! { "_id": 1 }), "projection", paths))
        }),
        row("$regexFindAll", || {
            let all = doc! { "$regexFindAll": { "input": "$text", "regex": "a" } };
            one(aggregate(vec![doc! { "$set": { "x": { "$size": all } } }]))
        }),
        row("$regexFindAll of a constant", || {
            let all = doc! { "$regexFindAll": { "input": "a".repeat(15_000_000), "regex": "a" } };
            one(aggregate(vec![doc! { "$set": { "x": { "$size": all } } }]))
        }),
        row("$set far behind the end of pages", || {
            let update = doc! { "q": { "_id": 1 }, "u": { "$set": { "act.1000000": 1 } } };
            one(doc! { "update": "paged", "updates": [update], "$db": "watchdog" })
        }),
        row("sine of a large decimal", || {
            let angle: Decimal128 = "3703701E6000".parse().unwrap();
            one(find(doc! { "_id": 1, "$expr": { "$eq": [{ "$sin": angle }, "$text"] } }))
        }),
        row("$sort by many keys", || {
            let keys: Document =
                (0..150_000).map(|at| (format!("f{at}"), Bson::Int32(1))).collect();
            one(with(find(doc! {}), "sort", keys))
        }),
        row("$sort of many", || {
            let stages = vec![doc! { "$unwind": "$numbers" }, doc! { "$sort": { "numbers": -1 } }];
            one(aggregate(stages))
        }),
        row("update", || one(update(set(slow())))),
        row("update of many paths", || {
            let paths: Document =
                (0..100_000).map(|at| (format!("f{at}.x"), Bson::Int32(1))).collect();
            one(update(doc! { "$set": paths }.into()))
        }),
        row("update with a constant", || one(update(set(constant())))),
        row("upsert", || {
            let update = doc! { "q": { "_id": "new" }, "u": set(slow()), "upsert": true };
            one(doc! { "update": "heavy", "updates": [update], "$db": "watchdog" })
        }),
        Row {
            name: "validate",
            frames: || one(doc! { "validate": "many", "$db": "watchdog" }),
            goes_on: true,
        },
    ]
}

/// The data that rows meet.
pub fn prepare(process: &Process) {
    let mut client = Client::connect(&process.address);
    let names: Document = (0..20_000).map(|at| (format!("name{at}"), Bson::Int32(at))).collect();
    let heavy = doc! {
        "_id": 1, "numbers": numbers(50_000, 0), "names": names, "text": "a".repeat(200_000),
    };
    let many: Vec<_> = (0..2_000).map(|at| doc! { "n": at + 1, "m": at }).collect();
    let validator = doc! { "$expr": { "$ne": [slow(), 1] } };
    let policy = doc! { "arrays": { "act": { "max": 1, "on_limit": "overflow", "overflow": { "page": 1 } } } };
    let left = doc! { "arrays": { "act": { "max": 1, "on_limit": "overflow", "overflow": { "page": 100 } } } };
    for command in [
        doc! { "insert": "calm", "documents": [{ "_id": 1 }] },
        doc! { "insert": "heavy", "documents": [heavy] },
        doc! { "insert": "built", "documents": vec![doc! { "n": numbers(50_000, 0) }; 4] },
        doc! { "insert": "many", "documents": many },
        doc! { "insert": "nested", "documents": [{ "_id": 1, "a": nested() }] },
        doc! { "create": "validated", "validator": validator },
        doc! { "setGrowthPolicy": "paged", "policy": policy },
        doc! { "insert": "paged", "documents": [{ "_id": 1, "act": [1, 2, 3] }] },
        doc! { "setGrowthPolicy": "left", "policy": left },
        doc! { "insert": "left", "documents": [{ "_id": 1, "act": numbers(300_000, 0) }] },
    ] {
        client.succeed(with(command, "$db", "watchdog"));
    }
}

/// How deep.
const NESTED: usize = 45;

/// Numbers in a path lead through it in very many ways, as places and as names.
fn nested() -> Bson {
    (0..NESTED).fold(Bson::Int32(1), |inner, _| vec![doc! { "0": inner }].into())
}

fn one(document: Document) -> Vec<Frame> {
    vec![command(document)]
}

fn with(mut command: Document, name: &str, value: impl Into<Bson>) -> Document {
    command.insert(name, value);
    command
}

fn find(filter: Document) -> Document {
    doc! { "find": "heavy", "filter": filter, "$db": "watchdog" }
}

fn aggregate(pipeline: Vec<Document>) -> Document {
    doc! { "aggregate": "heavy", "pipeline": pipeline, "cursor": {}, "$db": "watchdog" }
}

fn update(update: Bson) -> Document {
    doc! { "update": "heavy", "updates": [{ "q": { "_id": 1 }, "u": update }], "$db": "watchdog" }
}

fn set(value: Document) -> Bson {
    Bson::Array(vec![doc! { "$set": { "x": value } }.into()])
}

fn expr() -> Document {
    doc! { "$expr": { "$eq": [slow(), 1] } }
}

fn numbers(count: i32, first: i32) -> Vec<i32> {
    (first..first + count).collect()
}

/// Takes minutes, and depends on the document.
fn slow() -> Document {
    search(doc! { "$add": ["$$this", { "$size": { "$ifNull": ["$numbers", []] } }, 1_000_000] })
}

/// Takes minutes, and can be computed before any document is read.
fn constant() -> Document {
    search(doc! { "$add": ["$$this", 1_000_000] })
}

fn search(what: Document) -> Document {
    let range = doc! { "$range": [0, 200_000] };
    let place = doc! { "$indexOfArray": [range.clone(), what] };
    doc! { "$size": { "$map": { "input": range, "in": place } } }
}

/// The hello of a client that knows another server's topology.
fn stranger(await_ms: i32) -> Document {
    let version = doc! { "processId": ObjectId::new(), "counter": 0_i64 };
    doc! { "hello": 1, "topologyVersion": version, "maxAwaitTimeMS": await_ms, "$db": "admin" }
}
