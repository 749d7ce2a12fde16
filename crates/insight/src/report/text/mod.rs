//! The report for a terminal: aligned, the gravest first, a screen a finding at most.

mod diff;
mod paint;

pub use diff::render as render_diff;

use super::finding::{Cure, Finding, Remedy, Severity};
use super::{Extent, Report, Status, shell, yaml};
use crate::figures::{bytes, count, counted};
use paint::{COLUMNS, INDENT, LABEL, Out, Paint, paint_of, wrap};
use serde_json::Value;

/// Lines of a cure, ids and examples, figures: together a screen.
const CURE_LINES_MAX: usize = 12;
const LIST_LINES_MAX: usize = 2;
/// What is only worth mentioning is not mentioned without end.
const INFO_MAX: usize = 20;
const NOTES_MAX: usize = 20;
const VALUE_BYTES_MAX: usize = 60;
const QUERY_BYTES_MAX: usize = 170;

pub fn render(report: &Report, colour: bool) -> String {
    let mut out = Out::new(colour);
    head(report, &mut out);
    let grave = report.findings.iter().filter(|it| it.severity > Severity::Info).count();
    for finding in report.findings.iter().take(grave + INFO_MAX) {
        out.line("");
        one(finding, &mut out);
    }
    if let Some(more) = report.findings.len().checked_sub(grave + INFO_MAX + 1) {
        out.line("");
        out.line(&format!("… and {} more of severity info, in the JSON report", more + 1));
    }
    if report.findings.is_empty() {
        out.line("");
        let of = report.looked_at.reservation();
        out.line(&format!("Nothing was found{of}."));
    }
    checklist(report, &mut out);
    notes(report, &mut out);
    out.text
}

fn head(report: &Report, out: &mut Out) {
    let target = &report.target;
    let scanned = &report.scanned;
    let said = match report.looked_at.extent {
        Extent::All | Extent::Sample => report.looked_at.sentence.clone(),
        Extent::Part | Extent::Nothing => out.paint(&report.looked_at.sentence, Paint::Red),
    };
    out.line(&said);
    let title = format!("{} {} at {}", target.kind, target.version, target.address);
    let title = out.paint(&title, Paint::Bold);
    out.line(&title);
    out.line(&format!(
        "{} ({}) of {} in {:.1} s",
        counted(scanned.documents, "document"),
        bytes(scanned.bytes),
        counted(scanned.collections.len() as u64, "collection"),
        scanned.seconds,
    ));
    let of = |severity| {
        let all = report.findings.iter();
        all.filter(|finding| finding.severity == severity).count()
    };
    let counts = [Severity::Critical, Severity::Warn, Severity::Info].map(|severity| {
        out.paint(&format!("{} {}", of(severity), severity.name()), paint_of(severity))
    });
    out.line(&format!("Findings: {}", counts.join(", ")));
}

fn one(finding: &Finding, out: &mut Out) {
    let severity = finding.severity;
    let mark = format!("{:9}", severity.name().to_uppercase());
    let place = match &finding.path {
        Some(path) => format!("{}  {path}", finding.namespace),
        None => finding.namespace.clone(),
    };
    let mark = out.paint(&mark, paint_of(severity));
    let place = out.paint(&place, Paint::Bold);
    out.line(&format!("{mark} {}  {place}", finding.detector));
    out.indented(&finding.summary);
    let evidence = &finding.evidence;
    let list = |values: &[Value]| values.iter().map(literal).collect::<Vec<_>>().join(", ");
    if !evidence.ids.is_empty() {
        out.labelled("ids", &list(&evidence.ids), LIST_LINES_MAX);
    }
    if !evidence.examples.is_empty() {
        out.labelled("examples", &list(&evidence.examples), LIST_LINES_MAX);
    }
    if !evidence.figures.is_empty() {
        let figures = evidence.figures.iter();
        let figures: Vec<String> = figures
            .map(|(name, value)| format!("{}: {}", name.replace('_', " "), figure(value)))
            .collect();
        out.labelled("figures", &figures.join(", "), LIST_LINES_MAX + 1);
    }
    for also in &finding.also {
        out.labelled("also", &format!("{}: {}", also.detector, also.summary), 1);
    }
    cure(&finding.cure, out);
}

fn cure(cure: &Cure, out: &mut Out) {
    let (how, mut lines) = match &cure.remedy {
        Remedy::Policy(policy) => ("freeboard apply URI FILE, with the file", yaml::lines(policy)),
        Remedy::Command(command) => (
            "in mongosh",
            command.lines().flat_map(|line| indented(line, COLUMNS - 2 * INDENT)).collect(),
        ),
    };
    cure.why.iter().for_each(|why| out.labelled("why", why, 2));
    cure.seen.iter().for_each(|seen| out.labelled("seen", seen, LIST_LINES_MAX + 1));
    out.labelled("cure", &format!("{} pattern; {how}:", cure.pattern.replace('_', " ")), 1);
    if lines.len() > CURE_LINES_MAX {
        lines.truncate(CURE_LINES_MAX);
        lines.push("… (all of it is in the JSON report)".to_owned());
    }
    for line in lines {
        let line = out.paint(&line, Paint::Blue);
        out.line(&format!("{:1$}{line}", "", 2 * INDENT));
    }
}

/// A line of a script, wrapped below its own beginning.
fn indented(line: &str, columns: usize) -> Vec<String> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    // What goes on below a comment is a comment, too.
    let (mark, text) = match text.strip_prefix("// ") {
        Some(comment) => ("// ", comment),
        None => ("", text),
    };
    let lines = wrap(text, columns.saturating_sub(indent + mark.len()));
    lines.into_iter().map(|line| format!("{:indent$}{mark}{line}", "")).collect()
}

fn checklist(report: &Report, out: &mut Out) {
    out.title("Checklist");
    for item in &report.checklist {
        let (name, paint) = match item.status {
            Status::Pass => ("pass", Paint::Green),
            Status::Fail => ("fail", Paint::Red),
            Status::NotKnown => ("not known", Paint::Faint),
        };
        let name = out.paint(&format!("{name:LABEL$}"), paint);
        out.line(&format!("{:INDENT$}{name}{}", "", item.item));
        out.labelled("", &item.reason, LIST_LINES_MAX);
    }
}

fn notes(report: &Report, out: &mut Out) {
    let notes = &report.scanned.notes;
    if notes.is_empty() {
        return;
    }
    out.title("Notes");
    for note in notes.iter().take(NOTES_MAX) {
        let place = note.namespace.as_ref().map_or(String::new(), |it| format!("{it}: "));
        out.indented(&format!("{place}{}", note.note));
    }
    if notes.len() > NOTES_MAX {
        let more = notes.len() - NOTES_MAX;
        out.line(&format!("{:INDENT$}… and {more} more, in the JSON report", ""));
    }
}

/// A value on a line, cut where it is long.
fn figure(value: &Value) -> String {
    value.as_u64().map_or_else(|| literal(value), count)
}

/// A value of the data, as a query takes it: a number has no commas.
fn literal(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => shell(other),
    };
    // What was asked says more than a value.
    let most = if value.is_object() { QUERY_BYTES_MAX } else { VALUE_BYTES_MAX };
    if text.len() <= most {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
