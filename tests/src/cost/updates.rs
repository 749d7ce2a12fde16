//! Updates of one document.

use super::Row;
use super::case::{COLLECTION, Case, fields, list, numbers};
use bson::{Bson, Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("$addToSet", 2_000, 100_000, |n| {
        let each = list(n, |at| (n + at) as i32);
        Case::update(array(n), doc! { "$addToSet": { "a": { "$each": each } } })
    }),
    Row::new("$bit", 1_000, 50_000, |n| every(n, "$bit", doc! { "or": 2 })),
    Row::new("$currentDate", 1_000, 50_000, |n| every(n, "$currentDate", true)),
    Row::new("$inc", 1_000, 100_000, |n| every(n, "$inc", 1)),
    Row::new("$max", 1_000, 100_000, |n| every(n, "$max", 5)),
    Row::new("$min", 1_000, 100_000, |n| every(n, "$min", -5)),
    Row::new("$mul", 1_000, 100_000, |n| every(n, "$mul", 2)),
    Row::new("$pop", 8_000, 200_000, |n| Case::update(array(n), doc! { "$pop": { "a": 1 } })),
    Row::new("$pull", 4_000, 100_000, |n| {
        Case::update(array(n), doc! { "$pull": { "a": { "$in": numbers(n) } } })
    }),
    Row::new("$pull of documents", 2_000, 50_000, |n| {
        let documents = doc! { "a": list(n, |at| doc! { "x": at as i32 }) };
        Case::update(documents, doc! { "$pull": { "a": { "x": { "$gt": 5 } } } })
    }),
    Row::new("$pullAll", 2_000, 100_000, |n| {
        Case::update(array(n), doc! { "$pullAll": { "a": numbers(n) } })
    }),
    Row::new("$push", 4_000, 200_000, |n| push(n, doc! {})),
    Row::new("$push at a place", 4_000, 200_000, |n| push(n, doc! { "$position": n as i32 / 2 })),
    Row::new("$push, sorted", 2_000, 100_000, |n| push(n, doc! { "$sort": -1 })),
    Row::new("$push, cut", 2_000, 100_000, |n| push(n, doc! { "$slice": -(n as i32) })),
    Row::new("$rename", 1_000, 50_000, |n| {
        let names = fields(n, |at| format!("x{at}"));
        Case::update(fields(n, |_| 1), doc! { "$rename": names })
    }),
    Row::new("$set", 1_000, 100_000, |n| every(n, "$set", 2)),
    Row::new("$set of new fields", 1_000, 100_000, |n| {
        Case::update(doc! { "x": 1 }, doc! { "$set": fields(n, |_| 1) })
    }),
    Row::new("$set of nested fields", 1_000, 100_000, |n| {
        let set = paths(n, |at| format!("o.k{at}.x"), 2);
        Case::update(doc! { "o": fields(n, |_| doc! { "x": 1 }) }, doc! { "$set": set })
    }),
    Row::new("$set of elements", 1_000, 100_000, |n| {
        Case::update(array(n), doc! { "$set": paths(n, |at| format!("a.{at}"), -1) })
    }),
    Row::new("$set of an element far behind", 8_000, 1_000_000, |n| {
        Case::update(doc! { "a": [1] }, doc! { "$set": { format!("a.{n}"): 1 } })
    }),
    Row::new("$set of all elements", 2_000, 100_000, |n| {
        let documents = doc! { "a": list(n, |at| doc! { "x": at as i32 }) };
        Case::update(documents, doc! { "$set": { "a.$[].x": 1 } })
    }),
    Row::new("$set of filtered elements", 2_000, 100_000, |n| {
        let statement = doc! {
            "q": {}, "u": { "$set": { "a.$[e].x": 1 } }, "arrayFilters": [{ "e.x": { "$gt": 5 } }],
        };
        let documents = doc! { "a": list(n, |at| doc! { "x": at as i32 }) };
        Case::new(vec![documents], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::new("arrayFilters", 1_000, 20_000, |n| {
        let set = paths(n, |at| format!("a.$[e{at}].k{at}"), 1);
        let filters = list(n, |at| doc! { format!("e{at}.x"): 1 });
        let statement = doc! { "q": {}, "u": { "$set": set }, "arrayFilters": filters };
        let document = doc! { "a": [{ "x": 1 }, { "x": 2 }] };
        Case::new(vec![document], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::product("arrayFilters and elements", 100, 5_000, |n| {
        let set = paths(n, |at| format!("a.$[e{at}].y"), 1);
        let filters = list(n, |at| doc! { format!("e{at}.x"): at as i32 });
        let statement = doc! { "q": {}, "u": { "$set": set }, "arrayFilters": filters };
        let document = doc! { "a": list(n, |at| doc! { "x": at as i32 }) };
        Case::new(vec![document], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::new("$set of the element that matched", 2_000, 100_000, |n| {
        let statement = doc! { "q": { "a": n as i32 - 1 }, "u": { "$set": { "a.$": -1 } } };
        Case::new(vec![array(n)], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::new("$setOnInsert", 1_000, 100_000, |n| {
        let set = doc! { "$setOnInsert": fields(n, |_| 1) };
        let statement = doc! { "q": { "x": 1 }, "u": set, "upsert": true };
        Case::new(vec![], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::new("$unset", 1_000, 100_000, |n| every(n, "$unset", "")),
    Row::new("$unset below a long text", 1_000, 50_000, |n| {
        let unset = paths(n, |at| format!("s.k{at}"), "");
        Case::update(doc! { "s": "x".repeat(100 * n) }, doc! { "$unset": unset })
    }),
    Row::new("an upsert by many fields", 1_000, 50_000, |n| {
        let statement = doc! { "q": fields(n, |_| 1), "u": { "$set": { "x": 1 } }, "upsert": true };
        Case::new(vec![], doc! { "update": COLLECTION, "updates": [statement] })
    }),
    Row::new("a replacement", 1_000, 200_000, |n| Case::update(fields(n, |_| 1), fields(n, |_| 2))),
    Row::new("a pipeline", 1_000, 50_000, |n| {
        Case::update(fields(n, |_| 1), vec![doc! { "$set": fields(n, |_| 2) }])
    }),
    Row::new("a pipeline of stages", 100, 1_000, |n| {
        Case::update(doc! { "k": 1 }, list(n, |at| doc! { "$set": { "k": at as i32 } }))
    }),
    Row::new("a pipeline that unsets", 1_000, 50_000, |n| {
        let names = list(n, |at| format!("k{at}"));
        Case::update(fields(n, |_| 1), vec![doc! { "$unset": names }])
    }),
    Row::new("an indexed array that changes", 500, 20_000, |n| {
        let spec = doc! { "key": { "a": 1 }, "name": "a" };
        let create = doc! { "createIndexes": COLLECTION, "indexes": [spec] };
        let statement = doc! { "q": {}, "u": { "$set": { "a": list(n, |at| (n + at) as i32) } } };
        let update = doc! { "update": COLLECTION, "updates": [statement] };
        Case::prepared(vec![create], vec![array(n)], update)
    }),
];

fn array(n: usize) -> Document {
    doc! { "a": numbers(n) }
}

/// An operator on every field of a document.
fn every(n: usize, operator: &str, argument: impl Into<Bson>) -> Case {
    let argument = argument.into();
    Case::update(fields(n, |_| 1), doc! { operator: fields(n, |_| argument.clone()) })
}

fn push(n: usize, modifiers: Document) -> Case {
    let mut push = doc! { "$each": list(n, |at| (n + at) as i32) };
    push.extend(modifiers);
    Case::update(array(n), doc! { "$push": { "a": push } })
}

/// Paths by their numbers, all with one value.
fn paths(n: usize, path: impl Fn(usize) -> String, value: impl Into<Bson>) -> Document {
    let value = value.into();
    (0..n).map(|at| (path(at), value.clone())).collect()
}
