//! Indexes that no read has used, and collections with more of them than is advised.
//!
//! The server counts from its start, or from the index's: what has been counted for a few
//! days only is mentioned, no more, and what for less than a day, not at all.

use super::Subject;
use crate::audit::cure::drop_index;
use crate::audit::facts::Index;
use crate::figures::days;
use crate::report::{Cure, Finding, Severity};
use serde_json::{Value, json};

const MILLIS_A_DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let indexes = subject.collection.indexes.iter();
    let mut findings: Vec<Finding> = indexes.filter_map(|index| unused(subject, index)).collect();
    findings.extend(too_many(subject));
    findings
}

fn unused(subject: &Subject<'_>, index: &Index) -> Option<Finding> {
    let used = index.used?;
    // These do something even if nobody reads by them.
    let works = index.is_id() || index.is_unique() || index.expires();
    if works || used.operations > 0 || serves_sharding(subject, index) {
        return None;
    }
    let counted = subject.now.saturating_sub(used.since).max(0) as f64 / MILLIS_A_DAY;
    if counted < subject.thresholds.unused_index.info_days {
        return None;
    }
    let long = counted >= subject.thresholds.unused_index.warn_days;
    let severity = if long { Severity::Warn } else { Severity::Info };
    let since = jiff::Timestamp::from_millisecond(used.since).unwrap_or_default().to_string();
    let mut summary = format!("No read has used the index '{}' since {since}", index.name);
    if !long {
        summary += &format!(", which is {} only: look again later", days(counted));
    }
    summary.push('.');
    let namespace = &subject.collection.namespace;
    Some(
        Finding::new(severity, namespace, summary, drop_index(namespace, &index.name))
            .path(index.name.clone())
            .examples([json!(index.name)])
            .figure("operations", used.operations)
            .figure("since", since)
            .figure("days", (counted * 10.0).round() / 10.0)
            .figure("key", Value::from(index.key.to_string())),
    )
}

/// The index that a shard key needs.
fn serves_sharding(subject: &Subject<'_>, index: &Index) -> bool {
    subject.collection.shard_key.as_ref().is_some_and(|shard_key| {
        let key = &shard_key.key;
        index.key.keys().zip(key.keys()).filter(|(ours, theirs)| ours == theirs).count()
            == key.len()
    })
}

fn too_many(subject: &Subject<'_>) -> Option<Finding> {
    let indexes = subject.collection.indexes.len() as u64;
    let advised = subject.limits.indexes_advised;
    if indexes <= advised {
        return None;
    }
    let full = indexes >= subject.limits.indexes_max;
    let severity = if full { Severity::Critical } else { Severity::Warn };
    let summary = format!(
        "The collection has {indexes} indexes; {advised} are advised and {} the most: each of \
         them costs every write.",
        subject.limits.indexes_max
    );
    let collection = Value::from(&*subject.collection.namespace.collection);
    let command = format!(
        "db.getCollection({collection}).aggregate([{{$indexStats: {{}}}}, {{$sort: {{\"accesses.ops\": 1}}}}])"
    );
    let names = subject.collection.indexes.iter().map(|index| json!(index.name));
    let cure = Cure::command("fewer indexes", command);
    Some(
        Finding::new(severity, &subject.collection.namespace, summary, cure)
            .examples(names)
            .figure("indexes", indexes)
            .figure("advised", advised)
            .figure("limit", subject.limits.indexes_max),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DAY, Fixture, NOW};
    use super::*;
    use crate::audit::facts::ShardKey;
    use bson::{DateTime, Document, doc};

    /// What is found of an index with so many uses in so many days.
    fn found(index: Document, operations: i64, days: i64) -> Option<Severity> {
        let mut fixture = Fixture::new([]).indexes([index]);
        let since = DateTime::from_millis(NOW - days * DAY);
        let stats = doc! { "accesses": { "ops": operations, "since": since } };
        fixture.collection.indexes[0].add_use(&stats);
        fixture.look(look).first().map(|finding| finding.severity)
    }

    #[test]
    fn an_index_nobody_uses_is_found() {
        let index = doc! { "name": "a_1", "key": { "a": 1 } };
        assert_eq!(found(index.clone(), 0, 30), Some(Severity::Warn));
        assert_eq!(found(index.clone(), 0, 1), Some(Severity::Info));
        // It may be used yet.
        assert_eq!(found(index, 0, 0), None);
    }

    #[test]
    fn one_that_is_used_or_works_otherwise_is_not() {
        let index = doc! { "name": "a_1", "key": { "a": 1 } };
        assert_eq!(found(index.clone(), 1, 30), None);
        let unique = doc! { "name": "a_1", "key": { "a": 1 }, "unique": true };
        assert_eq!(found(unique, 0, 30), None);
        let expires = doc! { "name": "a_1", "key": { "a": 1 }, "expireAfterSeconds": 60 };
        assert_eq!(found(expires, 0, 30), None);
        assert_eq!(found(doc! { "name": "_id_", "key": { "_id": 1 } }, 0, 30), None);
        // Without statistics nothing is said.
        assert!(Fixture::new([]).indexes([index]).look(look).is_empty());
    }

    #[test]
    fn a_shard_key_needs_its_index() {
        let mut fixture =
            Fixture::new([]).indexes([doc! { "name": "a", "key": { "a": 1, "b": 1 } }]);
        let stats = doc! { "accesses": { "ops": 0_i64, "since": DateTime::from_millis(0) } };
        fixture.collection.indexes[0].add_use(&stats);
        fixture.collection.shard_key = Some(ShardKey { key: doc! { "a": 1 }, in_use: true });
        assert!(fixture.look(look).is_empty());
        fixture.collection.shard_key = Some(ShardKey { key: doc! { "b": 1 }, in_use: true });
        assert_eq!(fixture.look(look).len(), 1);
    }

    #[test]
    fn more_indexes_than_advised_are_found() {
        let indexes = |count: i32| {
            let one = |at: i32| doc! { "name": format!("i{at}"), "key": { format!("f{at}"): 1 } };
            Fixture::new([]).indexes((0..count).map(one)).look(look)
        };
        assert!(indexes(30).is_empty());
        let findings = indexes(31);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Warn));
        assert_eq!(indexes(64)[0].severity, Severity::Critical);
    }
}
