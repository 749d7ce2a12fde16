//! Queries that go through documents which an index would spare them.
//!
//! A query is judged by what the server recorded of it: it went through the whole
//! collection and no index would have served it, or it looked at many times the documents
//! that it returned and an index would serve it better than those there are. Queries that
//! one index serves are one finding.

mod wanted;

use super::Subject;
use crate::audit::cure::create_index;
use crate::audit::facts::{JOIN, Kind, Operation};
use crate::figures::count;
use crate::report::{Cure, Finding, Severity};
use rustc_hash::FxHashMap;
use serde_json::Value;
use wanted::{Service, Wanted};

const EXAMPLES_MAX: usize = 5;

/// Queries that one index serves.
struct Group<'a> {
    key: Vec<(String, bool)>,
    wanted: Wanted,
    operations: Vec<&'a Operation>,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    if !matches!(subject.collection.kind, Kind::Ordinary | Kind::Capped) {
        return Vec::new();
    }
    let joined = joined(subject);
    let asked = subject.collection.operations.iter().chain(&joined);
    let slow = asked.filter(|it| is_slow(subject, it));
    let missing = slow.flat_map(|operation| {
        let wanted = wanted(subject, operation).into_iter();
        wanted.map(move |wanted| (wanted, operation))
    });
    let groups = gather(missing.collect());
    groups.iter().filter_map(|group| judge(subject, group)).collect()
}

/// The reads by `$lookup`s of operations on other collections. Of those the server records
/// nothing by itself; where no index serves them, they go through the collection.
fn joined(subject: &Subject<'_>) -> Vec<Operation> {
    let documents = subject.collection.documents.unwrap_or(subject.census.documents());
    let through = |read: &Operation| Operation {
        documents_examined: read.count.saturating_mul(documents),
        ..read.clone()
    };
    subject.collection.joined.iter().map(through).collect()
}

/// Whether an operation looked at far more than it needed.
fn is_slow(subject: &Subject<'_>, operation: &Operation) -> bool {
    let thresholds = &subject.thresholds.missing_index;
    if operation.examined_each() < thresholds.warn_examined as f64 {
        return false;
    }
    if !operation.returns_documents() {
        // A count needs all that it counts.
        return operation.is_scan();
    }
    let returned = operation.returned.max(operation.count) as f64;
    operation.examined() as f64 >= returned * thresholds.examined_per_returned
}

/// The indexes an operation wants and has not got.
fn wanted(subject: &Subject<'_>, operation: &Operation) -> Vec<Wanted> {
    let collation = subject.collection.options.get_document("collation").ok();
    let wanted = Wanted::by(operation, operation.collation.as_ref().or(collation));
    let enough = if operation.is_scan() { Service::Partly } else { Service::Wholly };
    let has = |wanted: &Wanted| {
        let indexes = subject.collection.indexes.iter();
        indexes.map(|index| wanted.served_by(index)).any(|service| service >= enough)
    };
    wanted
        .into_iter()
        .map(|wanted| without_parallel_arrays(subject, wanted))
        .filter(|wanted| !has(wanted))
        .collect()
}

/// An index may go through one array only: what lies in a second one is left out.
fn without_parallel_arrays(subject: &Subject<'_>, mut wanted: Wanted) -> Wanted {
    let mut first: Option<String> = None;
    let mut fits = |path: &String| match array_of(subject, path) {
        None => true,
        Some(array) => *first.get_or_insert_with(|| array.clone()) == array,
    };
    wanted.equal.retain(&mut fits);
    wanted.sort.retain(|(path, _)| fits(path));
    wanted.range.retain(&mut fits);
    wanted
}

/// The array that a path goes through.
fn array_of(subject: &Subject<'_>, path: &str) -> Option<String> {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let mut prefixes = ends.map(|end| &path[..end]);
    let is_array =
        |prefix: &&str| subject.census.tree.find(prefix).is_some_and(|node| node.array.is_some());
    prefixes.find(is_array).map(str::to_owned)
}

/// Puts queries together that one index serves, the longest keys first: what serves more
/// fields serves their beginning.
fn gather(missing: Vec<(Wanted, &Operation)>) -> Vec<Group<'_>> {
    let mut weights: FxHashMap<String, u64> = FxHashMap::default();
    for (wanted, operation) in &missing {
        for path in &wanted.equal {
            *weights.entry(path.clone()).or_default() += operation.count;
        }
    }
    let weight = |path: &str| weights.get(path).copied().unwrap_or(0);
    let mut missing: Vec<_> = missing
        .into_iter()
        .map(|(wanted, operation)| (wanted.key(&weight), wanted, operation))
        .collect();
    missing.sort_by_key(|(key, ..)| std::cmp::Reverse(key.len()));
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (key, wanted, operation) in missing {
        let serves = |group: &&mut Group<'_>| {
            let fields: Vec<(&str, bool)> =
                group.key.iter().map(|(path, up)| (&**path, *up)).collect();
            let served = wanted.served_by_key(&fields) == Service::Wholly;
            group.wanted.collation == wanted.collation && served
        };
        match groups.iter_mut().find(serves) {
            Some(group) => group.operations.push(operation),
            None => groups.push(Group { key, wanted, operations: vec![operation] }),
        }
    }
    groups
}

