//! Two reports of one target: what grew, what got better, and how fast.

use super::finding::{Finding, Severity};
use super::{Extent, Report, text};
use crate::Error;
use crate::audit::Target;
use crate::figures::count;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

const SECONDS_A_DAY: f64 = 24.0 * 60.0 * 60.0;
/// Reports closer to each other tell no rates.
const DAYS_MIN: f64 = 1.0 / 24.0 / 60.0;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Diff {
    pub version: u32,
    /// When the audits began, RFC 3339, and the days between them.
    pub from: String,
    pub to: String,
    pub days: f64,
    /// Findings of the new report that the old one has not, and the other way round.
    pub appeared: Vec<Finding>,
    pub gone: Vec<Finding>,
    /// Findings of both whose severity changed.
    pub worse: Vec<Change>,
    pub better: Vec<Change>,
    /// What became more or less, the fastest first.
    pub growth: Vec<Growth>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    pub detector: String,
    pub namespace: String,
    pub path: Option<String>,
    pub old: Severity,
    pub new: Severity,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub namespace: String,
    pub path: Option<String>,
    pub what: What,
    pub old: u64,
    pub new: u64,
    /// `None` where the reports are too close to each other.
    pub per_day: Option<f64>,
    /// Until the largest document reaches the target's limit.
    pub days_to_limit: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Documents,
    LargestDocumentBytes,
    LongestArrayElements,
}

impl Report {
    /// Reads a report in JSON.
    pub fn read(path: &Path) -> Result<Report, Error> {
        let wrong = |why: String| {
            Error::Use(format!("{} is no report of freeboard audit in JSON: {why}", path.display()))
        };
        let text =
            std::fs::read_to_string(path).map_err(|error| Error::File(path.to_owned(), error))?;
        let report: Report =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match report.version {
            super::VERSION => Ok(report),
            other => Err(wrong(format!("its version is {other}, and {} is read", super::VERSION))),
        }
    }
}

impl Diff {
    /// Refused where the reports are of different databases, or where the new one did not look
    /// at all of what the old one found something in: what it misses is not gone.
    pub fn new(old: &Report, new: &Report) -> Result<Diff, Error> {
        same_place(old, new)?;
        let days = days_between(&old.scanned.started, &new.scanned.started);
        let matches = Matches::new(&old.findings, &new.findings);
        all_looked_at(&matches.old, new)?;
        let changes: Vec<Change> =
            matches.both.iter().filter_map(|(old, new)| change(old, new)).collect();
        let (worse, better) = changes.into_iter().partition(|change| change.new > change.old);
        Ok(Diff {
            version: super::VERSION,
            from: old.scanned.started.clone(),
            to: new.scanned.started.clone(),
            days: (days * 1000.0).round() / 1000.0,
            appeared: matches.new.into_iter().cloned().collect(),
            gone: matches.old.into_iter().cloned().collect(),
            worse,
            better,
            growth: growth(old, new, days),
        })
    }

    pub fn text(&self, colour: bool) -> String {
        text::render_diff(self, colour)
    }

    pub fn json(&self) -> Result<String, Error> {
        let json = serde_json::to_string_pretty(self);
        json.map(|json| json + "\n").map_err(|error| Error::Use(error.to_string()))
    }
}

fn same_place(old: &Report, new: &Report) -> Result<(), Error> {
    let name = |report: &Report| match &report.target.database {
        Some(database) => format!("the database '{database}'"),
        None => "all databases".to_owned(),
    };
    // One of all databases is one of each.
    if new.target.database.is_some() && old.target.database != new.target.database {
        let why = format!(
            "the old report is of {} and the new one of {}: give two reports of the same",
            name(old),
            name(new)
        );
        return Err(Error::Use(why));
    }
    if new.looked_at.extent == Extent::Nothing {
        let why = format!(
            "the new report shows nothing to compare. {} Audit again.",
            new.looked_at.sentence
        );
        return Err(Error::Use(why));
    }
    Ok(())
}

/// Whether what is gone was looked for.
fn all_looked_at(gone: &[&Finding], new: &Report) -> Result<(), Error> {
    let missed: Vec<&Finding> = gone.iter().filter(|it| !is_looked_at(it, new)).copied().collect();
    let Some(first) = missed.first() else { return Ok(()) };
    Err(Error::Use(format!(
        "the new report did not look at all of {}, where the old one has {} ({} in all like it): \
         whether it is gone is not known. {} Audit again with --full.",
        first.namespace,
        first.detector,
        count(missed.len() as u64),
        new.looked_at.sentence
    )))
}

