//! Arrays that grow, and nothing that would stop them.
//!
//! An array grows if the longest is many times the usual one, or if its elements carry
//! dates that tell of it. It is unguarded if neither a policy nor a validator that the
//! server keeps bounds it.

use super::unbounded_array::is_vector;
use super::{Subject, array_cause};
use crate::audit::census::ArrayCensus;
use crate::audit::cure;
use crate::audit::facts::bound;
use crate::figures::count;
use crate::report::{Finding, Severity};

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    subject.growing_arrays(judge)
}

fn judge(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Option<Finding> {
    let thresholds = &subject.thresholds.unguarded_growth;
    let longest = array.lengths.max();
    if longest < thresholds.warn_elements || is_vector(array) {
        return None;
    }
    if bound(subject.collection, path, array, subject.limits).is_some() {
        return None;
    }
    let usual = array.lengths.quantile(0.5).max(1);
    let spreads = longest as f64 >= usual as f64 * thresholds.spread;
    let dated = array.longest.iter().any(|(_, it)| it.span.days().is_some());
    if !spreads && !dated {
        return None;
    }
    let why = if dated { "its elements carry dates" } else { "its length differs widely" };
    let guard = match (subject.limits.validators_enforced, subject.collection.validator()) {
        (false, Some(_)) => "there is a validator, which this target does not enforce by default",
        (_, Some(_)) => "the validator says nothing of its length",
        _ => "there is neither a validator nor a policy",
    };
    let summary = format!(
        "The array grows ({why}; the longest has {} elements, half have {} or fewer), and {guard}.",
        count(longest),
        count(array.lengths.quantile(0.5)),
    );
    Some(
        Finding::new(
            Severity::Warn,
            &subject.collection.namespace,
            summary,
            cure::bound_array(subject, path, array),
        )
        .path(path)
        .cause(array_cause(path))
        .ids(array.longest.iter().take(3).map(|(_, it)| it.id.clone()))
        .examples([path])
        .figure("max", longest)
        .figure("p50", array.lengths.quantile(0.5))
        .figure("p99", array.lengths.quantile(0.99))
        .figure("arrays", array.lengths.count()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DAY, Fixture, NOW};
    use super::*;
    use crate::audit::target::Target;
    use crate::report::Remedy;
    use bson::{Bson, DateTime, RawDocumentBuf, doc};
    use serde_json::json;

    fn feed(id: i32, length: usize) -> RawDocumentBuf {
        let items: Vec<Bson> = (0..length).map(|at| Bson::String(format!("post {at}"))).collect();
        RawDocumentBuf::try_from(&doc! { "_id": id, "feed": { "posts": items } }).unwrap()
    }

    fn feeds(longest: usize) -> Vec<RawDocumentBuf> {
        (0..50).map(|id| feed(id, if id == 7 { longest } else { 20 })).collect()
    }

    #[test]
    fn a_growing_array_without_a_guard_is_found() {
        let findings = Fixture::new(feeds(300)).look(look);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path.as_deref(), Some("feed.posts"));
        assert_eq!(findings[0].evidence.ids[0], json!(7));
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        let rule = "{$jsonSchema: {properties: {feed: {properties: {posts: {maxItems: 300}}}}}}";
        assert!(command.contains(rule), "{command}");
        let mut freeboard = Fixture::new(feeds(300));
        freeboard.target = Target::Freeboard;
        assert!(matches!(freeboard.look(look)[0].cure.remedy, Remedy::Policy(_)));
    }

    #[test]
    fn a_guarded_array_is_not() {
        let posts = doc! { "feed": { "properties": { "posts": { "maxItems": 1_000 } } } };
        let options = doc! { "validator": { "$jsonSchema": { "properties": posts } } };
        assert!(Fixture::new(feeds(300)).options(options).look(look).is_empty());
    }

    #[test]
    fn arrays_of_one_length_do_not_grow_unless_dates_say_so() {
        let same = |dates: bool| {
            let item = |at: i64| match dates {
                true => Bson::DateTime(DateTime::from_millis(NOW - at * DAY)),
                false => Bson::String(format!("{at}")),
            };
            let items = || (0..250).map(item).collect::<Vec<Bson>>();
            let documents: Vec<_> = (0..10)
                .map(|id| RawDocumentBuf::try_from(&doc! { "_id": id, "slots": items() }).unwrap())
                .collect();
            Fixture::new(documents).look(look).len()
        };
        assert_eq!((same(false), same(true)), (0, 1));
        assert!(Fixture::new(feeds(199)).look(look).is_empty());
    }
}
