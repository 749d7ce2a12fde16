//! The checklist of a schema's design: eight lines, each answered by detectors.

use super::detectors::{DETECTORS, Need};
use crate::report::{Finding, Item, Severity, Status};

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
    Line {
        item: "Document size at the 99th percentile is well under 16 MB, with room to grow",
        detectors: &["massive_document"],
        otherwise: "",
    },
    Line {
        item: "What is read and written together can be read and written in one operation",
        detectors: &[],
        otherwise: "which reads and writes belong together is not written in the data",
    },
];

/// What could be looked at.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub documents: bool,
    pub operations: bool,
    pub sharding: bool,
    /// Whether any collection is sharded.
    pub sharded: bool,
}

pub fn checklist(findings: &[Finding], seen: Seen) -> Vec<Item> {
    LINES
        .iter()
        .map(|line| {
            let (status, reason) = answer(line, findings, seen);
            Item { item: line.item.to_owned(), status, reason }
        })
        .collect()
}

fn answer(line: &Line, findings: &[Finding], seen: Seen) -> (Status, String) {
    let against: Vec<&Finding> = findings
        .iter()
        .filter(|it| line.detectors.contains(&&*it.detector) && it.severity >= Severity::Warn)
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
    if needs.contains(&Need::Sharding) && seen.sharding && !seen.sharded {
        return (Status::Pass, "no collection is sharded".to_owned());
    }
    if needs.contains(&Need::Sharding) && !seen.sharding {
        return unknown("the shard keys could not be read");
    }
    if needs.contains(&Need::Operations) && !seen.operations {
        return unknown("the server keeps no record of what clients ask (see the notes)");
    }
    if needs.contains(&Need::Documents) && !seen.documents {
        return unknown("no document was looked at");
    }
    (Status::Pass, "nothing was found against it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Cure;
    use command::Namespace;

    const ALL: Seen = Seen { documents: true, operations: true, sharding: true, sharded: false };

    fn finding(detector: &str, severity: Severity) -> Finding {
        let namespace = Namespace { database: "d".into(), collection: "c".into() };
        let cure = Cure::command("none", String::new());
        let finding = Finding::new(severity, &namespace, String::new(), cure).path("a");
        Finding { detector: detector.to_owned(), ..finding }
    }

    #[test]
    fn a_line_fails_by_a_finding_and_passes_without() {
        let list = checklist(&[], ALL);
        assert_eq!(list.len(), 8);
        assert_eq!(list[0].status, Status::Pass);
        assert_eq!(list[2].status, Status::NotKnown);
        assert!(list.iter().all(|item| !item.reason.is_empty()));
        let list = checklist(&[finding("unbounded_array", Severity::Warn)], ALL);
        assert_eq!(list[0].status, Status::Fail);
        assert_eq!(list[0].reason, "unbounded_array in d.c (a)");
        let list = checklist(&[finding("unbounded_array", Severity::Info)], ALL);
        assert_eq!(list[0].status, Status::Pass);
    }

    #[test]
    fn what_was_not_looked_at_is_not_known() {
        let none = Seen { documents: false, operations: false, sharding: false, sharded: false };
        let list = checklist(&[], none);
        assert!(list.iter().all(|item| item.status == Status::NotKnown), "{list:?}");
    }
}