/// Whether the new report saw all of where a finding was; what was dropped since is seen, too.
fn is_looked_at(finding: &Finding, new: &Report) -> bool {
    let (database, _) = finding.namespace.split_once('.').unwrap_or((&finding.namespace, ""));
    // Of a family, or of all collections.
    let many = finding.namespace.contains(['{', '*']);
    let within = |namespace: &str| match many {
        true => {
            database == "*" || namespace.split_once('.').is_some_and(|(name, _)| name == database)
        }
        false => namespace == finding.namespace,
    };
    let missed = new.scanned.notes.iter().filter(|note| note.missed);
    let missed = missed.filter(|note| match &note.namespace {
        Some(namespace) => within(namespace) || namespace == database,
        None => true,
    });
    let mut there = new.scanned.collections.iter().filter(|it| within(&it.namespace));
    // Views and the like have no documents of their own to read.
    missed.count() == 0 && there.all(|it| it.whole || it.sizes.is_none())
}

/// The findings of two reports, those that are the same side by side.
struct Matches<'a> {
    both: Vec<(&'a Finding, &'a Finding)>,
    /// What only one of the reports has.
    old: Vec<&'a Finding>,
    new: Vec<&'a Finding>,
}

impl<'a> Matches<'a> {
    fn new(old: &'a [Finding], new: &'a [Finding]) -> Matches<'a> {
        let mut matches =
            Matches { both: Vec::new(), old: old.iter().collect(), new: new.iter().collect() };
        // A detector may say two things of one place: what did not change goes first, so that
        // neither is taken for the other.
        matches.take(|old, new| old.is_same(new) && old.severity == new.severity);
        matches.take(Finding::is_same);
        matches
    }

    /// Puts side by side what belongs together and is still alone.
    fn take(&mut self, belongs: fn(&Finding, &Finding) -> bool) {
        let (both, old) = (&mut self.both, &mut self.old);
        self.new.retain(|new| match old.iter().position(|old| belongs(old, new)) {
            Some(at) => {
                both.push((old.remove(at), new));
                false
            }
            None => true,
        });
    }
}

impl Finding {
    /// Whether it is the same finding, whatever its evidence.
    fn is_same(&self, other: &Finding) -> bool {
        let fault = |it: &Finding| it.evidence.figures.get("fault").cloned();
        self.detector == other.detector
            && self.namespace == other.namespace
            && self.path == other.path
            && fault(self) == fault(other)
    }
}

fn change(old: &Finding, new: &Finding) -> Option<Change> {
    (old.severity != new.severity).then(|| Change {
        detector: new.detector.clone(),
        namespace: new.namespace.clone(),
        path: new.path.clone(),
        old: old.severity,
        new: new.severity,
    })
}

fn days_between(old: &str, new: &str) -> f64 {
    let seconds =
        |text: &str| text.parse::<Timestamp>().map(|at| at.as_millisecond() as f64 / 1000.0);
    match (seconds(old), seconds(new)) {
        (Ok(old), Ok(new)) => (new - old) / SECONDS_A_DAY,
        _ => 0.0,
    }
}

fn growth(old: &Report, new: &Report, days: f64) -> Vec<Growth> {
    let limit = Target::ALL.iter().find(|target| target.name() == new.target.kind);
    let limit = limit.map(|target| target.limits().document_bytes);
    let mut growth = Vec::new();
    for now in &new.scanned.collections {
        let before = old.scanned.collections.iter().find(|it| it.namespace == now.namespace);
        let Some(before) = before else { continue };
        let mut add = |what: What, path: Option<&str>, old: u64, new: u64| {
            let (namespace, path) = (now.namespace.clone(), path.map(str::to_owned));
            let per_day = (days >= DAYS_MIN).then(|| (new as f64 - old as f64) / days);
            let days_to_limit = match (what, limit, per_day) {
                (What::LargestDocumentBytes, Some(limit), Some(rate)) if rate > 0.0 => {
                    Some(limit.saturating_sub(new) as f64 / rate)
                }
                _ => None,
            };
            if old != new {
                growth.push(Growth { namespace, path, what, old, new, per_day, days_to_limit });
            }
        };
        if let (Some(old), Some(new)) = (before.documents, now.documents) {
            add(What::Documents, None, old, new);
        }
        if let (Some(old), Some(new)) = (&before.sizes, &now.sizes) {
            add(What::LargestDocumentBytes, None, old.max, new.max);
        }
        for array in &now.arrays {
            if let Some(old) = before.arrays.iter().find(|it| it.path == array.path) {
                let (old, new) = (old.lengths.max, array.lengths.max);
                add(What::LongestArrayElements, Some(&array.path), old, new);
            }
        }
    }
    let ratio = |it: &Growth| it.new as f64 / it.old.max(1) as f64;
    growth.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    growth
}
