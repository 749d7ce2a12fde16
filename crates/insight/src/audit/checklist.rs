//! The checklist of a schema's design: eight lines, each answered by detectors.

use super::detectors::{DETECTORS, Need};
use crate::figures::bytes;
use crate::report::{self, Extent, Finding, Item, LookedAt, Severity, Status};

/// The line that goes by the sizes themselves.
const SIZES: &str = "Document size at the 99th percentile is well under 16 MB, with room to grow";

/// A line, and how it is answered.
struct Line {
    item: &'static str,
    /// It fails if one of these finds something worth a warning.
    detectors: &'static [&'static str],
    /// Why nothing can be said, where no detector could say it.
    otherwise: &'static str,
}

const LINES: &[Line] = &[
    Line {
        item: "No unbounded arrays: all arrays are bounded or in collections of their own",
        detectors: &["unbounded_array", "unguarded_growth"],
        otherwise: "",
    },
    Line {
        item: "All hot read paths are served by reads of a single document where possible",
        detectors: &["normalised", "bloated_document"],
        otherwise: "",
    },
    Line {
        item: "Updates that must be atomic are so by embedding, or their transactions are documented",
        detectors: &[],
        otherwise: "which updates must be atomic is not written in the data",
    },
    Line {
        item: "Heavy aggregations (counts, totals) are pre-computed in fields of documents",
        detectors: &["uncomputed"],
        otherwise: "",
    },
    Line {
        item: "Indexes are defined for all query patterns",
        detectors: &["missing_index"],
        otherwise: "",
    },
    Line {
        item: "Shard keys have high cardinality and do not grow monotonically",
        detectors: &["shard_key"],
        otherwise: "",
    },
    Line { item: SIZES, detectors: &[], otherwise: "" },
    Line {
        item: "What is read and written together can be read and written in one operation",
        detectors: &[],
        otherwise: "which reads and writes belong together is not written in the data",
    },
];

/// What could be looked at.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub looked_at: &'a LookedAt,
    /// Collections with documents that a sample does not account for.
    pub unseen: &'a [String],
    pub collections: &'a [report::Collection],
    pub operations: bool,
    pub sharding: bool,
    /// Whether any collection is sharded.
    pub sharded: bool,
    /// The bytes that a document at the 99th percentile is to stay below.
    pub size_limit: u64,
}

pub fn checklist(findings: &[Finding], seen: &Seen<'_>) -> Vec<Item> {
    LINES
        .iter()
        .map(|line| {
            let (status, reason) = answer(line, findings, seen);
            Item { item: line.item.to_owned(), status, reason }
        })
        .collect()
}

fn answer(line: &Line, findings: &[Finding], seen: &Seen<'_>) -> (Status, String) {
    if line.item == SIZES {
        return sizes(seen);
    }
    let against: Vec<&Finding> = findings
        .iter()
        .filter(|it| it.severity >= Severity::Warn && it.is_of(line.detectors))
        .collect();
    if let Some(first) = against.first() {
        let place = first.path.as_ref().map_or(String::new(), |path| format!(" ({path})"));
        let more = match against.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let reason = format!("{} in {}{place}{more}", first.detector, first.namespace);
        return (Status::Fail, reason);
    }
    if line.detectors.is_empty() {
        return (Status::NotKnown, line.otherwise.to_owned());
    }
    let rows = DETECTORS.iter().filter(|row| line.detectors.contains(&row.name));
    let needs: Vec<Need> = rows.flat_map(|row| row.needs).copied().collect();
    let unknown = |why: &str| (Status::NotKnown, why.to_owned());
    if needs.is_empty() {
        return unknown("this version does not look for it yet");
    }
    if needs.contains(&Need::Sharding) && !seen.sharding {
        return unknown("the shard keys could not be read");
    }
    if needs.contains(&Need::Operations) && !seen.operations {
        return unknown("the server keeps no record of what clients ask (see the notes)");
    }
    let whole = "nothing was found against it";
    if needs.contains(&Need::Sharding) && !seen.sharded {
        return passed(seen, false, "no collection is sharded");
    }
    passed(seen, needs.contains(&Need::Documents), whole)
}

/// A line that nothing was found against. It passes only as far as was looked.
fn passed(seen: &Seen<'_>, by_documents: bool, why: &str) -> (Status, String) {
    match seen.looked_at.extent {
        Extent::Nothing => (Status::NotKnown, "no document was looked at".to_owned()),
        Extent::Part => (Status::NotKnown, format!("{why}, but not all could be looked at")),
        Extent::All | Extent::Sample if !by_documents => (Status::Pass, why.to_owned()),
        Extent::All | Extent::Sample => match seen.unseen {
            [] => (Status::Pass, format!("{why}{}", seen.looked_at.reservation())),
            [first, ..] => {
                let why = format!("{first} has large documents that the sample left out");
                (Status::NotKnown, why)
            }
        },
    }
}

