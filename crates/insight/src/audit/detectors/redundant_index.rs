//! Indexes that are the beginning of another one, which serves their queries as well.

use super::Subject;
use crate::audit::cure::drop_index;
use crate::audit::facts::Index;
use crate::report::{Finding, Severity};
use serde_json::{Value, json};

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let indexes = &subject.collection.indexes;
    let redundant: Vec<(&Index, &Index)> = indexes
        .iter()
        .filter_map(|index| Some((index, indexes.iter().find(|other| covers(other, index))?)))
        .collect();
    let warn = redundant.len() as u64 >= subject.thresholds.redundant_index.warn_indexes;
    let severity = if warn { Severity::Warn } else { Severity::Info };
    let found = |(index, other): (&Index, &Index)| {
        let summary = format!(
            "The index '{}' is the beginning of '{}', which serves its queries as well: it costs \
             every write and serves no read of its own.",
            index.name, other.name
        );
        let namespace = &subject.collection.namespace;
        Finding::new(severity, namespace, summary, drop_index(namespace, &index.name))
            .path(index.name.clone())
            .examples([json!(index.name), json!(other.name)])
            .figure("key", Value::from(index.key.to_string()))
            .figure("covered_by", Value::from(other.key.to_string()))
            .figure("indexes", indexes.len())
    };
    redundant.into_iter().map(found).collect()
}

/// Whether another index does all that this one does.
fn covers(other: &Index, index: &Index) -> bool {
    let plain = !index.is_id()
        && !index.is_unique()
        && !index.expires()
        && index.is_whole()
        && index.is_ordered();
    if !plain || !other.is_ordered() || !other.is_whole() || other.name == index.name {
        return false;
    }
    if index.collation() != other.collation() || other.spec.get_bool("hidden").unwrap_or(false) {
        return false;
    }
    let (ours, theirs) = (index.fields(), other.fields());
    if theirs.len() <= ours.len() {
        return false;
    }
    let names = ours.iter().zip(&theirs).all(|(ours, theirs)| ours.0 == theirs.0);
    // An index is read both ways: all directions are the same, or all are turned.
    let turned = ours.first().map(|it| it.1) != theirs.first().map(|it| it.1);
    names && ours.iter().zip(&theirs).all(|(ours, theirs)| (ours.1 == theirs.1) != turned)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use bson::{Document, doc};

    fn found(indexes: impl IntoIterator<Item = Document>) -> Vec<String> {
        let findings = Fixture::new([]).indexes(indexes).look(look);
        findings.into_iter().filter_map(|finding| finding.path).collect()
    }

    #[test]
    fn the_beginning_of_another_is_redundant() {
        let longer = doc! { "name": "abc", "key": { "a": 1, "b": -1, "c": 1 } };
        for key in [
            doc! { "a": 1 },
            doc! { "a": -1.0 },
            doc! { "a": 1, "b": -1 },
            doc! { "a": -1, "b": 1 },
        ] {
            let index = doc! { "name": "x", "key": key.clone() };
            assert_eq!(found([index, longer.clone()]), ["x"], "{key}");
        }
    }

    #[test]
    fn what_nearly_is_does_something_of_its_own() {
        let longer = doc! { "name": "abc", "key": { "a": 1, "b": -1, "c": 1 } };
        for index in [
            doc! { "name": "x", "key": { "a": 1, "b": 1 } },
            doc! { "name": "x", "key": { "b": -1 } },
            doc! { "name": "x", "key": { "a": "hashed" } },
            doc! { "name": "x", "key": { "a": 1 }, "unique": true },
            doc! { "name": "x", "key": { "a": 1 }, "sparse": true },
            doc! { "name": "x", "key": { "a": 1 }, "partialFilterExpression": { "a": 1 } },
            doc! { "name": "x", "key": { "a": 1 }, "expireAfterSeconds": 5 },
            doc! { "name": "x", "key": { "a": 1 }, "collation": { "locale": "fr" } },
            doc! { "name": "_id_", "key": { "_id": 1 } },
        ] {
            assert!(found([index.clone(), longer.clone()]).is_empty(), "{index}");
        }
        let index = doc! { "name": "x", "key": { "a": 1 } };
        let mut partial = longer.clone();
        partial.insert("partialFilterExpression", doc! { "a": 1 });
        assert!(found([index.clone(), partial]).is_empty());
        let mut hidden = longer;
        hidden.insert("hidden", true);
        assert!(found([index, hidden]).is_empty());
    }
}
