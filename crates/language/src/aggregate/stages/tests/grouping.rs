use crate::Context;
use crate::aggregate::stages::testing::{World, check, run, stream};
use crate::aggregate::stages::{Group, Stage};
use crate::aggregate::{Nowhere, accumulators, expressions::Expression};
use bson::{Bson, Document, RawBsonRef, bson, doc, rawdoc};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn sales() -> Vec<Document> {
    vec![
        doc! {"_id": 1, "k": "a", "n": 1, "o": {"x": 1}},
        doc! {"_id": 2, "k": "b", "n": 2.5},
        doc! {"_id": 3, "k": "a", "n": 3i64, "o": {"x": 2, "y": 1}},
        doc! {"_id": 4, "k": "a", "n": null},
        doc! {"_id": 5, "k": "b", "n": "text"},
    ]
}

/// The value of one accumulator over the sales of `a`.
fn of_a(accumulator: Document) -> Bson {
    let group = doc! {"$group": {"_id": null, "v": accumulator}};
    let out = run(vec![doc! {"$match": {"k": "a"}}, group], sales()).unwrap();
    out[0].get("v").unwrap().clone()
}

#[test]
fn groups_come_in_the_order_they_are_met() {
    check(
        vec![
            doc! {"$group": {"_id": "$k", "sum": {"$sum": "$n"}, "avg": {"$avg": "$n"}, "count": {"$count": {}}}},
        ],
        sales(),
        vec![
            doc! {"_id": "a", "sum": 4i64, "avg": 2.0, "count": 3},
            doc! {"_id": "b", "sum": 2.5, "avg": 2.5, "count": 2},
        ],
    );
    check(
        vec![doc! {"$group": {"_id": {"$gt": ["$n", 2]}}}],
        vec![doc! {"n": 1}, doc! {"n": 3}],
        vec![doc! {"_id": false}, doc! {"_id": true}],
    );
    check(
        vec![doc! {"$group": {"_id": "$n", "c": {"$sum": 1}}}],
        vec![doc! {"n": 1}, doc! {"n": 1.0}, doc! {"n": 1i64}, doc! {}, doc! {"n": null}],
        vec![doc! {"_id": 1, "c": 3}, doc! {"_id": null, "c": 2}],
    );
    check(
        vec![doc! {"$group": {"_id": {"a": "$k", "b": "$x"}}}],
        vec![doc! {"k": 1}, doc! {"k": 1, "x": null}],
        vec![doc! {"_id": {"a": 1}}, doc! {"_id": {"a": 1, "b": null}}],
    );
    check(vec![doc! {"$group": {"_id": "$k"}}], vec![], vec![]);
}

#[test]
fn accumulators_of_a_group() {
    for (accumulator, expected) in [
        (doc! {"$min": "$n"}, bson!(1)),
        (doc! {"$max": "$n"}, bson!(3i64)),
        (doc! {"$first": "$n"}, bson!(1)),
        (doc! {"$last": "$n"}, bson!(null)),
        (doc! {"$first": "$missing"}, bson!(null)),
        (doc! {"$push": "$n"}, bson!([1, 3i64, null])),
        (doc! {"$push": "$o.x"}, bson!([1, 2])),
        (doc! {"$addToSet": "$k"}, bson!(["a"])),
        (doc! {"$mergeObjects": "$o"}, bson!({"x": 2, "y": 1})),
        (doc! {"$stdDevPop": "$n"}, bson!(1.0)),
        (doc! {"$stdDevSamp": "$n"}, bson!(std::f64::consts::SQRT_2)),
        (doc! {"$firstN": {"n": 2, "input": "$_id"}}, bson!([1, 3])),
        (doc! {"$lastN": {"n": 2, "input": "$_id"}}, bson!([3, 4])),
        (doc! {"$minN": {"n": 2, "input": "$_id"}}, bson!([1, 3])),
        (doc! {"$maxN": {"n": 2, "input": "$n"}}, bson!([3i64, 1])),
        (doc! {"$top": {"sortBy": {"_id": -1}, "output": "$_id"}}, bson!(4)),
        (
            doc! {"$topN": {"n": 2, "sortBy": {"_id": -1}, "output": ["$_id", "$k"]}},
            bson!([[4, "a"], [3, "a"]]),
        ),
        (doc! {"$bottom": {"sortBy": {"_id": -1}, "output": "$_id"}}, bson!(1)),
        (doc! {"$bottomN": {"n": 2, "sortBy": {"_id": 1}, "output": "$_id"}}, bson!([3, 4])),
        (doc! {"$median": {"input": "$n", "method": "approximate"}}, bson!(1.0)),
        (
            doc! {"$percentile": {"input": "$n", "p": [0.0, 1.0], "method": "approximate"}},
            bson!([1.0, 3.0]),
        ),
        (doc! {"$concatArrays": {"$slice": [["$_id"], 1]}}, bson!([1, 3, 4])),
        (doc! {"$setUnion": {"$slice": [["$k", "z"], 2]}}, bson!(["a", "z"])),
        (doc! {"$sum": "$k"}, bson!(0)),
        (doc! {"$avg": "$k"}, bson!(null)),
    ] {
        let shown = accumulator.to_string();
        assert_eq!(of_a(accumulator), expected, "{shown}");
    }
}