fn judge(subject: &Subject<'_>, group: &Group<'_>) -> Option<Finding> {
    let thresholds = &subject.thresholds.missing_index;
    let mut all = Operation::default();
    group.operations.iter().for_each(|operation| all.add(operation));
    if all.count < thresholds.warn_queries {
        return None;
    }
    let each = all.examined_each();
    let critical = each >= thresholds.critical_examined as f64;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let fields: Vec<&str> = group.key.iter().map(|(path, _)| &**path).collect();
    let namespace = &subject.collection.namespace;
    let command = create_index(subject.collection, &group.key, group.wanted.collation.as_ref());
    let cure = Cure::command("equality-sort-range index", command);
    let examples = group.operations.iter().take(EXAMPLES_MAX).map(|it| it.example());
    let mut finding = Finding::new(severity, namespace, summary(group, &all), cure)
        .path(fields.join(", "))
        .examples(examples)
        .figure("queries", all.count)
        .figure("shapes", group.operations.len())
        .figure("docs_examined", all.documents_examined)
        .figure("keys_examined", all.keys_examined)
        .figure("nreturned", all.returned)
        .figure("examined_per_query", each.round() as u64)
        .figure("millis", all.millis)
        .figure("millis_per_query", rounded(all.millis as f64 / all.count as f64));
    if !all.plan.is_empty() {
        finding = finding.figure("plan", Value::from(all.plan));
    }
    Some(finding)
}

