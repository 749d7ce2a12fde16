//! Documents that are large, whole or in one of their fields.

use super::{Subject, array_cause};
use crate::audit::census::{ArrayCensus, Large};
use crate::audit::cure;
use crate::audit::facts::{Bound, bound, is_document_bound};
use crate::audit::target::Target;
use crate::figures::{bytes, count, counted, percent};
use crate::report::{Cure, Finding, Remedy, Severity, merge};
use serde_json::{Value, json};

/// A bound on documents that leaves room under the limit.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// A field that makes up this share of a document is what makes it large.
const MAIN_SHARE: f64 = 0.5;

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    judge(subject).into_iter().collect()
}

fn judge(subject: &Subject<'_>) -> Option<Finding> {
    let thresholds = &subject.thresholds.massive_document;
    let census = subject.census;
    let largest = census.sizes.max();
    let bounded = is_document_bound(subject.collection, subject.limits);
    if largest < thresholds.warn_bytes || bounded {
        return None;
    }
    let limit = subject.limits.document_bytes;
    let share = largest as f64 / limit as f64;
    let critical = share >= thresholds.critical_share;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let over = census.sizes.at_least(thresholds.warn_bytes);
    let spread = census.sizes.spread();
    let (_, main) = census.largest.first()?;
    let mut summary = format!(
        "The largest of {} has {}, {} of the limit",
        counted(spread.count, "document"),
        bytes(largest),
        percent(share),
    );
    if let Some((field, weight)) = main.fields.first() {
        let part = percent(*weight as f64 / largest as f64);
        summary += &format!("; {part} of it is '{field}'");
    }
    let have = if over > 1 { "have" } else { "has" };
    let over_bytes = bytes(thresholds.warn_bytes);
    summary += &format!(" ({} {have} {over_bytes} or more).", count(over.max(1)));
    let field = main_field(subject, main, largest);
    let large = census.largest.iter().filter(|(size, _)| *size >= thresholds.warn_bytes);
    Some(
        Finding::new(
            severity,
            &subject.collection.namespace,
            summary,
            cure_of(subject, main, largest),
        )
        .path_if(field.clone())
        .cause(field.map_or("size".to_owned(), |path| array_cause(&path)))
        .ids(large.map(|(_, it)| it.id.clone()))
        .examples(main.fields.iter().map(|(field, weight)| format!("{field}: {}", bytes(*weight))))
        .figure("documents", spread.count)
        .figure("p50", spread.p50)
        .figure("p90", spread.p90)
        .figure("p99", spread.p99)
        .figure("max", largest)
        .figure("over", over.max(1))
        .figure("limit", limit)
        .figure("share_of_limit", (share * 1000.0).round() / 1000.0),
    )
}

/// The field that makes a document large, if one does: an array does, since it grows.
fn main_field(subject: &Subject<'_>, large: &Large, size: u64) -> Option<String> {
    let (field, weight) = large.fields.first()?;
    let is_array = subject.census.tree.find(field).is_some_and(|node| node.array.is_some());
    (is_array || *weight as f64 >= size as f64 * MAIN_SHARE).then(|| field.clone())
}

/// An array is bounded. Another large field is moved, unless all that is there leaves enough
/// room for a bound on documents, where the target keeps one.
fn cure_of(subject: &Subject<'_>, large: &Large, size: u64) -> Cure {
    let heaviest = large.fields.first().map(|(field, _)| &**field);
    let node = heaviest.and_then(|field| Some((field, subject.census.tree.find(field)?)));
    let main = main_field(subject, large, size);
    if let Some((field, node)) = node
        && main.as_deref() == Some(field)
        && let Some(array) = &node.array
    {
        let mut cure = array_cure(subject, field, array);
        if let Remedy::Policy(policy) = &mut cure.remedy {
            merge(policy, &document_policy(subject, size));
        }
        return cure;
    }
    match (subject.target, node) {
        (Target::Freeboard, _) if size <= MAX_BYTES => {
            Cure::new("bound", Remedy::Policy(document_policy(subject, size)))
        }
        (Target::MongoDb, _) if size <= MAX_BYTES => {
            let rule = json!({ "$expr": { "$lte": [{ "$bsonSize": "$$ROOT" }, MAX_BYTES] } });
            cure::validator("bound", subject.collection, &rule, "strict")
        }
        (_, Some((field, node))) => {
            let from = subject.thresholds.massive_document.warn_bytes;
            cure::split_field(subject, field, node, from)
                .unwrap_or_else(|| advice(subject, field, from))
        }
        (_, None) => advice(subject, "", subject.thresholds.massive_document.warn_bytes),
    }
}

