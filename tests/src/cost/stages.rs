//! Stages, over many documents or with many arguments.

use super::Row;
use super::case::{COLLECTION, Case, aggregate, documents, fields, list, names, numbers};
use bson::{Document, doc};

pub const ROWS: &[Row] = &[
    Row::new("$addFields", 1_000, 50_000, |n| {
        Case::stage(
            vec![fields(n, |_| 1)],
            doc! { "$addFields": fields(n, |at| format!("$k{at}")) },
        )
    }),
    Row::new("$bucket", 1_000, 50_000, |n| {
        let by = doc! { "groupBy": "$x", "boundaries": list(n + 1, |at| at as i32) };
        Case::stage(rows(n), doc! { "$bucket": by })
    }),
    Row::new("$bucket with many outputs", 1_000, 20_000, |n| {
        let output = fields(n, |at| doc! { "$sum": format!("$k{at}") });
        let by = doc! { "groupBy": "$x", "boundaries": [0, 10], "output": output };
        Case::stage(wide(n), doc! { "$bucket": by })
    }),
    Row::new("$bucketAuto with many outputs", 1_000, 20_000, |n| {
        let output = fields(n, |at| doc! { "$sum": format!("$k{at}") });
        let by = doc! { "groupBy": "$x", "buckets": 1, "output": output };
        Case::stage(wide(n), doc! { "$bucketAuto": by })
    }),
    Row::new("$bucketAuto", 1_000, 50_000, |n| {
        Case::stage(rows(n), doc! { "$bucketAuto": { "groupBy": "$x", "buckets": n as i32 } })
    }),
    Row::new("$densify", 1_000, 100_000, |n| {
        let range = doc! { "step": 1, "bounds": [0, 2 * n as i32] };
        Case::stage(rows(n), doc! { "$densify": { "field": "x", "range": range } })
    }),
    Row::new("$densify with many partition fields", 1_000, 20_000, |n| {
        let by = names(n);
        let all = documents(2, |at| {
            let mut document = fields(n, |_| 1);
            document.insert("x", 2 * at);
            document
        });
        let range = doc! { "step": 1, "bounds": "partition" };
        let stage = doc! { "field": "x", "partitionByFields": by, "range": range };
        Case::stage(all, doc! { "$densify": stage })
    }),
    Row::new("$documents", 1_000, 50_000, |n| {
        let given = list(n, |at| doc! { "x": at as i32 });
        let mut command = aggregate(vec![doc! { "$documents": given }, doc! { "$count": "n" }]);
        command.insert("aggregate", 1);
        Case::new(vec![], command)
    }),
    Row::new("$facet", 100, 2_000, |n| {
        Case::stage(
            rows(10),
            doc! { "$facet": fields(n, |_| vec![doc! { "$match": { "x": -1 } }]) },
        )
    }),
    Row::product("$facet over many", 50, 2_000, |n| {
        let facets = fields(n, |_| vec![doc! { "$match": { "x": -1 } }]);
        Case::stage(rows(10 * n), doc! { "$facet": facets })
    }),
    Row::new("$fill", 1_000, 50_000, |n| {
        let fill = doc! { "sortBy": { "x": 1 }, "output": { "y": { "method": "linear" } } };
        Case::stage(rows(n), doc! { "$fill": fill })
    }),
    Row::new("$fill with many methods", 1_000, 20_000, |n| {
        let output = fields(n, |at| doc! { "method": if at % 2 == 0 { "locf" } else { "linear" } });
        Case::stage(wide(n), doc! { "$fill": { "sortBy": { "x": 1 }, "output": output } })
    }),
    Row::new("$fill with many values", 1_000, 20_000, |n| {
        let output = fields(n, |at| doc! { "value": at as i32 });
        Case::stage(wide(n), doc! { "$fill": { "output": output } })
    }),
    Row::new("$fill by many fields", 1_000, 20_000, |n| {
        let output = doc! { "y": { "method": "locf" } };
        let fill = doc! { "partitionByFields": names(n), "sortBy": { "x": 1 }, "output": output };
        Case::stage(wide(n), doc! { "$fill": fill })
    }),
    Row::new("$graphLookup", 200, 10_000, |n| {
        let chain = documents(n, |at| doc! { "_id": at, "next": at + 1 });
        let lookup = doc! {
            "from": COLLECTION, "startWith": "$next", "connectFromField": "next",
            "connectToField": "_id", "as": "found",
        };
        Case::pipeline(
            chain,
            vec![
                doc! { "$match": { "_id": 0 } },
                doc! { "$graphLookup": lookup },
                doc! { "$count": "n" },
            ],
        )
    }),
    Row::new("$group", 1_000, 100_000, |n| {
        Case::stage(rows(n), doc! { "$group": { "_id": "$x" } })
    }),
    Row::new("$group with many accumulators", 500, 20_000, |n| {
        let mut group = fields(n, |at| doc! { "$sum": format!("$k{at}") });
        group.insert("_id", bson::Bson::Null);
        Case::stage(vec![fields(n, |_| 1)], doc! { "$group": group })
    }),
    Row::new("$group by many fields", 500, 20_000, |n| {
        let by = doc! { "_id": fields(n, |at| format!("$k{at}")) };
        Case::stage(wide(n), doc! { "$group": by })
    }),
    Row::new("$group with many percentiles", 4_000, 100_000, |n| {
        let p = list(n, |at| at as f64 / n as f64);
        let of = doc! { "input": "$x", "p": p, "method": "approximate" };
        Case::stage(rows(100), doc! { "$group": { "_id": null, "p": { "$percentile": of } } })
    }),
    Row::new("$group that collects", 1_000, 100_000, |n| {
        let group = doc! {
            "_id": null, "p": { "$push": "$x" }, "s": { "$addToSet": "$x" },
            "t": { "$topN": { "n": n as i32, "sortBy": { "x": 1 }, "output": "$x" } },
            "f": { "$firstN": { "n": n as i32, "input": "$x" } },
            "m": { "$maxN": { "n": n as i32, "input": "$x" } },
        };
        Case::stage(rows(n), doc! { "$group": group })
    }),
    Row::new("$group that merges", 500, 50_000, |n| {
        let many = documents(n, |at| doc! { "o": { format!("k{at}"): 1 }, "a": [at] });
        let group = doc! {
            "_id": null, "o": { "$mergeObjects": "$o" }, "s": { "$setUnion": "$a" },
            "c": { "$concatArrays": "$a" },
        };
        Case::stage(many, doc! { "$group": group })
    }),
    Row::new("$lookup by an index", 300, 20_000, |n| {
        let lookup =
            doc! { "from": COLLECTION, "localField": "x", "foreignField": "_id", "as": "f" };
        Case::stage(rows(n), doc! { "$lookup": lookup })
    }),
    Row::new("$lookup of an array", 500, 20_000, |n| {
        let mut all = rows(n);
        all.push(doc! { "_id": -1, "x": numbers(n) });
        let lookup =
            doc! { "from": COLLECTION, "localField": "x", "foreignField": "_id", "as": "f" };
        Case::pipeline(
            all,
            vec![
                doc! { "$match": { "_id": -1 } },
                doc! { "$lookup": lookup },
                doc! { "$count": "n" },
            ],
        )
    }),
    Row::new("$lookup with many variables", 500, 20_000, |n| {
        let lookup = doc! {
            "from": COLLECTION, "as": "f", "let": fields(n, |_| "$x"),
            "pipeline": [{ "$project": { "v": list(n, |at| format!("$$k{at}")) } }],
        };
        Case::stage(rows(1), doc! { "$lookup": lookup })
    }),
    Row::product("$lookup without an index", 100, 5_000, |n| {
        let lookup = doc! { "from": COLLECTION, "localField": "x", "foreignField": "y", "as": "f" };
        Case::stage(rows(n), doc! { "$lookup": lookup })
    }),
    Row::new("$match", 1_000, 100_000, |n| Case::stage(rows(n), doc! { "$match": { "x": -1 } })),
    Row::new("$merge", 200, 10_000, |n| {
        Case::pipeline(rows(n), vec![doc! { "$merge": { "into": "other" } }])
    }),
    Row::new("$merge with many variables", 1_000, 20_000, |n| {
        let set = fields(n, |at| format!("$$k{at}"));
        let merge = doc! {
            "into": "other", "let": fields(n, |at| format!("$k{at}")),
            "whenMatched": [{ "$set": set }],
        };
        Case::pipeline(wide(n), vec![doc! { "$merge": merge }])
    }),
    Row::new("$out", 500, 20_000, |n| Case::pipeline(rows(n), vec![doc! { "$out": "other" }])),
    Row::new("$project", 1_000, 50_000, |n| {
        Case::stage(vec![fields(n, |_| 1)], doc! { "$project": fields(n, |_| 1) })
    }),
    Row::new("$redact", 500, 50_000, |n| {
        let document = doc! { "a": list(n, |at| doc! { "x": at as i32 }) };
        Case::stage(vec![document], doc! { "$redact": "$$DESCEND" })
    }),
    Row::new("$project that excludes behind filters", 500, 20_000, |n| {
        let excluded = fields(n, |_| 0);
        let filter = fields(n, |_| doc! { "$ne": -1 });
        Case::pipeline(wide(n), vec![doc! { "$match": filter }, doc! { "$project": excluded }])
    }),
    Row::new("$replaceRoot by many documents", 500, 20_000, |n| {
        let all = list(n, |at| doc! { format!("k{at}"): "$x" });
        let root = doc! { "newRoot": { "$mergeObjects": all } };
        Case::stage(rows(1), doc! { "$replaceRoot": root })
    }),
    Row::new("$replaceRoot", 1_000, 50_000, |n| {
        let root = doc! { "newRoot": fields(n, |_| "$x") };
        Case::stage(rows(1), doc! { "$replaceRoot": root })
    }),
    Row::new("$sample", 1_000, 100_000, |n| {
        Case::stage(rows(n), doc! { "$sample": { "size": n as i32 } })
    }),
    Row::new("$setWindowFields", 500, 20_000, |n| {
        let window = doc! { "documents": [-(n as i32), 0] };
        let output = doc! {
            "s": { "$sum": "$x", "window": window.clone() },
            "m": { "$max": "$x", "window": window.clone() },
            "r": { "$rank": {} },
            "e": { "$expMovingAvg": { "input": "$x", "N": 5 } },
            "l": { "$shift": { "output": "$x", "by": -1 } },
            "d": { "$derivative": { "input": "$x" }, "window": { "documents": [-1, 0] } },
        };
        let stage = doc! { "sortBy": { "x": 1 }, "output": output };
        Case::stage(rows(n), doc! { "$setWindowFields": stage })
    }),
    Row::new("$setWindowFields with many outputs", 1_000, 20_000, |n| {
        let output = fields(n, |at| doc! { "$sum": format!("$k{at}") });
        Case::stage(wide(n), doc! { "$setWindowFields": { "output": output } })
    }),
    Row::new("$setWindowFields with many paths", 1_000, 20_000, |n| {
        let path = |at: usize| (format!("o{at}.v"), doc! { "$max": format!("$k{at}") }.into());
        let output: Document = (0..n).map(path).collect();
        Case::stage(wide(n), doc! { "$setWindowFields": { "output": output } })
    }),
    Row::new("$setWindowFields that looks ahead", 1_000, 20_000, |n| {
        let shift = |at: usize| doc! { "output": format!("$k{at}"), "by": 1 };
        let output = fields(n, |at| doc! { "$shift": shift(at) });
        let stage = doc! { "sortBy": { "x": 1 }, "output": output };
        Case::stage(wide(n), doc! { "$setWindowFields": stage })
    }),
    Row::new("$setWindowFields with many percentiles", 2_000, 100_000, |n| {
        let p = list(n, |at| at as f64 / n as f64);
        let of = doc! { "input": "$x", "p": p, "method": "approximate" };
        let output = doc! { "p": { "$percentile": of } };
        Case::stage(rows(2), doc! { "$setWindowFields": { "output": output } })
    }),
    Row::new("$sort", 1_000, 100_000, |n| Case::stage(rows(n), doc! { "$sort": { "y": -1 } })),
    Row::new("$sort with many keys", 8_000, 150_000, |n| {
        Case::stage(rows(1), doc! { "$sort": fields(n, |_| 1) })
    })
    .refused(13103),
    Row::new("$sort of arrays", 2_000, 100_000, |n| {
        Case::stage(vec![doc! { "a": numbers(n) }], doc! { "$sort": { "a": 1 } })
    }),
    Row::new("$sortByCount", 1_000, 100_000, |n| {
        Case::stage(rows(n), doc! { "$sortByCount": "$x" })
    }),
    Row::new("$unionWith", 1_000, 50_000, |n| {
        Case::stage(rows(n), doc! { "$unionWith": COLLECTION })
    }),
    Row::new("$set before a filter of many", 500, 20_000, |n| {
        let filter = fields(n, |_| doc! { "$ne": -1 });
        let set: Document = (0..n).map(|at| (format!("s{at}"), 1.into())).collect();
        Case::pipeline(wide(n), vec![doc! { "$set": set }, doc! { "$match": filter }])
    }),
    Row::new("$unset", 1_000, 50_000, |n| {
        Case::stage(vec![fields(n, |_| 1)], doc! { "$unset": names(n) })
    }),
    Row::new("$unwind", 1_000, 100_000, |n| {
        Case::stage(vec![doc! { "a": numbers(n) }], doc! { "$unwind": "$a" })
    }),
    Row::new("many stages", 100, 1_000, |n| {
        Case::pipeline(rows(1), list_of(n, |at| doc! { "$set": { "k": at as i32 } }))
    }),
    Row::product("many filters behind stages", 100, 500, |n| {
        let mut stages = list_of(n, |at| doc! { "$set": { format!("k{at}"): 1 } });
        stages.extend(list_of(n, |at| doc! { "$match": { "x": { "$ne": -1 - at as i32 } } }));
        Case::pipeline(rows(1), stages)
    }),
    Row::new("many filters", 100, 1_000, |n| {
        Case::pipeline(rows(1), list_of(n, |at| doc! { "$match": { format!("k{at}"): 1 } }))
    }),
    Row::new("many limits and skips", 100, 1_000, |n| {
        let stages = |at: usize| match at % 2 {
            0 => doc! { "$skip": 1 },
            _ => doc! { "$limit": 1_000 },
        };
        Case::pipeline(rows(1), list_of(n, stages))
    }),
];

/// Documents that differ in `_id`, `x` and `y`.
fn rows(n: usize) -> Vec<Document> {
    documents(n, |at| doc! { "_id": at, "x": at, "y": -at })
}

/// Two documents of many fields.
fn wide(n: usize) -> Vec<Document> {
    documents(2, |at| {
        let mut document = doc! { "x": at };
        document.extend(fields(n, |at| at as i32));
        document
    })
}

fn list_of(n: usize, stage: impl Fn(usize) -> Document) -> Vec<Document> {
    (0..n).map(stage).collect()
}