fn summary(group: &Group<'_>, all: &Operation) -> String {
    let asked = group.operations.first().map_or_else(String::new, |it| it.words());
    let more = match group.operations.len() {
        0 | 1 => String::new(),
        2 => ", and another shape".to_owned(),
        shapes => format!(", and {} other shapes", shapes - 1),
    };
    let tells = |it: &&Operation| it.returns_documents() && it.command != JOIN;
    let returned = match group.operations.iter().all(tells) {
        true => format!(" to return {}", rounded(all.returned as f64 / all.count as f64)),
        false => String::new(),
    };
    let looks = if all.count == 1 { "query" } else { "queries" };
    let scans = group.operations.iter().all(|it| it.is_scan());
    let why = if scans { "no index serves them" } else { "no index serves them well" };
    format!(
        "{} {looks} ({asked}{more}) look at {} documents each{returned}: {why}.",
        count(all.count),
        count(all.examined_each().round() as u64),
    )
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::report::Remedy;
    use bson::{Document, doc, rawdoc};
    use serde_json::json;

    /// So many queries of a collection with a thousand documents, read one by one.
    fn scan(filter: Document, sort: Document, count: u64) -> Operation {
        Operation {
            namespace: "shop.things".to_owned(),
            command: "find".to_owned(),
            filter,
            sort,
            plan: "COLLSCAN".to_owned(),
            count,
            millis: 4 * count,
            documents_examined: 1_000 * count,
            returned: 3 * count,
            ..Operation::default()
        }
    }

    fn found(operations: Vec<Operation>, indexes: Vec<Document>) -> Vec<Finding> {
        let mut fixture = Fixture::new([rawdoc! { "_id": 1, "tags": ["x"], "marks": [1] }]);
        fixture.collection.operations = operations;
        fixture.indexes(indexes).look(look)
    }

    fn command(finding: &Finding) -> &str {
        match &finding.cure.remedy {
            Remedy::Command(command) => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn scans_are_found_with_the_index_they_want() {
        let asked = scan(doc! { "total": { "$gt": 5 }, "user": 7 }, doc! { "at": -1 }, 40);
        let findings = found(vec![asked.clone()], vec![]);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(finding.severity, Severity::Warn);
        assert_eq!(finding.path.as_deref(), Some("user, at, total"));
        assert_eq!(
            command(finding),
            "db.getCollection(\"things\").createIndex({user: 1, at: -1, total: 1})"
        );
        let literal = json!({ "find": "things", "filter": { "total": { "$gt": 5 }, "user": 7 }, "sort": { "at": -1 } });
        assert_eq!(finding.evidence.examples, [literal]);
        let figures = &finding.evidence.figures;
        assert_eq!((&figures["queries"], &figures["docs_examined"]), (&json!(40), &json!(40_000)));
        assert_eq!(
            (&figures["nreturned"], &figures["millis_per_query"]),
            (&json!(120), &json!(4.0))
        );
        let large = Operation { documents_examined: 4_000_000, ..asked };
        assert_eq!(found(vec![large], vec![])[0].severity, Severity::Critical);
    }

    #[test]
    fn one_index_serves_several_shapes() {
        let shapes = vec![
            scan(doc! { "user": 1 }, doc! {}, 9),
            scan(doc! { "kind": 2, "user": 1 }, doc! { "at": -1 }, 5),
            scan(doc! { "kind": 2, "user": 1 }, doc! { "at": 1 }, 5),
            scan(doc! { "city": "Ulm" }, doc! {}, 5),
        ];
        let findings = found(shapes, vec![]);
        let keys: Vec<_> = findings.iter().map(|it| it.path.as_deref().unwrap()).collect();
        assert_eq!(keys, ["user, kind, at", "city"]);
        assert_eq!(findings[0].evidence.figures["queries"], json!(19));
        assert_eq!(findings[0].evidence.examples.len(), 3);
    }

    #[test]
    fn what_is_nearly_missing_is_not() {
        let asked = || scan(doc! { "user": 1 }, doc! {}, 40);
        let index = |key: Document| vec![doc! { "name": "i", "key": key }];
        assert_eq!(found(vec![asked()], index(doc! { "at": 1, "user": 1 })).len(), 1);
        assert!(found(vec![asked()], index(doc! { "user": 1, "at": 1 })).is_empty());
        // Few queries, few documents, many of them wanted, all of them wanted.
        assert!(found(vec![scan(doc! { "user": 1 }, doc! {}, 4)], vec![]).is_empty());
        assert!(
            found(vec![Operation { documents_examined: 40 * 199, ..asked() }], vec![]).is_empty()
        );
        assert!(found(vec![Operation { returned: 40 * 101, ..asked() }], vec![]).is_empty());
        assert!(found(vec![scan(doc! {}, doc! {}, 40)], vec![]).is_empty());
        assert!(found(vec![scan(doc! { "_id": 1 }, doc! {}, 40)], vec![]).is_empty());
        assert!(
            found(vec![scan(doc! { "$text": { "$search": "x" } }, doc! {}, 40)], vec![]).is_empty()
        );
    }

    #[test]
    fn an_index_that_serves_badly_is_told() {
        let plan = "IXSCAN { kind: 1 }".to_owned();
        let asked = || Operation {
            plan: plan.clone(),
            keys_examined: 40_000,
            ..scan(doc! { "kind": 1, "user": 2 }, doc! {}, 40)
        };
        let index = |key: Document| vec![doc! { "name": "i", "key": key }];
        let findings = found(vec![asked()], index(doc! { "kind": 1 }));
        assert_eq!(findings[0].path.as_deref(), Some("kind, user"));
        assert!(findings[0].summary.ends_with("no index serves them well."));
        assert!(found(vec![asked()], index(doc! { "user": 1, "kind": 1 })).is_empty());
        // It counts what it finds by its index: there is no better one.
        let count = Operation { command: "count".to_owned(), returned: 0, ..asked() };
        assert!(found(vec![count], index(doc! { "kind": 1 })).is_empty());
    }

    #[test]
    fn aggregations_and_writes_are_judged_too() {
        let stages = vec![doc! { "$match": { "user": 1 } }, doc! { "$count": "n" }];
        let base = scan(doc! {}, doc! {}, 20);
        let counts =
            Operation { command: "aggregate".to_owned(), pipeline: stages, returned: 20, ..base };
        assert_eq!(found(vec![counts], vec![]).len(), 1);
        let update =
            Operation { command: "update".to_owned(), ..scan(doc! { "a": 1 }, doc! {}, 20) };
        assert_eq!(found(vec![update], vec![])[0].path.as_deref(), Some("a"));
        // The statistics tell no plan, but that no key was looked at.
        let counted = Operation {
            plan: String::new(),
            ..scan(doc! { "a": { "$eq": "?number" } }, doc! {}, 20)
        };
        assert_eq!(found(vec![counted], vec![]).len(), 1);
    }

    #[test]
    fn joins_want_an_index_on_the_field_they_look_for() {
        let of = |documents: u64, foreign: &str, indexes: Vec<Document>| {
            let mut fixture = Fixture::new([rawdoc! { "_id": 1 }]).indexes(indexes);
            fixture.collection.documents = Some(documents);
            fixture.collection.joined = vec![Operation {
                namespace: "shop.things".to_owned(),
                command: JOIN.to_owned(),
                filter: doc! { foreign: "$_id" },
                count: 20,
                ..Operation::default()
            }];
            fixture.look(look)
        };
        let findings = of(5_000, "parent", vec![]);
        assert_eq!(findings[0].path.as_deref(), Some("parent"));
        assert!(
            findings[0].summary.contains("($lookup {parent}) look at 5,000 documents each: no")
        );
        assert!(of(5_000, "_id", vec![]).is_empty());
        assert!(of(100, "parent", vec![]).is_empty());
        assert!(of(5_000, "parent", vec![doc! { "name": "i", "key": { "parent": 1 } }]).is_empty());
    }

    #[test]
    fn an_index_goes_through_one_array() {
        let asked = scan(doc! { "tags": "x", "marks": 1, "user": 1 }, doc! {}, 20);
        let findings = found(vec![asked], vec![]);
        assert_eq!(findings[0].path.as_deref(), Some("tags, user"));
    }
}
