//! The difference of two reports for a terminal.

use super::paint::{Out, Paint, paint_of};
use crate::figures::{bytes, count, full};
use crate::report::{Change, Diff, Finding, Growth, What};

/// Lines of growth that are shown.
const GROWTH_MAX: usize = 40;

pub fn render(diff: &Diff, colour: bool) -> String {
    let mut out = Out::new(colour);
    let head = format!("{} to {} ({:.1} days)", diff.from, diff.to, diff.days);
    let head = out.paint(&head, Paint::Bold);
    out.line(&head);
    let nothing = diff.appeared.is_empty()
        && diff.gone.is_empty()
        && diff.worse.is_empty()
        && diff.better.is_empty()
        && diff.growth.is_empty();
    if nothing {
        out.line("Nothing changed.");
    }
    findings("New", &diff.appeared, &mut out);
    changes("Worse", &diff.worse, &mut out);
    changes("Better", &diff.better, &mut out);
    findings("Gone", &diff.gone, &mut out);
    growth(&diff.growth, &mut out);
    out.text
}

fn findings(title: &str, findings: &[Finding], out: &mut Out) {
    if findings.is_empty() {
        return;
    }
    out.title(title);
    for finding in findings {
        let mark = format!("{:9}", finding.severity.name());
        let mark = out.paint(&mark, paint_of(finding.severity));
        let place = place(&finding.namespace, finding.path.as_deref());
        out.line(&format!("  {mark} {:18} {place}", finding.detector));
    }
}

fn changes(title: &str, changes: &[Change], out: &mut Out) {
    if changes.is_empty() {
        return;
    }
    out.title(title);
    for change in changes {
        let mark = out.paint(change.new.name(), paint_of(change.new));
        let place = place(&change.namespace, change.path.as_deref());
        out.line(&format!("  {} -> {mark}  {}  {place}", change.old.name(), change.detector));
    }
}

fn growth(growth: &[Growth], out: &mut Out) {
    if growth.is_empty() {
        return;
    }
    out.title("Growth");
    for it in growth.iter().take(GROWTH_MAX) {
        let (what, shown): (&str, fn(u64) -> String) = match it.what {
            What::Documents => ("documents", count),
            What::LargestDocumentBytes => ("largest document", bytes),
            What::LongestArrayElements => ("longest array", count),
        };
        let place = place(&it.namespace, it.path.as_deref());
        let mut line = format!("  {place}: {what} {} -> {}", shown(it.old), shown(it.new));
        if let Some(rate) = it.per_day {
            let sign = if rate < 0.0 { "-" } else { "+" };
            line += &format!(", {sign}{} a day", shown(rate.abs().round() as u64));
        }
        if let Some(left) = it.days_to_limit {
            line += &format!(", {}", full(left));
        }
        out.line(&line);
    }
    if growth.len() > GROWTH_MAX {
        out.line(&format!("  … and {} more, with --format json", growth.len() - GROWTH_MAX));
    }
}

fn place(namespace: &str, path: Option<&str>) -> String {
    path.map_or_else(|| namespace.to_owned(), |path| format!("{namespace}  {path}"))
}
