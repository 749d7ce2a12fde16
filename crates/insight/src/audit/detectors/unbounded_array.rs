//! Arrays that grow without a bound.
//!
//! An array is unbounded if the longest passes a threshold, or grows so fast that its
//! document will be full in foreseeable time, and nothing bounds it: neither a policy nor
//! a validator. Vectors, whose arrays of numbers are all of one length, are not meant.

use super::{Subject, array_cause};
use crate::audit::census::ArrayCensus;
use crate::audit::cure;
use crate::audit::facts::bound;
use crate::audit::forecast::{Forecast, forecast, room};
use crate::figures::{bytes, count, counted, days};
use crate::report::{Finding, Severity};

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    subject.growing_arrays(judge)
}

fn judge(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Option<Finding> {
    let limits = &subject.thresholds.unbounded_array;
    let longest = array.lengths.max();
    if longest < limits.growing_elements.min(limits.warn_elements) || is_vector(array) {
        return None;
    }
    if bound(subject.collection, path, array, subject.limits).is_some() {
        return None;
    }
    let soonest = soonest(subject, array);
    let severity = severity(subject, array, soonest)?;
    let spread = array.lengths.spread();
    let mut summary = format!(
        "The longest of {} has {} elements (half have {} or fewer, 99 % have {} or fewer)",
        counted(spread.count, "array"),
        count(longest),
        count(spread.p50),
        count(spread.p99),
    );
    let is_full = array
        .longest
        .iter()
        .any(|(length, it)| room(length, it, subject.limits.document_bytes) <= 0.0);
    match soonest {
        _ if is_full => summary += "; its document is full",
        Some(growth) => {
            let per_day = count(growth.elements_per_day.round() as u64);
            summary += &format!(
                "; it grows by {per_day} a day and fills its document in {}",
                days(growth.days)
            );
        }
        None => {}
    }
    summary.push('.');
    let cure = cure::bound_array(subject, path, array);
    let heaviest = array.longest.iter().map(|(_, it)| it.bytes).max().unwrap_or(0);
    let mut finding = Finding::new(severity, &subject.collection.namespace, summary, cure)
        .path(path)
        .cause(array_cause(path))
        .ids(
            array
                .longest
                .iter()
                .filter(|(length, _)| is_long(subject, *length))
                .map(|(_, it)| it.id.clone()),
        )
        .examples(array.longest.iter().map(|(length, it)| {
            format!("{}: {}, {}", it.id, counted(length, "element"), bytes(it.bytes))
        }))
        .figure("arrays", spread.count)
        .figure("p50", spread.p50)
        .figure("p90", spread.p90)
        .figure("p99", spread.p99)
        .figure("max", longest)
        .figure("max_bytes", heaviest)
        .figure("element_bytes", array.element_bytes().round());
    if let Some(growth) = soonest {
        finding = finding
            .figure("elements_per_day", round(growth.elements_per_day))
            .figure("bytes_per_day", growth.bytes_per_day.round())
            .figure("days_to_limit", round(growth.days))
            .figure(
                "growth_by",
                if growth.by_elements { "dates of elements" } else { "age of document" },
            );
    }
    Some(finding)
}

fn severity(
    subject: &Subject<'_>,
    array: &ArrayCensus,
    soonest: Option<Forecast>,
) -> Option<Severity> {
    let limits = &subject.thresholds.unbounded_array;
    let longest = array.lengths.max();
    let within = |days: f64| soonest.is_some_and(|growth| growth.days <= days);
    let critical_bytes = subject.limits.document_bytes as f64 * limits.critical_share;
    let heavy = array.longest.iter().any(|(_, it)| it.bytes as f64 >= critical_bytes);
    let critical = longest >= limits.critical_elements || heavy;
    if critical || (longest >= limits.warn_elements && within(limits.critical_days)) {
        return Some(Severity::Critical);
    }
    let grows = longest >= limits.growing_elements && within(limits.warn_days);
    (longest >= limits.warn_elements || grows).then_some(Severity::Warn)
}

/// Of the longest arrays, the one whose document is full first.
fn soonest(subject: &Subject<'_>, array: &ArrayCensus) -> Option<Forecast> {
    let limit = subject.limits.document_bytes;
    let growths = array.longest.iter().filter(|(length, _)| is_long(subject, *length));
    let growths = growths.filter_map(|(length, it)| forecast(length, it, limit, subject.now));
    growths.min_by(|a, b| a.days.total_cmp(&b.days))
}

fn is_long(subject: &Subject<'_>, length: u64) -> bool {
    let limits = &subject.thresholds.unbounded_array;
    length >= limits.growing_elements.min(limits.warn_elements)
}

/// Whether the arrays are vectors: numbers, and as many in each.
pub fn is_vector(array: &ArrayCensus) -> bool {
    array.is_numeric() && array.lengths.count() > 1 && array.lengths.min() == array.lengths.max()
}

fn round(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DAY, Fixture, NOW};
    use super::*;
    use bson::{Bson, DateTime, RawDocumentBuf, doc};
    use serde_json::json;

    fn user(id: i32, activities: usize) -> RawDocumentBuf {
        let items: Vec<Bson> = (0..activities)
            .map(|at| Bson::Document(doc! { "n": at as i64, "kind": "like" }))
            .collect();
        RawDocumentBuf::try_from(&doc! { "_id": id, "name": "x", "activities": items }).unwrap()
    }

    fn outlier(length: usize) -> Vec<RawDocumentBuf> {
        let mut users: Vec<_> = (0..99).map(|id| user(id, 10)).collect();
        users.push(user(99, length));
        users
    }

    #[test]
    fn one_long_array_among_many_is_found() {
        let findings = Fixture::new(outlier(1_500)).look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(
            (finding.severity, finding.path.as_deref()),
            (Severity::Warn, Some("activities"))
        );
        assert_eq!(finding.evidence.ids, [json!(99)]);
        assert_eq!(finding.evidence.figures["max"], json!(1_500));
        assert_eq!(finding.evidence.figures["p50"], json!(10));
        assert_eq!(Fixture::new(outlier(10_000)).look(look)[0].severity, Severity::Critical);
    }

    #[test]
    fn one_that_nearly_is_too_long_is_not() {
        assert!(Fixture::new(outlier(999)).look(look).is_empty());
    }

    #[test]
    fn growth_by_dates_is_foreseen() {
        let document = |days: i64| {
            let text = "x".repeat(4_000);
            let items: Vec<Bson> = (0..400)
                .map(|at| {
                    let date = DateTime::from_millis(NOW - DAY * days * at / 400);
                    Bson::Document(doc! { "at": date, "text": &text })
                })
                .collect();
            RawDocumentBuf::try_from(&doc! { "_id": "u", "log": items }).unwrap()
        };
        let findings = Fixture::new([document(30)]).look(look);
        assert_eq!(findings.len(), 1);
        let days = findings[0].evidence.figures["days_to_limit"].as_f64().unwrap();
        assert!((250.0..310.0).contains(&days), "{days}");
        // The same array in ten years is none of today's worries.
        assert!(Fixture::new([document(3_650)]).look(look).is_empty());
    }

    #[test]
    fn what_is_bounded_is_not_found() {
        let schema = doc! { "properties": { "activities": { "maxItems": 5_000 } } };
        let options = doc! { "validator": { "$jsonSchema": schema } };
        assert!(Fixture::new(outlier(1_500)).options(options.clone()).look(look).is_empty());
        let mut off = options.clone();
        off.insert("validationLevel", "off");
        assert_eq!(Fixture::new(outlier(1_500)).options(off).look(look).len(), 1);
        let mut azure = Fixture::new(outlier(1_500)).options(options);
        azure.target = crate::audit::Target::AzureDocumentDb;
        assert_eq!(azure.look(look).len(), 1);
    }

    #[test]
    fn vectors_are_not_meant() {
        let vector = |id: i32, length: usize| {
            let numbers: Vec<Bson> = (0..length).map(|at| Bson::Double(at as f64)).collect();
            RawDocumentBuf::try_from(&doc! { "_id": id, "embedding": numbers }).unwrap()
        };
        assert!(Fixture::new((0..20).map(|id| vector(id, 1536))).look(look).is_empty());
        let mixed = (0..20).map(|id| vector(id, 1536 + id as usize));
        assert_eq!(Fixture::new(mixed).look(look).len(), 1);
    }
}
