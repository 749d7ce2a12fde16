use crate::aggregate::expressions::testing::{errors, evaluate, sample, values};
use bson::bson;

#[test]
fn elements() {
    values(vec![
        (bson!({"$arrayElemAt": ["$array", 0]}), bson!(1)),
        (bson!({"$arrayElemAt": ["$array", -1]}), bson!(3)),
        (bson!({"$arrayElemAt": ["$missing", 0]}), bson!(null)),
        (bson!({"$arrayElemAt": ["$array", 1.0]}), bson!(2)),
        (bson!({"$first": "$array"}), bson!(1)),
        (bson!({"$last": "$array"}), bson!(3)),
        (bson!({"$last": "$missing"}), bson!(null)),
        (bson!({"$in": [2, "$array"]}), bson!(true)),
        (bson!({"$in": ["$missing", "$array"]}), bson!(false)),
        (bson!({"$indexOfArray": ["$array", 2]}), bson!(1)),
        (bson!({"$indexOfArray": ["$array", 1, 1]}), bson!(-1)),
        (bson!({"$indexOfArray": ["$array", 3, 0, 2]}), bson!(-1)),
        (bson!({"$indexOfArray": ["$null", 1]}), bson!(null)),
        (bson!({"$isArray": "$array"}), bson!(true)),
        (bson!({"$isArray": ["$int"]}), bson!(false)),
        (bson!({"$size": "$array"}), bson!(3)),
        (bson!({"$firstN": {"n": 2, "input": "$array"}}), bson!([1, 2])),
        (bson!({"$lastN": {"n": 2, "input": "$array"}}), bson!([2, 3])),
        (bson!({"$maxN": {"n": 2, "input": "$array"}}), bson!([3, 2])),
        (bson!({"$minN": {"n": 2, "input": [5, null, 4]}}), bson!([4, 5])),
    ]);
    for outside in [bson!({"$arrayElemAt": ["$array", 3]}), bson!({"$first": "$empty"})] {
        assert_eq!(evaluate(outside, sample()).unwrap(), None);
    }
    errors(vec![
        (bson!({"$arrayElemAt": ["$int", 0]}), 28689),
        (bson!({"$arrayElemAt": ["$array", "x"]}), 28690),
        (bson!({"$arrayElemAt": ["$array", 0.5]}), 28691),
        (bson!({"$first": "$int"}), 28689),
        (bson!({"$in": [1, "$int"]}), 40081),
        (bson!({"$in": [1, "$missing"]}), 40081),
        (bson!({"$indexOfArray": ["$int", 1]}), 40090),
        (bson!({"$indexOfArray": ["$array", 1, "x"]}), 9711600),
        (bson!({"$indexOfArray": ["$array", 1, -1]}), 9711601),
        (bson!({"$indexOfArray": ["$array"]}), 28667),
        (bson!({"$size": "$missing"}), 17124),
        (bson!({"$firstN": 1}), 5787900),
        (bson!({"$firstN": {"n": 1, "input": [], "x": 1}}), 5787901),
        (bson!({"$firstN": {"input": []}}), 5787906),
        (bson!({"$firstN": {"n": 1}}), 5787907),
        (bson!({"$firstN": {"n": "x", "input": "$array"}}), 5787902),
        (bson!({"$firstN": {"n": 1.5, "input": "$array"}}), 5787903),
        (bson!({"$firstN": {"n": 0, "input": "$array"}}), 5787908),
        (bson!({"$lastN": {"n": 1, "input": "$int"}}), 5788200),
    ]);
}

