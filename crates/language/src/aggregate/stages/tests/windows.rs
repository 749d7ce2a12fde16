use crate::aggregate::stages::testing::{check, refused, run};
use bson::{Bson, DateTime, Document, bson, doc};

fn rows() -> Vec<Document> {
    vec![
        doc! {"_id": 1, "k": "a", "t": 1, "n": 10},
        doc! {"_id": 2, "k": "a", "t": 2, "n": 20},
        doc! {"_id": 3, "k": "a", "t": 4, "n": null},
        doc! {"_id": 4, "k": "a", "t": 5, "n": 40},
        doc! {"_id": 5, "k": "b", "t": 1, "n": 7},
    ]
}

/// The values of one function over the rows of `a`, sorted by `t`.
fn of_a(function: Document) -> Bson {
    let stage = doc! {"$setWindowFields": {"partitionBy": "$k", "sortBy": {"t": 1}, "output": {"v": function}}};
    let out = run(vec![stage], rows()).unwrap();
    Bson::Array(
        out[..4].iter().map(|row| row.get("v").cloned().unwrap_or(Bson::Undefined)).collect(),
    )
}

#[test]
fn functions() {
    for (function, expected) in [
        (doc! {"$sum": "$n"}, bson!([70, 70, 70, 70])),
        (
            doc! {"$sum": "$n", "window": {"documents": ["unbounded", "current"]}},
            bson!([10, 30, 30, 70]),
        ),
        (
            doc! {"$push": "$_id", "window": {"documents": [-1, 1]}},
            bson!([[1, 2], [1, 2, 3], [2, 3, 4], [3, 4]]),
        ),
        (doc! {"$push": "$_id", "window": {"documents": [1, 2]}}, bson!([[2, 3], [3, 4], [4], []])),
        (doc! {"$push": "$_id", "window": {"range": [-1, 0]}}, bson!([[1], [1, 2], [3], [3, 4]])),
        (
            doc! {"$avg": "$n", "window": {"documents": ["current", "unbounded"]}},
            bson!([70.0 / 3.0, 30.0, 40.0, 40.0]),
        ),
        (doc! {"$count": {}}, bson!([4, 4, 4, 4])),
        (doc! {"$max": "$n", "window": {"documents": [-1, 0]}}, bson!([10, 20, 20, 40])),
        (doc! {"$first": "$_id"}, bson!([1, 1, 1, 1])),
        (doc! {"$rank": {}}, bson!([1, 2, 3, 4])),
        (doc! {"$denseRank": {}}, bson!([1, 2, 3, 4])),
        (doc! {"$documentNumber": {}}, bson!([1, 2, 3, 4])),
        (doc! {"$shift": {"output": "$_id", "by": 1, "default": "none"}}, bson!([2, 3, 4, "none"])),
        (doc! {"$shift": {"output": "$_id", "by": -1}}, bson!([null, 1, 2, 3])),
        (doc! {"$locf": "$n"}, bson!([10, 20, 20, 40])),
        (doc! {"$linearFill": "$n"}, bson!([10, 20, 20.0 + 2.0 * (20.0 / 3.0), 40])),
        (doc! {"$expMovingAvg": {"input": "$n", "alpha": 0.5}}, bson!([10.0, 15.0, 15.0, 27.5])),
        (doc! {"$expMovingAvg": {"input": "$n", "N": 3}}, bson!([10.0, 15.0, 15.0, 27.5])),
        (
            doc! {"$derivative": {"input": "$_id"}, "window": {"documents": [-1, 0]}},
            bson!([null, 1.0, 1.0 / 2.0, 1.0]),
        ),
        (
            doc! {"$integral": {"input": "$t"}, "window": {"documents": ["unbounded", "current"]}},
            bson!([0, 1.5, 7.5, 12.0]),
        ),
        (doc! {"$covariancePop": ["$t", "$t"]}, bson!([2.5, 2.5, 2.5, 2.5])),
        (
            doc! {"$covarianceSamp": ["$t", "$n"], "window": {"documents": ["current", "current"]}},
            bson!([null, null, null, null]),
        ),
        (
            doc! {"$topN": {"n": 1, "sortBy": {"t": -1}, "output": "$_id"}},
            bson!([[4], [4], [4], [4]]),
        ),
    ] {
        let shown = function.to_string();
        assert_eq!(of_a(function), expected, "{shown}");
    }
}

