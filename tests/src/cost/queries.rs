//! Filters, by scan and by index.

use super::Row;
use super::case::{COLLECTION, Case, documents, fields, list, names, numbers};
use bson::{Bson, Document, cstr, doc};

pub const ROWS: &[Row] = &[
    Row::new("$all on an array", 2_000, 60_000, |n| {
        one(array(n), doc! { "a": { "$all": numbers(n) } })
    }),
    Row::new("$all by an index", 1_000, 20_000, |n| {
        indexed(vec![array(n)], doc! { "a": { "$all": numbers(n) } })
    }),
    Row::new("$and of ranges on _id", 1_000, 60_000, |n| {
        let ranges = list(n, |at| doc! { "_id": { "$gte": at as i32 } });
        Case::find(documents(n, |at| doc! { "_id": at }), doc! { "$and": ranges })
    }),
    Row::new("$and of closed ranges", 1_000, 60_000, |n| {
        let ranges = list(n, |at| doc! { "_id": { "$gte": at as i32, "$lt": 2 * n as i32 } });
        Case::find(documents(n, |at| doc! { "_id": at }), doc! { "$and": ranges })
    }),
    Row::new("$and of $ne on _id", 1_000, 60_000, |n| {
        let others = list(n, |at| doc! { "_id": { "$ne": at as i32 } });
        Case::find(vec![doc! { "_id": -1 }], doc! { "$and": others })
    }),
    Row::new("$and of $elemMatch by an index", 1_000, 30_000, |n| {
        let each = list(n, |at| doc! { "a": { "$elemMatch": { "$gte": at as i32 } } });
        indexed(vec![doc! { "a": [i32::MAX] }], doc! { "$and": each })
    }),
    Row::product("$and of ranges on an array", 200, 20_000, |n| {
        let ranges = list(n, |_| doc! { "a": { "$gte": n as i32 - 1 } });
        one(array(n), doc! { "$and": ranges })
    }),
    Row::new("$bitsAllSet", 2_000, 100_000, |n| {
        one(array(n), doc! { "a": { "$bitsAllSet": list(31, |at| at as i32) } })
    }),
    Row::new("$elemMatch", 2_000, 100_000, |n| {
        one(
            doc! { "a": list(n, |at| doc! { "x": at as i32 }) },
            doc! { "a": { "$elemMatch": { "x": -1 } } },
        )
    }),
    Row::new("$eq to an array", 8_000, 200_000, |n| one(array(n), doc! { "a": numbers(n) })),
    Row::new("$exists of many fields", 1_000, 50_000, |n| {
        one(doc! { "x": 1 }, fields(n, |_| doc! { "$exists": false }))
    }),
    Row::new("$expr", 1_000, 50_000, |n| {
        one(doc! { "x": 1 }, doc! { "$expr": { "$and": list(n, |_| doc! { "$eq": ["$x", 1] }) } })
    }),
    Row::new("$in on an array", 4_000, 200_000, |n| {
        one(array(n), doc! { "a": { "$in": list(n, |at| -1 - at as i32) } })
    }),
    Row::new("$in on _id", 1_000, 100_000, |n| {
        Case::find(documents(n, |at| doc! { "_id": at }), doc! { "_id": { "$in": numbers(n) } })
    }),
    Row::new("$in of a missing field", 2_000, 100_000, |n| {
        let any = doc! { "x": { "$in": numbers(n) } };
        Case::find(documents(n, |at| doc! { "_id": at }), any)
    }),
    Row::product("$in of patterns", 100, 10_000, |n| {
        let patterns = list(n, |at| match format!("^x{at}").try_into() {
            Ok(pattern) => {
                Bson::RegularExpression(bson::Regex { pattern, options: cstr!("").to_owned() })
            }
            Err(_) => Bson::Null,
        });
        one(doc! { "a": names(n) }, doc! { "a": { "$in": patterns } })
    }),
    Row::new("$in, sorted by another field", 1_000, 100_000, |n| {
        let many = documents(n, |at| doc! { "_id": at, "a": at, "b": -at });
        let find = doc! {
            "find": COLLECTION, "filter": { "a": { "$in": numbers(n) } }, "sort": { "b": 1 },
            "batchSize": i32::MAX,
        };
        Case::prepared(vec![index(doc! { "a": 1, "b": 1 })], many, find)
    }),
    Row::new("$in with a collation", 500, 50_000, |n| {
        let find = doc! {
            "find": COLLECTION, "filter": { "a": { "$in": names(n) } },
            "collation": { "locale": "en", "strength": 2 }, "batchSize": i32::MAX,
        };
        Case::new(documents(n, |at| doc! { "a": format!("K{at}") }), find)
    }),
    Row::new("$mod", 4_000, 200_000, |n| one(array(n), doc! { "a": { "$mod": [1_000_003, 5] } })),
    Row::new("$nin on an array", 4_000, 200_000, |n| {
        one(array(n), doc! { "a": { "$nin": list(n, |at| -1 - at as i32) } })
    }),
    Row::new("$nor", 1_000, 50_000, |n| {
        one(array(n), doc! { "$nor": list(n, |at| doc! { "a": -1 - at as i32 }) })
    }),
    Row::new("$or of equalities on an array", 1_000, 50_000, |n| {
        one(array(n), doc! { "$or": list(n, |at| doc! { "a": -1 - at as i32 }) })
    }),
    Row::new("$or by an index", 500, 20_000, |n| {
        let branches = list(n, |at| doc! { "a": at as i32 });
        indexed(documents(n, |at| doc! { "a": at }), doc! { "$or": branches })
    }),
    Row::new("$or by an index, sorted", 300, 20_000, |n| {
        let find = doc! {
            "find": COLLECTION, "filter": { "$or": list(n, |at| doc! { "a": at as i32 }) },
            "sort": { "b": 1 }, "batchSize": i32::MAX,
        };
        let many = documents(n, |at| doc! { "a": at, "b": at });
        Case::prepared(vec![index(doc! { "a": 1, "b": 1 })], many, find)
    }),
    Row::new("$or by an index, beside much else", 300, 10_000, |n| {
        let mut filter = fields(n, |_| doc! { "$exists": false });
        filter.insert("$or", list(n, |at| doc! { "a": at as i32 }));
        indexed(vec![doc! { "a": -1 }], filter)
    }),
    Row::new("many $or by an index", 200, 10_000, |n| {
        let either = list(n, |at| doc! { "$or": [{ "a": at as i32 }, { "a": -1 }] });
        indexed(vec![doc! { "a": -1 }], doc! { "$and": either })
    }),
    Row::new("$regex", 8_000, 2_000_000, |n| {
        one(doc! { "s": "é".repeat(n) }, doc! { "s": { "$regex": "z$" } })
    }),
    Row::new("$size", 8_000, 200_000, |n| one(array(n), doc! { "a": { "$size": 1 } })),
    Row::new("$type", 4_000, 200_000, |n| one(array(n), doc! { "a": { "$type": "string" } })),
    Row::new("conditions on many fields", 1_000, 50_000, |n| {
        one(fields(n, |at| at as i32), fields(n, |at| at as i32))
    }),
    Row::new("conditions on many nested fields", 1_000, 50_000, |n| {
        let filter: Document =
            (0..n).map(|at| (format!("o.k{at}"), Bson::Int32(at as i32))).collect();
        one(doc! { "o": fields(n, |at| at as i32) }, filter)
    }),
    Row::new("a hint and a partial index", 500, 20_000, |n| {
        let partial = doc! { "$and": list(n, |at| doc! { format!("k{at}"): 1 }) };
        let spec = doc! { "key": { "a": 1 }, "name": "a", "partialFilterExpression": partial };
        let create = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        let find = doc! { "find": COLLECTION, "filter": { "a": 1, "$and": list(n, |at| doc! { format!("k{at}"): 1 }) } };
        Case::prepared(vec![create], vec![doc! { "a": 1 }], find)
    }),
    Row::new("a wildcard index", 1_000, 50_000, |n| {
        let find = doc! { "find": COLLECTION, "filter": fields(n, |at| at as i32) };
        Case::prepared(vec![index(doc! { "$**": 1 })], vec![doc! { "k0": 0 }], find)
    }),
];

fn array(n: usize) -> Document {
    doc! { "a": numbers(n) }
}

fn one(document: Document, filter: Document) -> Case {
    Case::find(vec![document], filter)
}

fn index(key: Document) -> Document {
    let spec = doc! { "key": key, "name": "i" };
    doc! { "createIndexes": COLLECTION, "indexes": [spec] }
}

/// A find with an index on `a`.
fn indexed(documents: Vec<Document>, filter: Document) -> Case {
    let find = doc! { "find": COLLECTION, "filter": filter, "batchSize": i32::MAX };
    Case::prepared(vec![index(doc! { "a": 1 })], documents, find)
}
