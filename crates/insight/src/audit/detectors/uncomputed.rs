//! Counts and sums that are computed again each time.
//!
//! A query counts if it is a `count` with a filter, or a pipeline that groups, counts or
//! takes the size of an array. Those that are kept by the same fields are one finding.

mod cure;
mod total;

use super::Subject;
use crate::audit::facts::{Kind, Operation};
use crate::figures::count;
use crate::report::{Finding, Severity};
use total::{Total, What};

const EXAMPLES_MAX: usize = 5;

/// Queries that one kept figure, or a few, would answer.
struct Group<'a> {
    total: Total,
    operations: Vec<&'a Operation>,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    if subject.collection.kind == Kind::View {
        return Vec::new();
    }
    let least = subject.thresholds.uncomputed.warn_examined as f64;
    let mut groups: Vec<Group<'_>> = Vec::new();
    for operation in &subject.collection.operations {
        let Some(total) = Total::of(operation) else { continue };
        if operation.examined_each() < least {
            continue;
        }
        match groups.iter_mut().find(|group| group.total.is_of_same(&total)) {
            Some(group) => group.add(total, operation),
            None => groups.push(Group { total, operations: vec![operation] }),
        }
    }
    groups.retain(|group| !is_kept(subject, &group.total));
    groups.iter().filter_map(|group| judge(subject, group)).collect()
}

/// Whether the figures are kept where the cure puts them: what is on record is older.
fn is_kept(subject: &Subject<'_>, total: &Total) -> bool {
    match &total.what {
        What::Length(path, _) => subject.census.tree.find(&cure::length_of(path)).is_some(),
        What::Figures(_) => {
            subject.names.contains(&cure::kept_in(&subject.collection.namespace, total))
        }
    }
}

impl<'a> Group<'a> {
    fn add(&mut self, other: Total, operation: &'a Operation) {
        self.operations.push(operation);
        if let (What::Figures(known), What::Figures(more)) = (&mut self.total.what, other.what) {
            let new: Vec<_> = more
                .into_iter()
                .filter(|new| !known.iter().any(|it| it.name == new.name || it.is_same(new)))
                .collect();
            known.extend(new);
        }
    }
}

