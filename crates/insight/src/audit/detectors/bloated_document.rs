//! Large fields that no query uses.
//!
//! A field is not used if no read of the collection filters, sorts or computes by it, and
//! each of them says what it wants, and that is something else. A read without a projection
//! uses everything; so does a `$lookup` of another collection that takes whole documents.

use super::Subject;
use crate::audit::census::{NodeId, Tree};
use crate::audit::cure::{can_be_declared, move_field};
use crate::audit::facts::{Operation, Part, Used};
use crate::figures::{bytes, count, percent};
use crate::report::{Cure, Finding, Severity};
use serde_json::json;

const EXAMPLES_MAX: usize = 3;

/// The reads of a collection, with what they use.
struct Reads<'a> {
    all: Vec<(&'a Operation, Used)>,
    count: u64,
}

impl<'a> Reads<'a> {
    fn of(subject: &Subject<'a>) -> Reads<'a> {
        let answers =
            |it: &&Operation| it.is_read() || it.command.eq_ignore_ascii_case("findAndModify");
        let own = subject.collection.operations.iter().filter(answers);
        let reads = own.chain(&subject.collection.joined);
        let all: Vec<_> = reads.map(|read| (read, Used::by(read))).collect();
        let count = all.iter().map(|(read, _)| read.count).sum();
        Reads { all, count }
    }

    /// How many use this much of a field.
    fn using(&self, path: &str, part: Part) -> u64 {
        let using = self.all.iter().filter(|(_, used)| used.part_of(path) == part);
        using.map(|(read, _)| read.count).sum()
    }
}

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if subject.collection.kind.grows() {
        let reads = Reads::of(subject);
        if reads.count >= subject.thresholds.bloated_document.warn_reads.max(1) {
            below(subject, &reads, Tree::ROOT, &mut findings);
        }
    }
    findings
}

/// Judges the fields of a document; where reads use parts of one, the fields in it.
fn below(subject: &Subject<'_>, reads: &Reads<'_>, parent: NodeId, findings: &mut Vec<Finding>) {
    let thresholds = &subject.thresholds.bloated_document;
    let tree = &subject.census.tree;
    let most = (reads.count as f64 * thresholds.used_share) as u64;
    for (id, node) in tree.children(parent) {
        let path = tree.path(id);
        let large = share(subject, node.bytes) >= thresholds.warn_share
            && mean(subject, node.bytes) >= thresholds.warn_bytes;
        if !large || !can_be_declared(&path) || reads.using(&path, Part::Whole) > most {
            continue;
        }
        if reads.using(&path, Part::Below) <= most {
            findings.push(judge(subject, reads, &path, node.bytes));
        } else if node.array.is_none() {
            below(subject, reads, id, findings);
        }
    }
}

fn share(subject: &Subject<'_>, field: u64) -> f64 {
    field as f64 / (subject.census.sizes.sum() as f64).max(1.0)
}

fn mean(subject: &Subject<'_>, field: u64) -> u64 {
    field / subject.census.documents().max(1)
}

fn judge(subject: &Subject<'_>, reads: &Reads<'_>, path: &str, field: u64) -> Finding {
    let (share, mean) = (share(subject, field), mean(subject, field));
    let using = reads.count - reads.using(path, Part::None);
    let summary = format!(
        "The field makes up {} of the documents' bytes, {} in each on average; {} of {} reads \
         {} it.",
        percent(share),
        bytes(mean),
        if using == 0 { "none".to_owned() } else { count(using) },
        count(reads.count),
        if using < 2 { "uses" } else { "use" },
    );
    let top = path.split('.').next().unwrap_or(path);
    let heavy = subject.census.largest.iter();
    let heavy = heavy.filter(|(_, it)| it.fields.iter().any(|(field, _)| field == top));
    let without = reads.all.iter().filter(|(_, used)| used.part_of(path) == Part::None);
    let examples = without.take(EXAMPLES_MAX).map(|(read, _)| read.example());
    Finding::new(Severity::Warn, &subject.collection.namespace, summary, cure_of(subject, path))
        .path(path)
        .ids(heavy.take(EXAMPLES_MAX).map(|(_, it)| it.id.clone()))
        .examples([json!(path)])
        .examples(examples)
        .figure("share", (share * 1000.0).round() / 1000.0)
        .figure("bytes", field)
        .figure("mean_bytes", mean)
        .figure("reads", reads.count)
        .figure("reads_using_it", using)
        .figure("documents", subject.census.documents())
}