/// By the 99th percentile itself, of the collection where it is greatest.
fn sizes(seen: &Seen<'_>) -> (Status, String) {
    let sizes = seen.collections.iter().filter_map(|it| Some((it, it.sizes.as_ref()?.p99)));
    let Some((collection, p99)) = sizes.max_by_key(|(_, p99)| *p99) else {
        return (Status::NotKnown, "no document was looked at".to_owned());
    };
    let why = format!("the greatest is {} in {}", bytes(p99), collection.namespace);
    match p99 >= seen.size_limit {
        true => (Status::Fail, why),
        false => passed(seen, true, &why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cure, Spread};
    use command::Namespace;

    fn finding(detector: &str, severity: Severity) -> Finding {
        let namespace = Namespace { database: "d".into(), collection: "c".into() };
        let cure = Cure::command("none", String::new());
        let finding = Finding::new(severity, &namespace, String::new(), cure).path("a");
        Finding { detector: detector.to_owned(), ..finding }
    }

    fn collection(p99: u64) -> report::Collection {
        let spread = Spread {
            count: 1_000,
            min: 1,
            mean: 1.0,
            p50: 1,
            p90: 1,
            p99,
            max: 9 << 20,
            histogram: Vec::new(),
        };
        report::Collection {
            namespace: "d.c".to_owned(),
            kind: "collection".to_owned(),
            documents: Some(20_000),
            scanned: 1_000,
            whole: false,
            indexes: 1,
            sizes: Some(spread),
            arrays: Vec::new(),
        }
    }

    /// A list of what was seen to this extent, 5 % where it is a sample.
    fn list(extent: Extent, findings: &[Finding], change: impl Fn(&mut Seen<'_>)) -> Vec<Item> {
        let looked_at = LookedAt { extent, share: Some(0.05), sentence: String::new() };
        let collections = [collection(1_000)];
        let mut seen = Seen {
            looked_at: &looked_at,
            unseen: &[],
            collections: &collections,
            operations: true,
            sharding: true,
            sharded: false,
            size_limit: 2 << 20,
        };
        change(&mut seen);
        checklist(findings, &seen)
    }

    #[test]
    fn a_line_fails_by_a_finding_and_passes_without() {
        let all = |findings: &[Finding]| list(Extent::All, findings, |_| {});
        assert_eq!(all(&[]).len(), 8);
        assert_eq!(all(&[])[0].status, Status::Pass);
        assert_eq!(all(&[])[2].status, Status::NotKnown);
        assert!(all(&[]).iter().all(|item| !item.reason.is_empty()));
        let failed = all(&[finding("unbounded_array", Severity::Warn)]);
        assert_eq!(failed[0].status, Status::Fail);
        assert_eq!(failed[0].reason, "unbounded_array in d.c (a)");
        assert_eq!(all(&[finding("unbounded_array", Severity::Info)])[0].status, Status::Pass);
    }

    #[test]
    fn a_sample_passes_with_a_reservation() {
        let items = list(Extent::Sample, &[], |_| {});
        assert_eq!(items[0].status, Status::Pass);
        assert_eq!(items[0].reason, "nothing was found against it in a sample of 5.0 %");
        // Large documents that it left out say something against it.
        let unseen = ["d.c".to_owned()];
        let looked_at =
            LookedAt { extent: Extent::Sample, share: Some(0.05), sentence: String::new() };
        let seen = Seen {
            looked_at: &looked_at,
            unseen: &unseen,
            collections: &[],
            operations: true,
            sharding: true,
            sharded: false,
            size_limit: 1,
        };
        assert_eq!(checklist(&[], &seen)[0].status, Status::NotKnown);
    }

    #[test]
    fn what_was_not_looked_at_is_not_known() {
        for extent in [Extent::Nothing, Extent::Part] {
            let items = list(extent, &[], |_| {});
            assert!(items.iter().all(|item| item.status == Status::NotKnown), "{items:?}");
        }
        let without_record = list(Extent::All, &[], |seen| seen.operations = false);
        assert_eq!(without_record[4].status, Status::NotKnown);
        assert_eq!(without_record[5].status, Status::Pass);
        let sharded = list(Extent::All, &[], |seen| seen.sharded = true);
        assert_eq!(sharded[5].reason, "nothing was found against it");
        let unread = list(Extent::All, &[], |seen| seen.sharding = false);
        assert_eq!(unread[5].status, Status::NotKnown);
    }

    #[test]
    fn sizes_go_by_the_99th_percentile() {
        // One document in a thousand is very large.
        let items = list(Extent::All, &[finding("massive_document", Severity::Critical)], |_| {});
        assert_eq!(items[6].status, Status::Pass);
        assert_eq!(items[6].reason, "the greatest is 1000 bytes in d.c");
        let looked_at = LookedAt::default();
        let collections = [collection(3 << 20), collection(10)];
        let seen = Seen {
            looked_at: &looked_at,
            unseen: &[],
            collections: &collections,
            operations: true,
            sharding: true,
            sharded: false,
            size_limit: 2 << 20,
        };
        assert_eq!(checklist(&[], &seen)[6].status, Status::Fail);
    }
}
