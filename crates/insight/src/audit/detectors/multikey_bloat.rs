//! Indexes over arrays: each element is an entry of its own, in each of them.

use super::{Subject, array_cause};
use crate::audit::census::ArrayCensus;
use crate::audit::cure;
use crate::audit::facts::{Index, bound};
use crate::figures::count;
use crate::report::{Finding, Severity};
use serde_json::json;

/// An array, and the indexes that go through it.
struct Indexed<'a> {
    path: String,
    array: &'a ArrayCensus,
    indexes: Vec<&'a Index>,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    if subject.is_bucketed() {
        return Vec::new();
    }
    let mut arrays: Vec<Indexed<'_>> = Vec::new();
    for index in subject.collection.indexes.iter().filter(|index| !index.is_id()) {
        for (path, array) in arrays_of(subject, index) {
            match arrays.iter_mut().find(|it| it.path == path) {
                Some(known) => known.indexes.push(index),
                None => arrays.push(Indexed { path, array, indexes: vec![index] }),
            }
        }
    }
    arrays.iter().filter_map(|array| judge(subject, array)).collect()
}

/// The arrays that an index goes through: of each of its fields the innermost one.
fn arrays_of<'a>(subject: &Subject<'a>, index: &Index) -> Vec<(String, &'a ArrayCensus)> {
    let tree = &subject.census.tree;
    let innermost = |field: &String| {
        let ends = field.match_indices('.').map(|(at, _)| at).chain([field.len()]);
        let mut paths: Vec<&str> = ends.map(|end| &field[..end]).collect();
        paths.reverse();
        let arrays = paths.into_iter();
        arrays.filter_map(|path| Some((path.to_owned(), tree.find(path)?.array.as_deref()?))).next()
    };
    let mut arrays: Vec<(String, &ArrayCensus)> = index.key.keys().filter_map(innermost).collect();
    // Two fields of one array are one entry an element.
    arrays.dedup_by(|a, b| a.0 == b.0);
    arrays
}

fn judge(subject: &Subject<'_>, indexed: &Indexed<'_>) -> Option<Finding> {
    let thresholds = &subject.thresholds.multikey_bloat;
    let documents = subject.census.documents().max(1);
    let indexes = indexed.indexes.len() as u64;
    let lengths = &indexed.array.lengths;
    let average = lengths.sum() as f64 * indexes as f64 / documents as f64;
    let worst = lengths.max() * indexes;
    // Many short arrays are as they are meant to be, unless they can be kept so.
    let many = average >= thresholds.warn_entries && subject.limits.validators_enforced;
    if !many && worst < thresholds.warn_entries_max {
        return None;
    }
    if bound(subject.collection, &indexed.path, indexed.array, subject.limits).is_some() {
        return None;
    }
    let critical = worst >= thresholds.critical_entries_max;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let names: Vec<&str> = indexed.indexes.iter().map(|index| &*index.name).collect();
    let total = average * documents as f64 * subject.collection.scale(documents);
    let summary = format!(
        "{} on this array: a document has {average:.1} entries there on average and up to {}, \
         which every write of it may touch.",
        if indexes == 1 {
            format!("The index '{}' is", names[0])
        } else {
            format!("{indexes} indexes are")
        },
        count(worst),
    );
    let longest = indexed.array.longest.iter().take(3);
    // A shorter array has fewer entries.
    let cure = cure::bound_array(subject, &indexed.path, indexed.array);
    Some(
        Finding::new(severity, &subject.collection.namespace, summary, cure)
            .path(indexed.path.clone())
            .cause(array_cause(&indexed.path))
            .ids(longest.map(|(_, it)| it.id.clone()))
            .examples(names.into_iter().map(|name| json!(name)))
            .figure("indexes", indexes)
            .figure("entries_per_document", (average * 10.0).round() / 10.0)
            .figure("entries_per_document_max", worst)
            .figure("entries", total.round() as u64)
            .figure("p99", lengths.quantile(0.99)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::report::Remedy;
    use bson::{Bson, Document, RawDocumentBuf, doc};

    fn orders(items: usize) -> Vec<RawDocumentBuf> {
        let order = |id: i32| {
            let item = |at: usize| Bson::Document(doc! { "sku": format!("s{at}"), "n": 1 });
            let items: Vec<Bson> = (0..items).map(item).collect();
            RawDocumentBuf::try_from(&doc! { "_id": id, "day": 1, "items": items }).unwrap()
        };
        (0..10).map(order).collect()
    }

    fn index(name: &str, key: Document) -> Document {
        doc! { "name": name, "key": key }
    }

    #[test]
    fn indexes_over_a_long_array_are_found_together() {
        let indexes = [
            index("sku", doc! { "items.sku": 1 }),
            index("day", doc! { "day": 1, "items.n": 1, "items.sku": 1 }),
            index("plain", doc! { "day": 1 }),
        ];
        let findings = Fixture::new(orders(12)).indexes(indexes).look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(finding.path.as_deref(), Some("items"));
        assert_eq!(finding.evidence.examples, [json!("sku"), json!("day")]);
        assert_eq!(finding.evidence.figures["entries_per_document"], json!(24.0));
        assert_eq!(finding.evidence.figures["entries_per_document_max"], json!(24));
        assert!(matches!(finding.cure.remedy, Remedy::Command(_)));
    }

    #[test]
    fn one_index_over_a_short_array_is_not() {
        let sku = index("sku", doc! { "items.sku": 1 });
        assert!(Fixture::new(orders(12)).indexes([sku]).look(look).is_empty());
        let day = index("day", doc! { "day": 1 });
        assert!(Fixture::new(orders(500)).indexes([day]).look(look).is_empty());
    }

    #[test]
    fn an_array_of_a_unique_index_stays_whole() {
        let rule = |unique: bool| {
            let mut sku = index("sku", doc! { "items.sku": 1 });
            sku.insert("unique", unique);
            let mut fixture = Fixture::new(orders(50)).indexes([sku]);
            fixture.target = crate::audit::Target::Freeboard;
            let Remedy::Policy(policy) = fixture.look(look)[0].cure.remedy.clone() else {
                panic!()
            };
            policy["collections"]["things"]["arrays"]["items"].clone()
        };
        assert_eq!(rule(false), json!({ "max": 50, "on_limit": "overflow" }));
        assert_eq!(rule(true), json!({ "max": 100 }));
    }
}