fn cure_of(subject: &Subject<'_>, path: &str) -> Cure {
    let is_array = subject.census.tree.find(path).is_some_and(|node| node.array.is_some());
    move_field(subject, path, is_array)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::audit::facts::JOIN;
    use crate::report::Remedy;
    use bson::{Document, RawDocumentBuf, doc, rawdoc};

    fn product(id: i32, feed: usize) -> RawDocumentBuf {
        let more = rawdoc! { "colour": "red", "raw": "y".repeat(1_500) };
        rawdoc! { "_id": id, "name": "x".repeat(500), "feed": "x".repeat(feed), "more": more }
    }

    fn read(projection: Document, count: u64) -> Operation {
        let (namespace, command) = ("shop.things".to_owned(), "find".to_owned());
        Operation { namespace, command, projection, count, ..Operation::default() }
    }

    fn found(feed: usize, operations: Vec<Operation>) -> Vec<Finding> {
        let mut fixture = Fixture::new((0..20).map(|id| product(id, feed)));
        fixture.collection.operations = operations;
        fixture.look(look)
    }

    fn paths(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|it| it.path.as_deref().unwrap()).collect()
    }

    #[test]
    fn large_fields_that_nobody_reads_are_found() {
        let findings = found(4_000, vec![read(doc! { "name": 1, "more.colour": 1 }, 30)]);
        assert_eq!(paths(&findings), ["feed", "more.raw"]);
        let figures = &findings[0].evidence.figures;
        assert_eq!((&figures["reads"], &figures["reads_using_it"]), (&json!(30), &json!(0)));
        assert!((0.6..0.7).contains(&figures["share"].as_f64().unwrap()), "{figures:?}");
        assert_eq!(findings[0].evidence.examples[0], json!("feed"));
        assert_eq!(findings[0].evidence.examples[1]["projection"]["name"], json!(1));
        let Remedy::Command(command) = &findings[1].cure.remedy else { panic!() };
        assert!(command.contains(r#"{$unset: {"more.raw": ""}}"#), "{command}");
        assert!(command.contains(r#"into: "things_raw""#), "{command}");
    }

    #[test]
    fn no_collection_of_the_database_is_written_to() {
        let mut fixture = Fixture::new((0..20).map(|id| product(id, 4_000)));
        fixture.collection.operations = vec![read(doc! { "name": 1, "more": 1 }, 30)];
        fixture.names.insert("things_feed".to_owned());
        let Remedy::Command(command) = fixture.look(look)[0].cure.remedy.clone() else { panic!() };
        assert!(command.contains(r#"into: "things_feed2""#), "{command}");
        assert!(command.contains("_id, $expr: {$eq: "), "{command}");
    }

    #[test]
    fn the_elements_of_an_array_are_moved_one_by_one() {
        let user =
            |id: i32| rawdoc! { "_id": id, "name": "x", "log": ["y".repeat(900), "z".repeat(900)] };
        let mut fixture = Fixture::new((0..20).map(user));
        fixture.collection.operations = vec![read(doc! { "name": 1 }, 30)];
        let findings = fixture.look(look);
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(
            command.contains(r#"{$unwind: {path: "$log", includeArrayIndex: "at"}}"#),
            "{command}"
        );
    }

    #[test]
    fn fields_that_are_read_or_small_are_not() {
        let names = || read(doc! { "name": 1, "more": 1 }, 30);
        assert_eq!(paths(&found(4_000, vec![names()])), ["feed"]);
        assert!(found(500, vec![names()]).is_empty());
        assert!(found(4_000, vec![read(doc! { "name": 1, "more": 1 }, 9)]).is_empty());
        // A read without a projection uses everything.
        assert!(found(4_000, vec![names(), read(doc! {}, 1)]).is_empty());
        assert_eq!(
            found(4_000, vec![read(doc! { "name": 1, "more": 1 }, 300), read(doc! {}, 3)]).len(),
            1
        );
        // So does what filters or sorts by it.
        let filter = Operation { filter: doc! { "feed": "x" }, ..names() };
        assert!(found(4_000, vec![filter]).is_empty());
        let sort = Operation { sort: doc! { "feed": 1 }, ..names() };
        assert!(found(4_000, vec![sort]).is_empty());
        assert!(found(4_000, vec![]).is_empty());
    }

    #[test]
    fn joins_from_other_collections_are_reads() {
        let mut fixture = Fixture::new((0..20).map(|id| product(id, 4_000)));
        fixture.collection.operations = vec![read(doc! { "name": 1, "more": 1 }, 30)];
        assert_eq!(fixture.look(look).len(), 1);
        let whole = Operation { command: JOIN.to_owned(), count: 5, ..Operation::default() };
        fixture.collection.joined = vec![whole.clone()];
        assert!(fixture.look(look).is_empty());
        let pipeline = vec![doc! { "$project": { "name": 1 } }];
        fixture.collection.joined = vec![Operation { pipeline, ..whole }];
        assert_eq!(fixture.look(look).len(), 1);
    }
}