#[test]
fn ranks_share_places() {
    check(
        vec![
            doc! {"$setWindowFields": {"sortBy": {"n": -1}, "output": {"r": {"$rank": {}}, "d.e": {"$denseRank": {}}}}},
        ],
        vec![doc! {"n": 1}, doc! {"n": 3}, doc! {"n": 3}],
        vec![
            doc! {"n": 3, "r": 1, "d": {"e": 1}},
            doc! {"n": 3, "r": 1, "d": {"e": 1}},
            doc! {"n": 1, "r": 3, "d": {"e": 2}},
        ],
    );
}

#[test]
fn dates_in_units() {
    let day = |day: i64| DateTime::from_millis(day * 86_400_000);
    check(
        vec![doc! {"$setWindowFields": {"sortBy": {"t": 1}, "output": {
            "n": {"$count": {}, "window": {"range": [-1, 0], "unit": "day"}},
            "d": {"$derivative": {"input": "$v", "unit": "day"}, "window": {"documents": [-1, 0]}},
        }}}],
        vec![doc! {"t": day(1), "v": 1}, doc! {"t": day(2), "v": 3}, doc! {"t": day(4), "v": 4}],
        vec![
            doc! {"t": day(1), "v": 1, "n": 1, "d": null},
            doc! {"t": day(2), "v": 3, "n": 2, "d": 2.0},
            doc! {"t": day(4), "v": 4, "n": 1, "d": 0.5},
        ],
    );
}

#[test]
fn partitions_by_expressions() {
    check(
        vec![
            doc! {"$setWindowFields": {"partitionBy": {"$mod": ["$n", 2]}, "output": {"c": {"$sum": 1}}}},
        ],
        vec![doc! {"n": 1}, doc! {"n": 2}, doc! {"n": 3}],
        vec![doc! {"n": 2, "c": 1}, doc! {"n": 1, "c": 2}, doc! {"n": 3, "c": 2}],
    );
    let array = run(
        vec![doc! {"$setWindowFields": {"partitionBy": "$n", "output": {}}}],
        vec![doc! {"n": [1]}],
    );
    assert_eq!(array.unwrap_err().code().number(), 14);
}

#[test]
fn filling() {
    check(
        vec![
            doc! {"$fill": {"sortBy": {"t": 1}, "partitionByFields": ["k"], "output": {"n": {"method": "linear"}, "m": {"value": 0}}}},
        ],
        vec![
            doc! {"k": 1, "t": 0, "n": 0},
            doc! {"k": 1, "t": 1, "m": 5},
            doc! {"k": 1, "t": 2, "n": 10},
        ],
        vec![
            doc! {"k": 1, "t": 0, "n": 0, "m": 0},
            doc! {"k": 1, "t": 1, "m": 5, "n": 5.0},
            doc! {"k": 1, "t": 2, "n": 10, "m": 0},
        ],
    );
}

#[test]
fn densifying() {
    check(
        vec![doc! {"$densify": {"field": "n", "range": {"step": 2, "bounds": "full"}}}],
        vec![doc! {"n": 0, "x": 1}, doc! {"n": 5}, doc! {}],
        vec![doc! {}, doc! {"n": 0, "x": 1}, doc! {"n": 2}, doc! {"n": 4}, doc! {"n": 5}],
    );
    check(
        vec![
            doc! {"$densify": {"field": "n", "partitionByFields": ["k"], "range": {"step": 1, "bounds": [0, 3]}}},
        ],
        vec![doc! {"k": 1, "n": 1}],
        vec![doc! {"k": 1, "n": 0}, doc! {"k": 1, "n": 1}, doc! {"k": 1, "n": 2}],
    );
    let hour = |hour: i64| DateTime::from_millis(hour * 3_600_000);
    check(
        vec![
            doc! {"$densify": {"field": "t", "range": {"step": 1, "unit": "hour", "bounds": "full"}}},
        ],
        vec![doc! {"t": hour(0)}, doc! {"t": hour(2)}],
        vec![doc! {"t": hour(0)}, doc! {"t": hour(1)}, doc! {"t": hour(2)}],
    );
    let many = run(
        vec![doc! {"$densify": {"field": "n", "range": {"step": 1, "bounds": [0, 2_000_000_000]}}}],
        vec![doc! {"n": 1}],
    );
    assert_eq!(many.unwrap_err().code().number(), 5897900);
}

