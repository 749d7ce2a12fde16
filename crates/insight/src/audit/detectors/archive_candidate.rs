//! Old documents that no query reads any more.
//!
//! Old is what a date of the document says. A read touches no old document if it asks for
//! what came after a recent date, or for a page of the newest; any other may. Where the
//! server keeps no record of reads, old documents are mentioned and no more.

use super::Subject;
use crate::audit::asked;
use crate::audit::census::{Dates, Node, Tree};
use crate::audit::facts::Operation;
use crate::figures::{bytes, count, percent};
use crate::report::{Cure, Finding, Severity};
use serde_json::{Value, json};

const MILLIS_A_DAY: i64 = 24 * 60 * 60 * 1000;
/// The share of the documents that have the date.
const DATED_SHARE: f64 = 0.9;
/// The fields that an archived document gets.
const MARKS: &[&str] = &["archivedAt", "archiveReason"];

/// Reads of a collection, told apart by whether they may touch old documents.
#[derive(Default)]
struct Reads {
    all: u64,
    old: u64,
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    if !subject.collection.kind.grows() || is_archive(subject) {
        return Vec::new();
    }
    let dated = dated(subject);
    // The date that reads go by; else the first one, which mostly is the document's own.
    let asked = |path: &str| {
        let operations = subject.collection.operations.iter();
        let by =
            |it: &&Operation| asked::since(it, path).is_some() || asked::is_newest_first(it, path);
        operations.filter(by).map(|it| it.count).sum::<u64>()
    };
    let by_reads = dated.iter().rev().max_by_key(|(path, _)| asked(path));
    by_reads.and_then(|(path, dates)| judge(subject, path, dates)).into_iter().collect()
}

/// Whether its documents were moved here because they are old.
fn is_archive(subject: &Subject<'_>) -> bool {
    let enough = subject.census.documents() as f64 * DATED_SHARE;
    let marked = |path: &str| subject.census.tree.find(path).map_or(0, |node| node.count);
    MARKS.iter().all(|mark| marked(mark) as f64 >= enough) && subject.census.documents() > 0
}

/// The dates that nearly every document has, in the order of the fields.
fn dated<'a>(subject: &Subject<'a>) -> Vec<(String, &'a Dates)> {
    let tree: &'a Tree = &subject.census.tree;
    let enough = subject.census.documents() as f64 * DATED_SHARE;
    let date = |node: &'a Node| node.dates.as_deref().filter(|it| it.ages.count() as f64 >= enough);
    tree.nodes().filter_map(|(id, node)| Some((tree.path(id), date(node)?))).collect()
}

fn judge(subject: &Subject<'_>, path: &str, dates: &Dates) -> Option<Finding> {
    let thresholds = &subject.thresholds.archive_candidate;
    let days = thresholds.older_than_days;
    let scanned = subject.census.documents();
    let old = dates.ages.at_least(days);
    let share = old as f64 / scanned.max(1) as f64;
    let scale = subject.collection.scale(scanned);
    let documents = (old as f64 * scale).round() as u64;
    let expires = |index: &crate::audit::facts::Index| {
        index.expires() && index.key.keys().next().is_some_and(|key| key == path)
    };
    let kept_short = subject.collection.indexes.iter().any(expires);
    if share < thresholds.old_share || documents < thresholds.old_documents || kept_short {
        return None;
    }
    let reads = reads(subject, path, days);
    if reads.old as f64 > reads.all as f64 * thresholds.old_reads_share {
        return None;
    }
    let severity = if reads.all > 0 { Severity::Warn } else { Severity::Info };
    let seen = subject.census.sizes.sum() as f64 * scale;
    let weight = (subject.collection.bytes.map_or(seen, |all| all as f64) * share) as u64;
    let summary = format!(
        "{} of the documents, {} in {}, are older than {days} days by '{path}'; {}.",
        percent(share),
        bytes(weight),
        count(documents),
        match reads.all {
            0 => "no read of them is on record".to_owned(),
            all => format!("of {} reads on record {} may touch them", count(all), count(reads.old)),
        },
    );
    Some(
        Finding::new(
            severity,
            &subject.collection.namespace,
            summary,
            archive(subject, path, days),
        )
        .path(path)
        .examples([oldest(dates)])
        .figure("older_than_days", days)
        .figure("old_share", (share * 1000.0).round() / 1000.0)
        .figure("old_documents", documents)
        .figure("old_bytes", weight)
        .figure("age_days_p50", dates.ages.quantile(0.5))
        .figure("age_days_max", dates.ages.max())
        .figure("reads", reads.all)
        .figure("reads_of_old", reads.old),
    )
}

fn reads(subject: &Subject<'_>, path: &str, days: u64) -> Reads {
    let span = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(MILLIS_A_DAY);
    let recent = subject.now.saturating_sub(span);
    let mut reads = Reads::default();
    let own = subject.collection.operations.iter().filter(|it| it.is_read());
    for operation in own.chain(&subject.collection.joined) {
        reads.all += operation.count;
        let since = asked::since(operation, path);
        let is_recent = since.is_some_and(|since| since >= recent);
        if !is_recent && !asked::is_newest_first(operation, path) {
            reads.old += operation.count;
        }
    }
    reads
}

