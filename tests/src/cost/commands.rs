//! Commands with many statements, specifications or variables.

use super::Row;
use super::case::{COLLECTION, Case, aggregate, documents, fields, list, names, numbers};
use bson::{Bson, Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("aggregate with variables", 500, 50_000, |n| {
        let uses = doc! { "$project": { "v": list(n, |at| format!("$$k{at}")) } };
        let mut command = aggregate(vec![uses]);
        command.insert("let", fields(n, |at| at as i32));
        Case::new(vec![doc! {}], command)
    }),
    Row::new("bulkWrite", 200, 10_000, |n| {
        // Many collections are named, and few are made.
        let ops = list(n, |at| doc! { "insert": at as i32 % 10, "document": { "x": 1 } });
        let places = list(n, |at| doc! { "ns": format!("cost.c{at}") });
        let command = doc! { "bulkWrite": 1, "ops": ops, "nsInfo": places };
        admin(Case::new(vec![], command))
    }),
    Row::new("bulkWrite with variables", 100, 5_000, |n| {
        let one = |at: usize| {
            doc! {
                "update": 0, "filter": { "_id": at as i32 }, "updateMods": [{ "$set": { "x": "$$k0" } }],
            }
        };
        let command = doc! {
            "bulkWrite": 1, "ops": list(n, one), "nsInfo": [{ "ns": "cost.c" }],
            "let": fields(n, |at| at as i32),
        };
        admin(Case::new(rows(n), command))
    }),
    Row::new("collMod", 500, 20_000, |n| {
        let schema = doc! { "properties": fields(n, |_| doc! { "bsonType": "int" }) };
        Case::new(
            vec![doc! {}],
            doc! { "collMod": COLLECTION, "validator": { "$jsonSchema": schema } },
        )
    }),
    Row::new("count", 1_000, 100_000, |n| {
        Case::new(rows(n), doc! { "count": COLLECTION, "query": { "x": { "$in": numbers(n) } } })
    }),
    Row::new("create", 500, 20_000, |n| {
        let schema = doc! { "properties": fields(n, |_| doc! { "bsonType": "int" }) };
        Case::new(vec![], doc! { "create": COLLECTION, "validator": { "$jsonSchema": schema } })
    }),
    Row::new("createIndexes with many specifications", 1_000, 12_000, |n| {
        let specs = list(n, |at| doc! { "key": { format!("k{at}"): 1 }, "name": format!("i{at}") });
        Case::new(vec![doc! {}], doc! { "createIndexes": COLLECTION, "indexes": specs })
    })
    .refused(67),
    Row::new("createIndexes with one specification often", 500, 12_000, |n| {
        let specs = list(n, |_| doc! { "key": { "x": 1 }, "name": "x" });
        Case::new(vec![doc! {}], doc! { "createIndexes": COLLECTION, "indexes": specs })
    }),
    Row::new("createIndexes with many fields", 4_000, 50_000, |n| {
        let spec = doc! { "key": fields(n, |_| 1), "name": "i" };
        Case::new(vec![doc! {}], doc! { "createIndexes": COLLECTION, "indexes": [spec] })
    })
    .refused(67),
    Row::new("createIndexes with a wildcard projection", 500, 20_000, |n| {
        let spec =
            doc! { "key": { "$**": 1 }, "name": "i", "wildcardProjection": fields(n, |_| 1) };
        let create = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        Case::new(vec![fields(n, |_| 1)], create)
    }),
    Row::new("createIndexes over many documents", 500, 20_000, |n| {
        let spec = doc! { "key": { "x": 1 }, "name": "i" };
        Case::new(rows(n), doc! { "createIndexes": COLLECTION, "indexes": [spec] })
    }),
    Row::new("createIndexes over one wide document", 1_000, 50_000, |n| {
        let spec = doc! { "key": { "$**": 1 }, "name": "i" };
        let command = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        Case::new(vec![fields(n, |at| at as i32)], command)
    }),
    Row::new("createIndexes over one long array", 2_000, 200_000, |n| {
        let spec = doc! { "key": { "a": 1 }, "name": "i" };
        let command = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        Case::new(vec![doc! { "a": numbers(n) }], command)
    }),
    Row::product("createIndexes within one document", 20_000, 400_000, |n| {
        let spec = doc! { "key": { "$**": 1 }, "name": "i" };
        let command = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        Case::new(vec![doc! { "a": numbers(n) }], command)
    }),
    Row::new("delete", 200, 10_000, |n| {
        let deletes = list(n, |at| doc! { "q": { "_id": at as i32 }, "limit": 1 });
        Case::new(rows(n), doc! { "delete": COLLECTION, "deletes": deletes })
    }),
    Row::new("delete with variables", 100, 5_000, |n| {
        let deletes = list(n, |at| doc! { "q": { "_id": at as i32 }, "limit": 1 });
        let command = doc! {
            "delete": COLLECTION, "deletes": deletes, "let": fields(n, |at| at as i32),
        };
        Case::new(rows(n), command)
    }),
    Row::new("distinct", 1_000, 100_000, |n| {
        Case::new(rows(n), doc! { "distinct": COLLECTION, "key": "x" })
    }),
    Row::new("distinct of an array", 4_000, 100_000, |n| {
        Case::new(vec![doc! { "x": numbers(n) }], doc! { "distinct": COLLECTION, "key": "x" })
    }),
    Row::new("dropIndexes", 4_000, 100_000, |n| {
        Case::new(vec![doc! {}], doc! { "dropIndexes": COLLECTION, "index": names(n) })
    })
    .refused(27),
    Row::new("explain", 300, 10_000, |n| {
        let branches = list(n, |at| doc! { "_id": at as i32 });
        let find = doc! { "find": COLLECTION, "filter": { "$or": branches } };
        Case::new(rows(1), doc! { "explain": find, "verbosity": "executionStats" })
    }),
    Row::new("find with a sort of many fields", 8_000, 150_000, |n| {
        Case::new(vec![doc! {}], doc! { "find": COLLECTION, "sort": fields(n, |_| 1) })
    })
    .refused(13103),
    Row::new("find with a collation and a sort", 300, 20_000, |n| {
        let find = doc! {
            "find": COLLECTION, "sort": { "s": 1 }, "collation": { "locale": "de" },
            "batchSize": i32::MAX,
        };
        Case::new(documents(n, |at| doc! { "s": format!("ä{at}") }), find)
    }),
    Row::new("findAndModify", 1_000, 100_000, |n| {
        let command = doc! {
            "findAndModify": COLLECTION, "query": {}, "update": { "$set": fields(n, |_| 2) },
            "fields": fields(n, |_| 1),
        };
        Case::new(vec![fields(n, |_| 1)], command)
    }),
    Row::new("growthStats", 500, 20_000, |n| {
        Case::new(vec![fields(n, |_| 1)], doc! { "growthStats": COLLECTION })
    }),
    Row::new("insert of many documents", 500, 50_000, |n| {
        Case::new(
            vec![],
            doc! { "insert": COLLECTION, "documents": list(n, |at| doc! { "_id": at as i32 }) },
        )
    }),
    Row::new("insert of many fields", 2_000, 200_000, |n| {
        Case::new(vec![], doc! { "insert": COLLECTION, "documents": [fields(n, |_| 1)] })
    }),
    Row::new("insert under a wildcard index", 200, 10_000, |n| {
        let spec = doc! { "key": { "$**": 1 }, "name": "i" };
        let create = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        let insert = doc! { "insert": COLLECTION, "documents": [fields(n, |at| at as i32)] };
        Case::prepared(vec![create], vec![], insert)
    }),
    Row::new("killCursors", 2_000, 200_000, |n| {
        let cursors = list(n, |at| Bson::Int64(at as i64 + 1));
        Case::new(vec![doc! {}], doc! { "killCursors": COLLECTION, "cursors": cursors })
    }),
    Row::new("listCollections", 50, 1_000, |n| {
        let make = |at| doc! { "create": format!("c{at}") };
        Case::prepared((0..n).map(make).collect(), vec![], doc! { "listCollections": 1 })
    }),
    Row::new("endSessions", 500, 20_000, |n| {
        let id = |at: usize| doc! { "id": uuid(at) };
        admin(Case::new(vec![], doc! { "endSessions": list(n, id) }))
    }),
    Row::new("endSessions beside others", 4_000, 50_000, |n| {
        let id = |at: usize| doc! { "id": uuid(at) };
        let other = |at: usize| doc! { "id": uuid(n + at) };
        let before = vec![doc! { "refreshSessions": list(n, other) }];
        admin(Case::prepared(before, vec![], doc! { "endSessions": list(n, id) }))
    }),
    Row::new("$listLocalSessions", 4_000, 200_000, |n| {
        let id = |at: usize| doc! { "id": uuid(at) };
        let before = vec![doc! { "refreshSessions": list(n, id) }];
        let stages = vec![doc! { "$listLocalSessions": {} }, doc! { "$count": "n" }];
        let mut command = aggregate(stages);
        command.insert("aggregate", 1);
        admin(Case::prepared(before, vec![], command))
    }),
    Row::new("update", 200, 10_000, |n| {
        let one = |at: usize| doc! { "q": { "_id": at as i32 }, "u": { "$set": { "z": 1 } } };
        Case::new(rows(n), doc! { "update": COLLECTION, "updates": list(n, one) })
    }),
    Row::new("update with variables", 100, 5_000, |n| {
        let one =
            |at: usize| doc! { "q": { "_id": at as i32 }, "u": [{ "$set": { "z": "$$k0" } }] };
        let command = doc! {
            "update": COLLECTION, "updates": list(n, one), "let": fields(n, |at| at as i32),
        };
        Case::new(rows(n), command)
    }),
    Row::new("update that fails often", 300, 10_000, |n| {
        let one = |at: usize| doc! { "q": { "_id": at as i32 }, "u": { "$inc": { "x": "a" } } };
        let command = doc! { "update": COLLECTION, "updates": list(n, one), "ordered": false };
        Case::new(rows(n), command)
    })
    .refused(14),
    Row::new("validate", 300, 10_000, |n| Case::new(rows(n), doc! { "validate": COLLECTION })),
];

fn rows(n: usize) -> Vec<Document> {
    documents(n, |at| doc! { "_id": at, "x": at })
}

/// The command sent to the `admin` database.
fn admin(mut case: Case) -> Case {
    let mut command = bson::RawDocumentBuf::new();
    for field in case.command.iter().flatten() {
        match field.0.as_str() {
            "$db" => command.append(field.0, "admin"),
            _ => command.append(field.0, field.1),
        }
    }
    case.command = command;
    case
}

fn uuid(at: usize) -> Bson {
    let bytes = [&[0; 8][..], &(at as u64).to_be_bytes()].concat();
    Bson::Binary(bson::Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes })
}