#[test]
fn misuse() {
    let window =
        |output: Document| doc! {"$setWindowFields": {"sortBy": {"t": 1}, "output": {"v": output}}};
    let unsorted = |output: Document| doc! {"$setWindowFields": {"output": {"v": output}}};
    refused(vec![
        (doc! {"$setWindowFields": 1}, 9),
        (doc! {"$setWindowFields": {}}, 40414),
        (doc! {"$setWindowFields": {"output": {}, "x": 1}}, 40415),
        (doc! {"$setWindowFields": {"output": 1}}, 14),
        (doc! {"$setWindowFields": {"output": {"a": {"$sum": 1}, "a.b": {"$sum": 1}}}}, 6307900),
        (doc! {"$setWindowFields": {"partitionBy": [1], "output": {}}}, 14),
        (window(doc! {"$foo": 1}), 9),
        (window(doc! {"$mergeObjects": "$a"}), 9),
        (window(doc! {"sum": 1}), 9),
        (window(doc! {"$sum": 1, "windoww": {}}), 9),
        (window(doc! {"$sum": 1, "window": {"documents": [1]}}), 9),
        (window(doc! {"$sum": 1, "window": {"documents": [1, -1]}}), 5339900),
        (window(doc! {"$sum": 1, "window": {"documents": [0, 1], "range": [0, 1]}}), 9),
        (window(doc! {"$sum": 1, "window": {"documents": ["x", 1]}}), 9),
        (unsorted(doc! {"$sum": 1, "window": {"documents": [0, 1]}}), 5339901),
        (unsorted(doc! {"$sum": 1, "window": {"range": [0, 1]}}), 5339902),
        (unsorted(doc! {"$rank": {}}), 5371602),
        (window(doc! {"$rank": 1}), 5371603),
        (window(doc! {"$rank": {}, "window": {}}), 5371601),
        (unsorted(doc! {"$shift": {"output": 1, "by": 1}}), 9),
        (window(doc! {"$shift": {"output": 1, "by": "x"}}), 9),
        (window(doc! {"$expMovingAvg": {"input": 1, "N": 0}}), 9),
        (window(doc! {"$derivative": {"input": 1}}), 9),
        (unsorted(doc! {"$linearFill": "$a"}), 605001),
        (doc! {"$fill": {"output": {}}}, 6050203),
        (doc! {"$fill": {"output": {"a": 1}}}, 6050200),
        (doc! {"$fill": {"output": {"a": {"method": "x"}}}}, 6050202),
        (doc! {"$fill": {"output": {"a": {"method": "locf", "value": 1}}}}, 6050201),
        (doc! {"$densify": 1}, 9),
        (doc! {"$densify": {"range": {"step": 1, "bounds": "full"}}}, 40414),
        (doc! {"$densify": {"field": "a", "range": {"step": 0, "bounds": "full"}}}, 5733401),
        (doc! {"$densify": {"field": "a", "range": {"step": 1, "bounds": "x"}}}, 5946802),
        (doc! {"$densify": {"field": "a", "range": {"step": 1, "bounds": [1]}}}, 5733403),
        (doc! {"$densify": {"field": "a", "range": {"step": 1, "bounds": [2, 1]}}}, 5733402),
        (doc! {"$densify": {"field": "a", "range": {"step": 1, "bounds": [1, 2.5]}}}, 5876900),
        (doc! {"$densify": {"field": "a", "range": {"step": 1, "bounds": "partition"}}}, 5733408),
    ]);
}