fn oldest(dates: &Dates) -> Value {
    let date = jiff::Timestamp::from_millisecond(dates.span.from).unwrap_or_default();
    json!({ "$date": date.to_string() })
}

/// Moves batches of old documents into a collection beside, each batch wholly or not.
fn archive(subject: &Subject<'_>, path: &str, days: u64) -> Cure {
    let name = &*subject.collection.namespace.collection;
    let (from, into) = (Value::from(name), Value::from(format!("{name}Archive")));
    let path = Value::from(path);
    let command = format!(
        "const old = {{{path}: {{$lt: new Date(Date.now() - {days} * 86400000)}}}};\n\
         const session = db.getMongo().startSession(), own = session.getDatabase(db.getName());\n\
         for (let moved = 1; moved > 0;) session.withTransaction(() => {{\n  \
         const batch = own.getCollection({from}).find(old).limit(1000).toArray();\n  \
         moved = batch.length;\n  \
         if (moved > 0) {{\n    \
         const at = {{archivedAt: new Date(), archiveReason: \"age\"}};\n    \
         own.getCollection({into}).insertMany(batch.map(it => ({{...it, ...at}})));\n    \
         own.getCollection({from}).deleteMany({{_id: {{$in: batch.map(it => it._id)}}}});\n  \
         }}\n}})"
    );
    Cure::script("archive", &command)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{DAY, Fixture, NOW};
    use super::*;
    use bson::{DateTime, Document, RawDocumentBuf, doc, rawdoc};

    fn date(days: i64) -> DateTime {
        DateTime::from_millis(NOW - days * DAY)
    }

    /// A thousand orders, one a day at most, with a date of the last change.
    fn orders(days: i64) -> Vec<RawDocumentBuf> {
        let order = |number: i64| {
            let at = date(number * days / 1000);
            rawdoc! { "_id": number, "orderDate": at, "changed": date(0), "total": 7 }
        };
        (0..1000).map(order).collect()
    }

    fn find(filter: Document, sort: Document, limit: u64) -> Operation {
        Operation {
            command: "find".to_owned(),
            filter,
            sort,
            limit,
            count: 10,
            ..Operation::default()
        }
    }

    #[test]
    fn old_documents_that_reads_leave_alone_are_found() {
        let recent = find(doc! { "orderDate": { "$gte": date(30) } }, doc! {}, 0);
        let newest = find(doc! { "total": 7 }, doc! { "orderDate": -1 }, 20);
        let insert = Operation { command: "insert".to_owned(), count: 99, ..Operation::default() };
        let fixture = Fixture::new(orders(1_000)).operations([recent, newest, insert]);
        let findings = fixture.look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(
            (finding.severity, finding.path.as_deref()),
            (Severity::Warn, Some("orderDate"))
        );
        let figure = |name: &str| finding.evidence.figures[name].as_f64().unwrap();
        assert!((figure("old_share") - 0.635).abs() < 0.02, "{}", figure("old_share"));
        assert_eq!((figure("reads"), figure("reads_of_old")), (20.0, 0.0));
        assert!(figure("old_bytes") > 30_000.0);
        assert_eq!(finding.cure.pattern, "archive");
        // Without a record they are only mentioned.
        let unknown = Fixture::new(orders(1_000)).look(look);
        assert_eq!(unknown[0].severity, Severity::Info);
    }

    #[test]
    fn those_that_are_read_or_young_or_expire_are_not() {
        for touching in [
            find(doc! { "orderDate": { "$gte": date(700) } }, doc! {}, 0),
            find(doc! { "_id": 4 }, doc! {}, 1),
            find(doc! {}, doc! { "orderDate": -1 }, 0),
        ] {
            let fixture = Fixture::new(orders(1_000)).operations([touching]);
            assert!(fixture.look(look).is_empty());
        }
        // What others look up may be of any age.
        let recent = find(doc! { "orderDate": { "$gte": date(30) } }, doc! {}, 0);
        let mut joined = Fixture::new(orders(1_000)).operations([recent]);
        assert_eq!(joined.look(look).len(), 1);
        joined.collection.joined = vec![find(doc! { "_id": "$orderId" }, doc! {}, 0)];
        assert!(joined.look(look).is_empty());
        assert!(Fixture::new(orders(700)).look(look).is_empty());
        let ttl = doc! { "name": "t", "key": { "orderDate": 1 }, "expireAfterSeconds": 9 };
        assert!(Fixture::new(orders(1_000)).indexes([ttl]).look(look).is_empty());
        // Few have the date at all.
        let mut few = orders(1_000);
        few.extend((1_000..1_500).map(|id: i64| rawdoc! { "_id": id }));
        assert!(Fixture::new(few).look(look).is_empty());
    }
}
