//! What `growthStats` tells against counting every document.

use crate::connection::Connection;
use bson::{Bson, Document, doc};
use std::collections::BTreeMap;

/// How many of the largest are shown.
const SHOWN: usize = 10;
/// The width of a histogram's step, as a part of what it begins with.
const STEP: i64 = 16;

/// Compares the figures of a collection with a recount of its documents.
pub fn check(connection: &mut Connection, database: &str, collection: &str) {
    let documents = connection.all(database, collection);
    let policy = connection.run(database, doc! { "getGrowthPolicy": collection }).unwrap();
    let stats = connection.run(database, doc! { "growthStats": collection }).unwrap();
    let number = |key: &str| integer(stats.get(key).unwrap());
    assert_eq!(number("documents"), documents.len() as i64, "{stats}");
    let sizes: Vec<i64> = documents.iter().map(|it| it.to_vec().unwrap().len() as i64).collect();
    check_spread(stats.get_document("sizes").unwrap(), &sizes, &stats);
    check_largest(&stats, &documents);
    let arrays = stats.get_document("arrays").unwrap();
    for (path, rule) in declared(&policy) {
        let figures = arrays.get_document(&path).unwrap_or_else(|_| panic!("no {path}: {stats}"));
        assert!(figures.get_bool("exact").unwrap());
        let overflows = rule.get_str("on_limit").is_ok_and(|it| it == "overflow");
        let lengths: Vec<Vec<i64>> =
            documents.iter().map(|it| lengths(it, &path, overflows)).collect();
        let each: Vec<i64> = lengths.iter().flatten().copied().collect();
        let having = lengths.iter().filter(|lengths| !lengths.is_empty()).count();
        assert_eq!(integer(figures.get("documents").unwrap()), having as i64, "{path}: {stats}");
        assert_eq!(integer(figures.get("elements").unwrap()), each.iter().sum::<i64>(), "{stats}");
        check_spread(figures, &each, &stats);
    }
}

fn check_spread(figures: &Document, numbers: &[i64], stats: &Document) {
    let mut ranges: BTreeMap<i64, i64> = BTreeMap::new();
    for number in numbers {
        let from = number.checked_ilog2().map_or(0, |power| 1 << power);
        *ranges.entry(from).or_default() += 1;
    }
    let told = figures.get_array("histogram").unwrap().iter().map(|range| {
        let range = range.as_document().unwrap();
        (integer(range.get("from").unwrap()), integer(range.get("count").unwrap()))
    });
    assert_eq!(told.collect::<BTreeMap<_, _>>(), ranges, "{stats}");
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let max = sorted.last().copied().unwrap_or(0);
    assert_eq!(integer(figures.get("max").unwrap()), max, "{stats}");
    for (name, percent) in [("p50", 50), ("p90", 90), ("p99", 99)] {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        let exact = sorted.get(rank - 1).copied().unwrap_or(0);
        let told = integer(figures.get(name).unwrap());
        assert!((told - exact).abs() * STEP <= exact, "{name} is {exact}: {stats}");
    }
}

fn check_largest(stats: &Document, documents: &[Document]) {
    let size = |document: &Document| document.to_vec().unwrap().len() as i64;
    let mut sizes: Vec<i64> = documents.iter().map(size).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.truncate(SHOWN);
    let largest = stats.get_array("largest").unwrap();
    let told: Vec<i64> = largest
        .iter()
        .map(|one| integer(one.as_document().unwrap().get("bytes").unwrap()))
        .collect();
    assert_eq!(told, sizes, "{stats}");
    for one in largest {
        let one = one.as_document().unwrap();
        let document = documents.iter().find(|it| it.get("_id") == one.get("_id")).unwrap();
        assert_eq!(size(document), integer(one.get("bytes").unwrap()), "{stats}");
    }
}

/// The arrays that a policy names.
fn declared(policy: &Document) -> Vec<(String, Document)> {
    let arrays = policy.get_document("policy").and_then(|policy| policy.get_document("arrays"));
    let rule = |(path, rule): (&String, &Bson)| (path.clone(), rule.as_document().unwrap().clone());
    arrays.map(|arrays| arrays.iter().map(rule).collect()).unwrap_or_default()
}

/// How long the arrays at a path are.
fn lengths(document: &Document, path: &str, overflows: bool) -> Vec<i64> {
    if overflows && let Some(count) = document.get(format!("{path}Count")) {
        return vec![integer(count)];
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match (document.get(first), rest) {
        (Some(Bson::Array(array)), "") => vec![array.len() as i64],
        (Some(Bson::Array(array)), rest) => array
            .iter()
            .filter_map(Bson::as_document)
            .flat_map(|inner| lengths(inner, rest, false))
            .collect(),
        (Some(Bson::Document(inner)), rest) if !rest.is_empty() => lengths(inner, rest, false),
        _ => Vec::new(),
    }
}

fn integer(value: &Bson) -> i64 {
    match value {
        Bson::Int32(number) => i64::from(*number),
        Bson::Int64(number) => *number,
        other => panic!("{other} is no integer"),
    }
}
