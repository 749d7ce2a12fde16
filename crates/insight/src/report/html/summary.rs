//! The head of the page: what was looked at, how it stands, what breaks first.

use super::chart::forecast::Forecast;
use super::words::{counted, title};
use crate::figures::{bytes, count, full};
use crate::report::{Extent, Finding, Report, Severity, Status};
use maud::{Markup, html};

pub fn header(report: &Report) -> Markup {
    let target = &report.target;
    let scanned = &report.scanned;
    let day = scanned.started.get(..10).unwrap_or(&scanned.started);
    html! {
        header {
            p.brand { span.mark aria-hidden="true" {} "Freeboard audit" }
            h1 {
                (target.address)
                @if let Some(database) = &target.database { span.database { "/" (database) } }
            }
            p.facts {
                span { (target.kind) " " (target.version) }
                time datetime=(scanned.started) { (day) }
                span { (format!("{:.1} s", scanned.seconds)) }
            }
            nav {
                a href="#findings" { "Findings" }
                a href="#checklist" { "Checklist" }
                a href="#collections" { "Collections" }
                @if !scanned.notes.is_empty() { a href="#notes" { "Notes" } }
            }
        }
    }
}

/// How much was looked at: the first line of the page.
pub fn extent(report: &Report) -> Markup {
    let looked_at = &report.looked_at;
    let whole = matches!(looked_at.extent, Extent::All | Extent::Sample);
    html! {
        p.extent.missed[!whole] role=[(!whole).then_some("alert")] { (looked_at.sentence) }
    }
}

pub fn section(report: &Report) -> Markup {
    let scanned = &report.scanned;
    let of = |severity| report.findings.iter().filter(|it| it.severity == severity).count();
    let passed = report.checklist.iter().filter(|item| item.status == Status::Pass).count();
    html! {
        section.summary id="summary" {
            p.verdict { (verdict(report)) }
            div.tiles {
                @for severity in [Severity::Critical, Severity::Warn, Severity::Info] {
                    @let number = of(severity);
                    (tile(severity.name(), number == 0, &count(number as u64), severity.name()))
                }
                (tile("plain", false, &format!("{passed} of {}", report.checklist.len()), "checks passed"))
                (tile("plain", false, &count(scanned.collections.len() as u64), "collections"))
                @let label = format!("documents read, {}", bytes(scanned.bytes));
                (tile("plain", false, &count(scanned.documents), &label))
            }
        }
    }
}

fn tile(class: &str, none: bool, figure: &str, label: &str) -> Markup {
    html! {
        div.tile.(class).none[none] {
            span.figure { (figure) }
            span.label { (label) }
        }
    }
}

/// The report in a sentence or two.
fn verdict(report: &Report) -> String {
    let at_least = |severity| report.findings.iter().filter(move |it| it.severity >= severity);
    let critical = at_least(Severity::Critical).count();
    let warn = at_least(Severity::Warn).count() - critical;
    let mut verdict = match (critical, warn, report.findings.len()) {
        (0, 0, 0) => format!("Nothing was found{}.", report.looked_at.reservation()),
        (0, 0, other) => format!("Nothing urgent; {} to know of.", counted(other, "thing")),
        (0, warn, _) => format!("Nothing breaks at once; {} to see to.", counted(warn, "thing")),
        (critical, _, _) => format!("{} cannot wait.", counted(critical, "thing")),
    };
    if let Some((finding, growth)) = first_to_break(report) {
        let place = finding.path.as_ref().map_or(String::new(), |path| format!(" ({path})"));
        verdict += &format!(
            " First to break: {}{place}, where a document is {}.",
            finding.namespace,
            full(growth.days)
        );
    } else if let Some(finding) = report.findings.first() {
        verdict += &format!(
            " The gravest: {} in {}.",
            title(&finding.detector).to_lowercase(),
            finding.namespace
        );
    }
    verdict
}

/// Of the arrays whose growth is known, the one that is full first.
fn first_to_break(report: &Report) -> Option<(&Finding, Forecast)> {
    let growing = report.findings.iter().filter(|it| it.severity > Severity::Info);
    growing
        .filter_map(|finding| Some((finding, Forecast::of(finding)?)))
        .min_by(|(_, a), (_, b)| a.days.total_cmp(&b.days))
}