fn judge(subject: &Subject<'_>, group: &Group<'_>) -> Option<Finding> {
    let thresholds = &subject.thresholds.uncomputed;
    let mut all = Operation::default();
    group.operations.iter().for_each(|operation| all.add(operation));
    if all.count < thresholds.warn_queries.max(1) {
        return None;
    }
    let each = all.examined_each();
    let critical = each >= thresholds.critical_examined as f64;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let asked = group.operations.first().map_or_else(String::new, |it| it.words());
    let summary = format!(
        "The same is counted or added up {} times ({asked}): each time {} documents are \
         looked at, {} in all.",
        count(all.count),
        count(each.round() as u64),
        count(all.examined()),
    );
    let path = match &group.total.what {
        What::Length(path, _) => Some(path.clone()),
        What::Figures(_) if group.total.by.is_empty() => group.total.date.clone(),
        What::Figures(_) => Some(group.total.by.join(", ")),
    };
    let namespace = &subject.collection.namespace;
    let examples = group.operations.iter().take(EXAMPLES_MAX).map(|it| it.example());
    Some(
        Finding::new(severity, namespace, summary, cure::of(namespace, &group.total))
            .path_if(path)
            .examples(examples)
            .figure("queries", all.count)
            .figure("shapes", group.operations.len())
            .figure("docs_examined", all.documents_examined)
            .figure("keys_examined", all.keys_examined)
            .figure("examined_per_query", each.round() as u64)
            .figure("millis", all.millis)
            .figure(
                "millis_per_query",
                (all.millis as f64 / all.count as f64 * 10.0).round() / 10.0,
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::report::Remedy;
    use bson::{DateTime, Document, doc, rawdoc};
    use serde_json::json;

    fn aggregate(pipeline: Vec<Document>, count: u64, examined: u64) -> Operation {
        Operation {
            namespace: "shop.things".to_owned(),
            command: "aggregate".to_owned(),
            pipeline,
            plan: "IXSCAN { product: 1 }".to_owned(),
            count,
            millis: 2 * count,
            documents_examined: examined * count,
            returned: count,
            ..Operation::default()
        }
    }

    fn rating(count: u64, examined: u64) -> Operation {
        let group = doc! { "_id": null, "n": { "$sum": 1 }, "average": { "$avg": "$rating" } };
        let stages = vec![doc! { "$match": { "product": 7 } }, doc! { "$group": group }];
        aggregate(stages, count, examined)
    }

    fn found(operations: Vec<Operation>) -> Vec<Finding> {
        let mut fixture = Fixture::new([rawdoc! { "_id": 1 }]);
        fixture.collection.operations = operations;
        fixture.look(look)
    }

    fn command(finding: &Finding) -> &str {
        match &finding.cure.remedy {
            Remedy::Command(command) => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sum_that_is_made_anew_is_found() {
        let findings = found(vec![rating(30, 400)]);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!((finding.severity, finding.path.as_deref()), (Severity::Warn, Some("product")));
        assert_eq!(finding.evidence.figures["docs_examined"], json!(12_000));
        assert_eq!(finding.evidence.examples[0]["pipeline"][0]["$match"]["product"], json!(7));
        assert_eq!(finding.cure.pattern, "computed");
        // An average is kept as a sum and a count.
        let command = command(finding);
        assert!(
            command.contains(
                "{$group: {_id: \"$product\", n: {$sum: 1}, average_sum: {$sum: \"$rating\"}}}"
            ),
            "{command}"
        );
        assert!(command.contains("{$inc: {n: 1, average_sum: added.rating}}"), "{command}");
        assert_eq!(found(vec![rating(30, 200_000)])[0].severity, Severity::Critical);
    }

    #[test]
    fn counts_of_one_thing_are_one_finding() {
        let counts = Operation {
            command: "count".to_owned(),
            filter: doc! { "product": 1 },
            pipeline: vec![],
            documents_examined: 0,
            keys_examined: 4_000,
            ..rating(20, 0)
        };
        let findings = found(vec![rating(30, 400), counts]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].evidence.figures["queries"], json!(50));
        assert_eq!(findings[0].evidence.examples.len(), 2);
    }

    #[test]
    fn what_is_seldom_asked_or_soon_counted_is_not() {
        assert!(found(vec![rating(9, 400)]).is_empty());
        assert!(found(vec![rating(30, 99)]).is_empty());
        let find = Operation { command: "find".to_owned(), pipeline: vec![], ..rating(30, 400) };
        assert!(found(vec![find]).is_empty());
        let push = doc! { "$group": { "_id": "$a", "all": { "$push": "$b" } } };
        assert!(found(vec![aggregate(vec![push], 30, 400)]).is_empty());
    }

    #[test]
    fn spans_of_time_and_lengths_have_cures_of_their_own() {
        let filter = doc! { "sensor": 1, "ts": { "$gte": DateTime::from_millis(0) } };
        let group =
            doc! { "_id": "$sensor", "mean": { "$avg": "$temp" }, "top": { "$max": "$temp" } };
        let stages = vec![doc! { "$match": filter }, doc! { "$group": group }];
        let findings = found(vec![aggregate(stages, 30, 400)]);
        let hours = command(&findings[0]);
        assert!(hours.contains("hour: {$dateTrunc: {date: \"$ts\", unit: \"hour\"}}"), "{hours}");
        assert!(hours.contains("$max: {top: added.temp}"), "{hours}");
        let size = doc! { "$project": { "n": { "$size": "$reviews" } } };
        let findings = found(vec![aggregate(vec![size], 30, 400)]);
        assert_eq!(findings[0].path.as_deref(), Some("reviews"));
        assert!(
            command(&findings[0]).contains("reviews_count: {$size: {$ifNull: [\"$reviews\", []]}}")
        );
        let lookup = doc! { "$lookup": { "from": "notes", "localField": "_id", "foreignField": "of", "as": "notes" } };
        let size = doc! { "$set": { "n": { "$size": "$notes" } } };
        let findings = found(vec![aggregate(vec![lookup, size], 30, 400)]);
        assert!(command(&findings[0]).contains("{$project: {notes_count: {$size: \"$notes\"}}}"));
    }
}