#[test]
fn pairs() {
    values(vec![
        (bson!({"$arrayToObject": [[["a", 1], ["b", 2], ["a", 3]]]}), bson!({"a": 3, "b": 2})),
        (bson!({"$arrayToObject": [[{"k": "a", "v": 1}]]}), bson!({"a": 1})),
        (bson!({"$arrayToObject": "$missing"}), bson!(null)),
        (bson!({"$arrayToObject": "$empty"}), bson!({})),
        (bson!({"$objectToArray": {"a": 1}}), bson!([{"k": "a", "v": 1}])),
        (bson!({"$objectToArray": "$null"}), bson!(null)),
        (bson!({"$zip": {"inputs": [[1, 2], ["a"]]}}), bson!([[1, "a"]])),
        (
            bson!({"$zip": {"inputs": [[1, 2], ["a"]], "useLongestLength": true, "defaults": [0, "x"]}}),
            bson!([[1, "a"], [2, "x"]]),
        ),
        (bson!({"$zip": {"inputs": ["$array", "$null"]}}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$arrayToObject": "$int"}), 40386),
        (bson!({"$arrayToObject": [[1]]}), 40398),
        (bson!({"$arrayToObject": [[["a", 1], 2]]}), 40396),
        (bson!({"$arrayToObject": [[["a"]]]}), 40397),
        (bson!({"$arrayToObject": [[[1, 2]]]}), 40395),
        (bson!({"$arrayToObject": [[{"k": "a", "v": 1}, 2]]}), 40391),
        (bson!({"$arrayToObject": [[{"k": "a"}]]}), 40392),
        (bson!({"$arrayToObject": [[{"k": "a", "w": 1}]]}), 40393),
        (bson!({"$arrayToObject": [[{"k": 1, "v": 1}]]}), 40394),
        (bson!({"$objectToArray": "$int"}), 40390),
        (bson!({"$zip": 1}), 34460),
        (bson!({"$zip": {"inputs": 1}}), 34461),
        (bson!({"$zip": {"inputs": []}}), 34465),
        (bson!({"$zip": {"inputs": [[1]], "defaults": [1]}}), 34466),
        (bson!({"$zip": {"inputs": [[1]], "defaults": [1, 2], "useLongestLength": true}}), 34467),
        (bson!({"$zip": {"inputs": ["$int"]}}), 34468),
        (bson!({"$zip": {"x": 1}}), 34464),
    ]);
}

#[test]
fn whole_arrays() {
    values(vec![
        (bson!({"$concatArrays": ["$array", [4]]}), bson!([1, 2, 3, 4])),
        (bson!({"$concatArrays": ["$array", "$missing"]}), bson!(null)),
        (bson!({"$concatArrays": []}), bson!([])),
        (bson!({"$range": [0, 5, 2]}), bson!([0, 2, 4])),
        (bson!({"$range": [3, 0, -1]}), bson!([3, 2, 1])),
        (bson!({"$range": [0, 5, -1]}), bson!([])),
        (bson!({"$reverseArray": "$array"}), bson!([3, 2, 1])),
        (bson!({"$slice": ["$array", 2]}), bson!([1, 2])),
        (bson!({"$slice": ["$array", -2]}), bson!([2, 3])),
        (bson!({"$slice": ["$array", 1, 1]}), bson!([2])),
        (bson!({"$slice": ["$array", -5, 1]}), bson!([1])),
        (bson!({"$slice": ["$null", 1]}), bson!(null)),
        (bson!({"$sortArray": {"input": [3, 1, 2], "sortBy": -1}}), bson!([3, 2, 1])),
        (
            bson!({"$sortArray": {"input": [{"a": 2}, {"a": 1}], "sortBy": {"a": 1}}}),
            bson!([{"a": 1}, {"a": 2}]),
        ),
        (bson!({"$sortArray": {"input": "$missing", "sortBy": 1}}), bson!(null)),
    ]);
    errors(vec![
        (bson!({"$concatArrays": ["$array", "$int"]}), 28664),
        (bson!({"$range": ["x", 1]}), 34443),
        (bson!({"$range": [0.5, 1]}), 34444),
        (bson!({"$range": [0, "x"]}), 34445),
        (bson!({"$range": [0, 0.5]}), 34446),
        (bson!({"$range": [0, 1, "x"]}), 34447),
        (bson!({"$range": [0, 1, 0.5]}), 34448),
        (bson!({"$range": [0, 1, 0]}), 34449),
        (bson!({"$range": [0, 1_000_000_000]}), 146),
        (bson!({"$reverseArray": "$int"}), 34435),
        (bson!({"$slice": ["$int", 1]}), 28724),
        (bson!({"$slice": ["$array", "x"]}), 28725),
        (bson!({"$slice": ["$array", 0.5]}), 28726),
        (bson!({"$slice": ["$array", 1, "x"]}), 28727),
        (bson!({"$slice": ["$array", 1, 0.5]}), 28728),
        (bson!({"$slice": ["$array", 1, 0]}), 28729),
        (bson!({"$sortArray": 1}), 2942500),
        (bson!({"$sortArray": {"x": 1}}), 2942501),
        (bson!({"$sortArray": {"sortBy": 1}}), 2942502),
        (bson!({"$sortArray": {"input": []}}), 2942503),
        (bson!({"$sortArray": {"input": "$int", "sortBy": 1}}), 2942504),
        (bson!({"$sortArray": {"input": [], "sortBy": 2}}), 2942506),
    ]);
}

#[test]
fn with_variables() {
    values(vec![
        (
            bson!({"$filter": {"input": "$array", "as": "x", "cond": {"$gt": ["$$x", 1]}}}),
            bson!([2, 3]),
        ),
        (
            bson!({"$filter": {"input": "$array", "cond": {"$gt": ["$$this", 1]}, "limit": 1}}),
            bson!([2]),
        ),
        (bson!({"$filter": {"input": "$null", "cond": true}}), bson!(null)),
        (
            bson!({"$map": {"input": "$array", "in": {"$add": ["$$this", "$int"]}}}),
            bson!([8, 9, 10]),
        ),
        (
            bson!({"$map": {"input": "$array", "as": "x", "in": "$missing"}}),
            bson!([null, null, null]),
        ),
        (bson!({"$map": {"input": "$missing", "in": 1}}), bson!(null)),
        (
            bson!({"$reduce": {"input": "$array", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}),
            bson!(6),
        ),
        (bson!({"$reduce": {"input": "$null", "initialValue": 0, "in": 1}}), bson!(null)),
        (
            bson!({"$map": {"input": [[1, 2], [3]], "as": "row", "in":
                {"$map": {"input": "$$row", "in": {"$add": ["$$this", {"$size": "$$row"}]}}}}}),
            bson!([[3, 4], [4]]),
        ),
    ]);
    errors(vec![
        (bson!({"$filter": 1}), 28646),
        (bson!({"$filter": {"x": 1}}), 28647),
        (bson!({"$filter": {"cond": 1}}), 28648),
        (bson!({"$filter": {"input": []}}), 28650),
        (bson!({"$filter": {"input": "$int", "cond": 1}}), 28651),
        (bson!({"$filter": {"input": "$array", "cond": 1, "limit": 0}}), 327392),
        (bson!({"$filter": {"input": "$array", "cond": 1, "limit": "x"}}), 327391),
        (bson!({"$map": 1}), 16878),
        (bson!({"$map": {"x": 1}}), 16879),
        (bson!({"$map": {"in": 1}}), 16880),
        (bson!({"$map": {"input": []}}), 16882),
        (bson!({"$map": {"input": "$int", "in": 1}}), 16883),
        (bson!({"$reduce": 1}), 40075),
        (bson!({"$reduce": {"x": 1}}), 40076),
        (bson!({"$reduce": {"initialValue": 1, "in": 1}}), 40077),
        (bson!({"$reduce": {"input": [], "in": 1}}), 40078),
        (bson!({"$reduce": {"input": [], "initialValue": 1}}), 40079),
        (bson!({"$reduce": {"input": "$int", "initialValue": 1, "in": 1}}), 40080),
        (
            bson!({"$reduce": {"input": {"$range": [0, 1000]}, "initialValue": [], "in": ["$$value"]}}),
            15,
        ),
        (
            bson!({"$reduce": {"input": {"$range": [0, 100]}, "initialValue": "x", "in":
            {"$concat": ["$$value", "$$value"]}}}),
            146,
        ),
    ]);
}
