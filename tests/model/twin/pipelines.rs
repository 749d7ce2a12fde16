//! Aggregations and projections, most of which look at the array.

use super::filters;
use super::updates::{size, whole};
use bson::{Document, doc};
use rand::Rng as _;
use rand::rngs::StdRng;

pub fn projection(path: &str, random: &mut StdRng) -> Document {
    let at = random.random_range(-9..10);
    let n = random.random_range(0..12);
    let array = format!("${path}");
    match random.random_range(0..19) {
        0 => doc! { path: 1 },
        1 => doc! { path: 0 },
        2 => doc! { "k": 1 },
        3 => doc! { path: { "$slice": at } },
        4 => doc! { path: { "$slice": [at, n + 1] } },
        5 => doc! { "n": size(path) },
        6 => doc! { "l": { "$last": whole(path) }, "f": { "$first": whole(path) } },
        7 => doc! { "e": { "$arrayElemAt": [whole(path), at] } },
        8 => doc! { "e": { "$slice": [whole(path), at] }, "n": size(path) },
        9 => doc! { path: { "$elemMatch": { "n": n } } },
        10 => doc! { "e": { "$slice": [whole(path), at, n + 1] } },
        11 => doc! { format!("{path}.n"): 1 },
        12 => doc! { format!("{path}.n"): 0 },
        13 => doc! { "t": { "$isArray": &array }, "at": { "$indexOfArray": [whole(path), n] } },
        14 => doc! { "m": { "$max": format!("{array}.t") }, "k": 1 },
        15 => doc! { format!("{path}.$"): 1 },
        16 => doc! { "m": { "$map": { "input": whole(path), "in": { "v": "$$this" } } }, "k": 1 },
        17 => doc! { path: { "$slice": [{ "$ifNull": [&array, []] }, n + 1] } },
        _ => doc! { "is": { "$in": [n, whole(path)] }, "r": { "$reverseArray": whole(path) } },
    }
}

pub fn stages(path: &str, random: &mut StdRng) -> Vec<Document> {
    let array = format!("${path}");
    let n = random.random_range(0..12);
    let by_id = doc! { "$sort": { "_id": 1 } };
    let filter = doc! { "$match": filters::of_many(path, random) };
    match random.random_range(0..23) {
        0 => vec![filter, by_id],
        20 => vec![by_id, doc! { "$set": { format!("{path}.x"): n } }, filter],
        21 => vec![by_id, doc! { "$unset": format!("{path}.t") }, filter],
        22 => {
            let first = doc! { "$first": whole(path) };
            let (set, element) = (doc! { format!("{path}.x"): 1 }, doc! { "n": n, "x": 1 });
            let of_first = doc! { "$match": { "$expr": { "$ne": [first, element] } } };
            vec![by_id, doc! { "$set": set }, of_first]
        }
        1 => vec![by_id, doc! { "$unwind": &array }],
        2 => vec![
            filter,
            by_id,
            doc! { "$unwind": &array },
            doc! { "$skip": n },
            doc! { "$limit": 5 },
        ],
        3 => vec![
            by_id,
            doc! { "$unwind": { "path": &array, "includeArrayIndex": "at",
            "preserveNullAndEmptyArrays": true } },
        ],
        4 => vec![
            doc! { "$unwind": { "path": &array, "preserveNullAndEmptyArrays": true } },
            doc! { "$group": { "_id": "$_id", "n": { "$sum": 1 }, "t": { "$max": format!("{array}.t") } } },
            by_id,
        ],
        5 => vec![doc! { "$group": { "_id": "$k", "n": { "$sum": size(path) } } }, by_id],
        6 => vec![filter, by_id, doc! { "$addFields": { "n": size(path) } }],
        7 => vec![by_id, doc! { "$limit": 2 }, doc! { "$unwind": &array }],
        8 => vec![
            doc! { "$match": { "_id": n % filters::IDS } },
            doc! { "$unwind": &array },
            doc! { "$match": { format!("{path}.n"): { "$gte": n } } },
        ],
        9 => vec![
            doc! { "$lookup": { "from": "c", "localField": "k", "foreignField": format!("{path}.n"),
            "pipeline": [&by_id, { "$project": { "n": size(path) } }], "as": "same" } },
            doc! { "$project": { "same": 1 } },
            by_id,
        ],
        10 => vec![
            by_id,
            doc! { "$project": { "f": { "$filter": { "input": whole(path), "cond":
            { "$gt": ["$$this.t", n] } } } } },
        ],
        11 => vec![filter, doc! { "$count": "n" }],
        12 => vec![doc! { "$sort": { format!("{path}.t"): 1, "_id": 1 } }, doc! { "$limit": 3 }],
        13 => vec![
            by_id.clone(),
            doc! { "$unionWith": { "coll": "c", "pipeline": [&by_id, { "$match": { format!("{path}.n"): n } }] } },
        ],
        14 => vec![
            doc! { "$graphLookup": { "from": "c", "startWith": "$k", "connectFromField": "k",
            "connectToField": format!("{path}.n"), "maxDepth": 1, "as": "found" } },
            doc! { "$project": { "found": { "$sortArray": { "input": "$found._id", "sortBy": 1 } } } },
            by_id,
        ],
        15 => vec![
            doc! { "$setWindowFields": { "sortBy": { "_id": 1 }, "output": {
            "sum": { "$sum": size(path), "window": { "documents": ["unbounded", "current"] } },
            "last": { "$last": { "$last": whole(path) }, "window": { "documents": [-1, 0] } } } } },
            by_id,
        ],
        16 => vec![
            by_id,
            doc! { "$group": { "_id": "$k", "all": { "$push": &array } } },
            doc! { "$sort": { "_id": 1 } },
        ],
        17 => vec![
            filter,
            by_id,
            doc! { "$replaceWith": { "_id": "$_id", "n": { "$reduce": { "input": whole(path), "initialValue": 0,
            "in": { "$add": ["$$value", { "$cond": [{ "$isNumber": "$$this" }, "$$this", 1] }] } } } } },
        ],
        18 => vec![
            doc! { "$unwind": { "path": &array } },
            doc! { "$sortByCount": format!("{array}.n") },
            doc! { "$sort": { "count": -1, "_id": 1 } },
        ],
        _ => vec![
            by_id,
            doc! { "$facet": { "n": [{ "$project": { "n": size(path) } }],
            "all": [{ "$unwind": &array }, { "$count": "n" }] } },
        ],
    }
}
