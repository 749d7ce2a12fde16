//! Expressions, each on one document whose values grow with the size.

use super::Row;
use super::case::{Case, fields, list, names, numbers};
use bson::{Bson, Document, bson, doc};

macro_rules! rows {
    ($($name:literal $size:literal $largest:literal $expression:expr;)*) => {
        &[$(Row::new($name, $size, $largest, |n| case(n, ($expression as fn(usize) -> Bson)(n)))),*]
    };
}

pub const ROWS: &[Row] = rows! {
    "$abs in $map" 2_000 200_000 |_| map(bson!({ "$abs": "$$this" }));
    "$add" 4_000 200_000 |n| bson!({ "$add": numbers(n) });
    "$add of fields" 1_000 50_000 |n| bson!({ "$add": list(n, |_| "$one") });
    "$allElementsTrue" 8_000 200_000 |_| bson!({ "$allElementsTrue": ["$b"] });
    "$and" 4_000 100_000 |n| bson!({ "$and": list(n, |_| "$one") });
    "$anyElementTrue" 8_000 200_000 |_| bson!({ "$anyElementTrue": [["$zero"]] });
    "$arrayElemAt" 8_000 200_000 |n| bson!({ "$arrayElemAt": ["$a", n as i32 - 1] });
    "$arrayToObject" 4_000 200_000 |_| bson!({ "$arrayToObject": "$pairs" });
    "$avg" 8_000 200_000 |_| bson!({ "$avg": "$a" });
    "$binarySize" 16_000 4_000_000 |_| bson!({ "$binarySize": "$ascii" });
    "$bitAnd" 2_000 100_000 |n| bson!({ "$bitAnd": list(n, |_| "$one") });
    "$bitXor" 2_000 100_000 |n| bson!({ "$bitXor": list(n, |_| "$one") });
    "$bsonSize" 8_000 200_000 |_| bson!({ "$bsonSize": "$$ROOT" });
    "$cmp of arrays" 8_000 200_000 |_| bson!({ "$cmp": ["$a", "$a"] });
    "$concat" 2_000 100_000 |n| bson!({ "$concat": list(n, |_| "$x") });
    "$concat of constants" 4_000 100_000 |n| bson!({ "$concat": list(n, |_| "x") });
    "$concatArrays of many" 1_000 50_000 |n| bson!({ "$concatArrays": list(n, |_| "$few") });
    "$concatArrays of long" 8_000 100_000 |_| bson!({ "$concatArrays": ["$a", "$b"] });
    "$cond" 4_000 100_000 |_| map(bson!({ "$cond": ["$$this", 1, 2] }));
    "$convert to a string" 2_000 100_000
        |_| map(bson!({ "$convert": { "input": "$$this", "to": "string" } }));
    "$convert to binary" 16_000 4_000_000
        |_| bson!({ "$convert": { "input": "$ascii", "to": { "type": "binData" }, "format": "utf8" } });
    "$convert to a number" 2_000 100_000
        |_| bson!({ "$map": { "input": "$digits", "in": { "$toInt": "$$this" } } });
    "$dateToString" 8_000 1_000_000
        |n| bson!({ "$dateToString": { "date": "$date", "format": "%Y".repeat(n) } });
    "$dateFromString" 8_000 1_000_000
        |n| bson!({ "$dateFromString": { "dateString": "$ascii", "format": "x".repeat(n), "onError": 1 } });
    "$divide in $map" 2_000 200_000 |_| map(bson!({ "$divide": ["$$this", 2] }));
    "$eq of arrays" 8_000 200_000 |_| bson!({ "$eq": ["$a", "$a"] });
    "$filter" 4_000 200_000
        |_| bson!({ "$filter": { "input": "$a", "cond": { "$gt": ["$$this", 5] } } });
    "$firstN" 8_000 200_000 |n| bson!({ "$firstN": { "n": n as i32, "input": "$a" } });
    "$getField" 8_000 200_000 |n| bson!({ "$getField": { "field": format!("k{}", n - 1), "input": "$o" } });
    "$ifNull" 2_000 100_000 |n| bson!({ "$ifNull": list(n, |_| "$missing") });
    "$in" 8_000 200_000 |_| bson!({ "$in": [-1, "$a"] });
    "$indexOfArray" 8_000 200_000 |_| bson!({ "$indexOfArray": ["$a", -1] });
    "$indexOfBytes" 16_000 4_000_000 |_| bson!({ "$indexOfBytes": ["$ascii", "$half"] });
    "$indexOfBytes from a place" 16_000 4_000_000
        |n| bson!({ "$indexOfBytes": ["$wide", "é", n as i32, 2 * n as i32] });
    "$indexOfCP" 16_000 4_000_000 |_| bson!({ "$indexOfCP": ["$wide", "$half"] });
    "$isArray" 8_000 200_000 |_| bson!({ "$isArray": ["$a"] });
    "$lastN" 8_000 200_000 |n| bson!({ "$lastN": { "n": n as i32, "input": "$a" } });
    "$let of many" 1_000 50_000 |n| bson!({
        "$let": { "vars": fields(n, |_| "$one"), "in": list(n, |at| format!("$$k{at}")) }
    });
    "$ltrim" 16_000 4_000_000 |_| bson!({ "$ltrim": { "input": "$ascii", "chars": "$ascii" } });
    "$map" 4_000 200_000 |_| map(bson!({ "x": "$$this" }));
    "$max" 8_000 200_000 |_| bson!({ "$max": "$a" });
    "$maxN" 4_000 200_000 |n| bson!({ "$maxN": { "n": n as i32, "input": "$a" } });
    "$median" 4_000 200_000
        |_| bson!({ "$median": { "input": "$a", "method": "approximate" } });
    "$mergeObjects" 1_000 100_000 |_| bson!({ "$mergeObjects": "$documents" });
    "$minN" 4_000 200_000 |n| bson!({ "$minN": { "n": n as i32, "input": "$a" } });
    "$multiply" 2_000 100_000 |n| bson!({ "$multiply": list(n, |_| "$one") });
    "$objectToArray" 4_000 200_000 |_| bson!({ "$objectToArray": "$o" });
    "$or" 2_000 100_000 |n| bson!({ "$or": list(n, |_| "$zero") });
    "$percentile" 4_000 200_000 |_| bson!({
        "$percentile": { "input": "$a", "p": [0.1, 0.5, 0.9], "method": "approximate" }
    });
    "$range" 16_000 200_000 |n| bson!({ "$range": [0, n as i32] });
    "$reduce" 4_000 200_000 |_| bson!({
        "$reduce": { "input": "$a", "initialValue": 0, "in": { "$add": ["$$value", "$$this"] } }
    });
    "$regexFind" 16_000 4_000_000 |_| bson!({ "$regexFind": { "input": "$wide", "regex": "z" } });
    "$regexFindAll" 2_000 200_000
        |_| bson!({ "$size": { "$regexFindAll": { "input": "$ascii", "regex": "a" } } });
    "$regexFindAll in wide text" 2_000 200_000
        |_| bson!({ "$size": { "$regexFindAll": { "input": "$wide", "regex": "é" } } });
    "$regexFindAll of nothing" 2_000 200_000
        |_| bson!({ "$size": { "$regexFindAll": { "input": "$wide", "regex": "" } } });
    "$regexMatch" 16_000 4_000_000 |_| bson!({ "$regexMatch": { "input": "$wide", "regex": "z" } });
    "$replaceAll" 8_000 2_000_000
        |_| bson!({ "$replaceAll": { "input": "$ascii", "find": "a", "replacement": "b" } });
    "$replaceOne" 16_000 4_000_000
        |_| bson!({ "$replaceOne": { "input": "$ascii", "find": "$half", "replacement": "b" } });
    "$reverseArray" 8_000 200_000 |_| bson!({ "$reverseArray": "$a" });
    "$rtrim" 16_000 4_000_000 |_| bson!({ "$rtrim": { "input": "$ascii", "chars": "$ascii" } });
    "$setDifference" 4_000 200_000 |_| bson!({ "$setDifference": ["$a", "$b"] });
    "$setEquals" 4_000 200_000 |_| bson!({ "$setEquals": ["$a", "$a"] });
    "$setField" 4_000 200_000 |n| bson!({
        "$setField": { "field": format!("k{}", n - 1), "input": "$o", "value": 1 }
    });
    "$setIntersection" 4_000 200_000 |_| bson!({ "$setIntersection": ["$a", "$a"] });
    "$setIsSubset" 4_000 200_000 |_| bson!({ "$setIsSubset": ["$a", "$a"] });
    "$setUnion" 4_000 200_000 |_| bson!({ "$setUnion": ["$a", "$b"] });
    "$setUnion of many" 1_000 50_000 |n| bson!({ "$setUnion": list(n, |at| vec![at as i32]) });
    "$size" 8_000 200_000 |_| bson!({ "$size": "$a" });
    "$slice" 8_000 200_000 |n| bson!({ "$slice": ["$a", n as i32 - 1] });
    "$sortArray" 4_000 100_000 |_| bson!({ "$sortArray": { "input": "$a", "sortBy": -1 } });
    "$sortArray by a field" 2_000 100_000
        |_| bson!({ "$sortArray": { "input": "$documents", "sortBy": { "x": -1 } } });
    "$split" 4_000 2_000_000 |_| bson!({ "$split": ["$ascii", "a"] });
    "$stdDevPop" 8_000 200_000 |_| bson!({ "$stdDevPop": "$a" });
    "$strcasecmp" 16_000 4_000_000 |_| bson!({ "$strcasecmp": ["$ascii", "$ascii"] });
    "$strLenBytes" 16_000 4_000_000 |_| bson!({ "$strLenBytes": "$wide" });
    "$strLenCP" 16_000 4_000_000 |_| bson!({ "$strLenCP": "$wide" });
    "$substrBytes" 16_000 4_000_000 |n| bson!({ "$substrBytes": ["$ascii", n as i32 / 2, -1] });
    "$substrCP" 16_000 4_000_000 |n| bson!({ "$substrCP": ["$wide", n as i32 / 2, n as i32] });
    "$sum" 8_000 200_000 |_| bson!({ "$sum": "$a" });
    "$switch" 1_000 50_000 |n| bson!({
        "$switch": { "branches": list(n, |_| doc! { "case": "$zero", "then": 1 }), "default": 2 }
    });
    "$toHashedIndexKey" 16_000 4_000_000 |_| bson!({ "$toHashedIndexKey": "$ascii" });
    "$toLower" 16_000 4_000_000 |_| bson!({ "$toLower": "$ascii" });
    "$toUpper" 16_000 4_000_000 |_| bson!({ "$toUpper": "$ascii" });
    "$trim" 16_000 4_000_000 |_| bson!({ "$trim": { "input": "$ascii", "chars": "$ascii" } });
    "$unsetField" 4_000 200_000 |n| bson!({
        "$unsetField": { "field": format!("k{}", n - 1), "input": "$o" }
    });
    "$zip" 4_000 100_000 |_| bson!({ "$zip": { "inputs": ["$a", "$b"] } });
    "$zip of many" 1_000 50_000 |n| bson!({ "$zip": { "inputs": list(n, |_| "$few") } });
    "a constant array" 8_000 200_000 |n| bson!({ "$size": { "$literal": numbers(n) } });
    "a constant search" 2_000 200_000 |n| bson!({
        "$size": { "$regexFindAll": { "input": "é".repeat(n), "regex": "é" } }
    });
    "an array of fields" 1_000 50_000 |n| list(n, |_| "$one").into();
    "an object of fields" 1_000 50_000 |n| fields(n, |_| "$one").into();
    "paths through an array" 4_000 200_000 |_| bson!("$documents.x");
};