#[test]
fn n_may_depend_on_the_group() {
    check(
        vec![doc! {"$group": {"_id": {"k": "$k"}, "v": {"$firstN": {
        "n": {"$cond": [{"$eq": ["$k", "a"]}, 1, 2]}, "input": "$_id"}}}}],
        sales(),
        vec![doc! {"_id": {"k": "a"}, "v": [1]}, doc! {"_id": {"k": "b"}, "v": [2, 5]}],
    );
}

#[test]
fn groups_that_do_not_fit_are_spilled() {
    let context = Context::new();
    let parse = || {
        let sum = rawdoc! {"$sum": "$n"};
        let sum = accumulators::parse_field("s", RawBsonRef::Document(&sum), &context).unwrap();
        let id = Expression::parse(RawBsonRef::String("$k"), &context).unwrap();
        let mut group = Group::new(id, vec![("s".into(), sum)], &context);
        group.memory_bytes_max = 2000;
        Arc::new(group)
    };
    let input = || stream((0..300).map(|i| doc! {"k": i % 100, "n": 1}).collect());
    let world = Arc::new(World::default());
    let mut out: Vec<(i32, i32)> = parse()
        .run(input(), &(world.clone() as _))
        .unwrap()
        .map(|document| {
            let document = document.unwrap();
            (document.get_i32("_id").unwrap(), document.get_i32("s").unwrap())
        })
        .collect();
    out.sort_unstable();
    assert_eq!(out, (0..100).map(|k| (k, 3)).collect::<Vec<_>>());
    assert!(world.spills.load(Ordering::Relaxed) > 1);
    let refused = parse().run(input(), &(Arc::new(Nowhere) as _)).unwrap().find(Result::is_err);
    assert_eq!(refused.unwrap().unwrap_err().code().number(), 292);
}

#[test]
fn buckets() {
    let ages = || [5, 15, 25, 15, 99].iter().map(|a| doc! {"a": *a}).collect::<Vec<_>>();
    check(
        vec![
            doc! {"$bucket": {"groupBy": "$a", "boundaries": [0, 10, 30], "default": "other", "output": {"n": {"$sum": 1}}}},
        ],
        ages(),
        vec![doc! {"_id": 0, "n": 1}, doc! {"_id": 10, "n": 3}, doc! {"_id": "other", "n": 1}],
    );
    let outside = run(vec![doc! {"$bucket": {"groupBy": "$a", "boundaries": [0, 10]}}], ages());
    assert_eq!(outside.unwrap_err().code().number(), 40066);
    check(
        vec![doc! {"$bucketAuto": {"groupBy": "$a", "buckets": 2}}],
        ages(),
        vec![
            doc! {"_id": {"min": 5, "max": 25}, "count": 3},
            doc! {"_id": {"min": 25, "max": 99}, "count": 2},
        ],
    );
    check(
        vec![
            doc! {"$bucketAuto": {"groupBy": "$a", "buckets": 2, "granularity": "POWERSOF2", "output": {"first": {"$first": "$a"}}}},
        ],
        ages(),
        vec![
            doc! {"_id": {"min": 4, "max": 16}, "first": 5},
            doc! {"_id": {"min": 16, "max": 128}, "first": 25},
        ],
    );
    check(
        vec![doc! {"$sortByCount": "$a"}],
        ages(),
        vec![
            doc! {"_id": 15, "count": 2},
            doc! {"_id": 5, "count": 1},
            doc! {"_id": 25, "count": 1},
            doc! {"_id": 99, "count": 1},
        ],
    );
}
