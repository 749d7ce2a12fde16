//! Documents that are large, whole or in one of their fields.

use super::Subject;
use crate::audit::census::Large;
use crate::audit::cure;
use crate::audit::facts::Kind;
use crate::figures::{bytes, count, percent};
use crate::report::{Cure, Finding, Severity};
use serde_json::{Map, Value, json};

/// What a policy proposes: a warning, and a bound that leaves room under the limit.
const WARN_BYTES: &str = "1MB";
const MAX_BYTES: &str = "8MB";
/// A field that makes up this share of a document is what makes it large.
const MAIN_SHARE: f64 = 0.5;

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    judge(subject).into_iter().collect()
}

fn judge(subject: &Subject<'_>) -> Option<Finding> {
    let thresholds = &subject.thresholds.massive_document;
    let census = subject.census;
    let largest = census.sizes.max();
    if largest < thresholds.warn_bytes || subject.collection.kind == Kind::Pages {
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
        "The largest of {} documents has {}, {} of the limit",
        count(spread.count),
        bytes(largest),
        percent(share),
    );
    if let Some((field, weight)) = main.fields.first() {
        let part = percent(*weight as f64 / largest as f64);
        summary += &format!("; {part} of it is '{field}'");
    }
    summary += &format!(" ({} have {} or more).", count(over.max(1)), bytes(thresholds.warn_bytes));
    let large = census.largest.iter().filter(|(size, _)| *size >= thresholds.warn_bytes);
    Some(
        Finding::new(
            severity,
            &subject.collection.namespace,
            summary,
            cure_of(subject, main, largest),
        )
        .path_if(main_field(main, largest))
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

/// The field that makes a document large, if one does.
fn main_field(large: &Large, size: u64) -> Option<String> {
    let (field, weight) = large.fields.first()?;
    (*weight as f64 >= size as f64 * MAIN_SHARE).then(|| field.clone())
}

fn cure_of(subject: &Subject<'_>, large: &Large, size: u64) -> Cure {
    let mut policy = json!({ "document": { "warn_bytes": WARN_BYTES, "max_bytes": MAX_BYTES } });
    let main = main_field(large, size).filter(|field| cure::can_be_declared(field));
    let array = main.and_then(|field| {
        let array = subject.census.tree.find(&field)?.array.as_deref()?;
        let rule = json!({ "max": cure::head_elements(array), "on_limit": "overflow" });
        Some(Map::from_iter([(field, rule)]))
    });
    let pattern = if array.is_some() { "outlier" } else { "subset" };
    if let (Some(array), Value::Object(policy)) = (array, &mut policy) {
        policy.insert("arrays".to_owned(), Value::Object(array));
    }
    Cure::policy(pattern, &subject.collection.namespace, policy)
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
        assert_eq!(finding.cure.pattern, "subset");
        let findings = Fixture::new([with_blob(1, 9 * MB)]).look(look);
        assert_eq!(findings[0].severity, Severity::Critical);
    }

    #[test]
    fn an_array_that_fills_a_document_is_bounded() {
        let text = "z".repeat(1000);
        let items: Vec<Bson> = (0..3_000).map(|_| Bson::from(text.as_str())).collect();
        let document = RawDocumentBuf::try_from(&doc! { "_id": 1, "log": items }).unwrap();
        let findings = Fixture::new([document]).look(look);
        assert_eq!(findings[0].cure.pattern, "outlier");
        let crate::report::Remedy::Policy(policy) = &findings[0].cure.remedy else { panic!() };
        assert_eq!(policy["collections"]["things"]["arrays"]["log"]["on_limit"], json!("overflow"));
    }

    #[test]
    fn one_that_nearly_is_large_is_not() {
        assert!(Fixture::new([with_blob(1, 2 * MB - 200)]).look(look).is_empty());
    }
}