fn map(item: Bson) -> Bson {
    bson!({ "$map": { "input": "$a", "in": item } })
}

fn case(n: usize, expression: Bson) -> Case {
    let document = document(n, &expression);
    // What is computed is measured, not sent.
    let size = doc! { "$type": { "value": expression } };
    Case::pipeline(vec![document], vec![doc! { "$project": { "value": size } }])
}

/// Values of a size, by the names that the expressions use: those that one uses.
fn document(n: usize, expression: &Bson) -> Document {
    let number = n as i32;
    let mut document = doc! {
        "one": 1, "zero": 0, "x": "x", "few": [1], "date": bson::DateTime::from_millis(0),
    };
    let text = expression.to_string();
    let mut add = |name: &str, make: &dyn Fn() -> Bson| {
        if text.contains(&format!("\"${name}")) || text.contains("$$ROOT") {
            document.insert(name, make());
        }
    };
    add("a", &|| numbers(n).into());
    add("b", &|| list(n, |at| number + at as i32).into());
    add("ascii", &|| "a".repeat(n).into());
    add("half", &|| format!("{}b", "a".repeat(n / 2)).into());
    add("wide", &|| "é".repeat(n).into());
    add("digits", &|| list(n, |at| at.to_string()).into());
    add("o", &|| fields(n, |at| at as i32).into());
    add("pairs", &|| {
        names(n).into_iter().map(|k| doc! { "k": k, "v": 1 }).collect::<Vec<_>>().into()
    });
    add("documents", &|| list(n, |at| doc! { "x": at as i32, format!("k{at}"): 1 }).into());
    document
}