/// Where no script can split what is large: how to look at it.
fn advice(subject: &Subject<'_>, field: &str, from: u64) -> Cure {
    let collection = Value::from(&*subject.collection.namespace.collection);
    let what = match field {
        "" => "No field by itself makes".to_owned(),
        field => format!("Nothing can split {} by itself, which makes", Value::from(field)),
    };
    let command = format!(
        "// {what} these documents large: the application has to keep less in each, or to\n\
         // write parts of it as documents of another collection. This shows them:\n\
         db.getCollection({collection}).find({{$expr: {{$gte: [{{$bsonSize: \"$$ROOT\"}}, {from}]}}}}, {{_id: 1}})"
    );
    Cure::command("subset", command)
}

/// What an array that fills a document needs: a bound, or where it has one, that the documents
/// that are there are brought into it.
fn array_cure(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let declared = bound(subject.collection, path, array, subject.limits) == Some(Bound::Policy);
    if subject.target == Target::Freeboard && declared {
        let name = Value::from(&*subject.collection.namespace.collection);
        let command = format!("db.runCommand({{migrateGrowth: {name}, limit: 1000}})");
        return Cure::command("outlier", command);
    }
    cure::bound_array(subject, path, array)
}

/// A warning, and a bound where every document that is there is below it.
fn document_policy(subject: &Subject<'_>, size: u64) -> Value {
    let rule = match size <= MAX_BYTES {
        true => json!({ "warn_bytes": "1MB", "max_bytes": "8MB" }),
        false => json!({ "warn_bytes": "1MB" }),
    };
    match Cure::policy("bound", &subject.collection.namespace, json!({ "document": rule })).remedy {
        Remedy::Policy(policy) => policy,
        Remedy::Command(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use bson::{Bson, RawDocumentBuf, doc, rawdoc};

    const MB: usize = 1024 * 1024;

    fn with_blob(id: i32, size: usize) -> RawDocumentBuf {
        rawdoc! { "_id": id, "name": "x", "blob": "y".repeat(size) }
    }

    #[test]
    fn a_large_document_is_found_with_its_field() {
        let findings = Fixture::new([with_blob(1, 10), with_blob(2, 3 * MB)]).look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!((finding.severity, finding.path.as_deref()), (Severity::Warn, Some("blob")));
        assert_eq!(finding.evidence.ids, [json!(2)]);
        assert_eq!(finding.evidence.figures["over"], json!(1));
        assert!(finding.evidence.examples[0].as_str().unwrap().starts_with("blob: "));
        // All that is there fits below the bound.
        assert_eq!(finding.cure.pattern, "bound");
        let Remedy::Command(command) = &finding.cure.remedy else { panic!() };
        assert!(command.contains("[{$bsonSize: \"$$ROOT\"}, 8388608]"), "{command}");
        // Here it does not: what is large is moved.
        for target in [Target::MongoDb, Target::Freeboard, Target::AzureDocumentDb] {
            let mut fixture = Fixture::new([with_blob(1, 9 * MB)]);
            fixture.target = target;
            let findings = fixture.look(look);
            assert_eq!(findings[0].severity, Severity::Critical);
            assert_eq!(findings[0].cure.pattern, "subset");
            assert!(matches!(findings[0].cure.remedy, Remedy::Command(_)));
        }
    }

    #[test]
    fn no_bound_is_below_what_is_there() {
        let text = "z".repeat(1000);
        let log = |elements: usize| {
            let items: Vec<Bson> = (0..elements).map(|_| Bson::from(text.as_str())).collect();
            let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "log": items }).unwrap();
            let mut fixture = Fixture::new([document]);
            fixture.target = Target::Freeboard;
            let Remedy::Policy(policy) = fixture.look(look)[0].cure.remedy.clone() else {
                panic!()
            };
            policy["collections"]["things"]["document"].clone()
        };
        assert_eq!(log(3_000), json!({ "warn_bytes": "1MB", "max_bytes": "8MB" }));
        assert_eq!(log(13_000), json!({ "warn_bytes": "1MB" }));
    }

    #[test]
    fn an_array_that_fills_a_document_is_bounded() {
        let text = "z".repeat(1000);
        let items: Vec<Bson> = (0..3_000).map(|_| Bson::from(text.as_str())).collect();
        let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "log": items }).unwrap();
        let mut fixture = Fixture::new([document]);
        fixture.target = Target::Freeboard;
        let findings = fixture.look(look);
        assert_eq!(findings[0].cure.pattern, "outlier");
        let crate::report::Remedy::Policy(policy) = &findings[0].cure.remedy else { panic!() };
        assert_eq!(policy["collections"]["things"]["arrays"]["log"]["on_limit"], json!("overflow"));
    }

    #[test]
    fn one_that_nearly_is_large_is_not() {
        assert!(Fixture::new([with_blob(1, 2 * MB - 200)]).look(look).is_empty());
    }
}
