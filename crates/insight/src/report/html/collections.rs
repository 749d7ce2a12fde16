//! The collections: what was seen of each, and how sizes and lengths are spread.

use super::DOCUMENT_BYTES_MAX;
use super::chart::histogram::{self, OUTLIER_TIMES_MEDIAN, Unit};
use super::words::counted;
use crate::Error;
use crate::figures::{bytes, count};
use crate::report::{Collection, Report, Severity, Spread};
use maud::{Markup, PreEscaped, html};
use std::cmp::Reverse;

/// Collections beyond this have figures and no charts: a page that no browser opens helps
/// nobody.
const CHARTED_MAX: usize = 500;
/// Up to so many collections are shown open; of more, those that a warning is about.
const OPEN_MAX: usize = 12;

/// The place of a collection in the page.
pub fn anchor(report: &Report, namespace: &str) -> Option<String> {
    let collections = &report.scanned.collections;
    let at = collections.iter().position(|collection| collection.namespace == namespace)?;
    Some(format!("collection-{at}"))
}

/// A collection, where it stands in the report, and what was found about it.
struct Shown<'a> {
    at: usize,
    collection: &'a Collection,
    findings: usize,
    gravest: Option<Severity>,
}

pub fn section(report: &Report) -> Result<Markup, Error> {
    let all = in_order(report);
    let many = all.len() > OPEN_MAX;
    let shown: Vec<Markup> = all
        .iter()
        .enumerate()
        .map(|(number, shown)| shown.markup(many, number < CHARTED_MAX))
        .collect::<Result<_, _>>()?;
    Ok(html! {
        section id="collections" {
            h2 { "Collections" }
            p.lead {
                "How many documents are of which size and how many arrays of which length; from bar "
                "to bar it doubles. Orange: at least " (OUTLIER_TIMES_MEDIAN) " times the median."
            }
            @if all.len() > CHARTED_MAX {
                p.lead { "Charts are drawn for the first " (CHARTED_MAX) "; the JSON report has all of them." }
            }
            @for collection in shown { (collection) }
        }
    })
}

/// The collections that the gravest findings are about first.
fn in_order(report: &Report) -> Vec<Shown<'_>> {
    let collections = report.scanned.collections.iter().enumerate();
    let mut all: Vec<Shown<'_>> = collections
        .map(|(at, collection)| {
            let about = report.findings.iter().filter(|it| it.namespace == collection.namespace);
            let findings = about.clone().count();
            Shown { at, collection, findings, gravest: about.map(|it| it.severity).max() }
        })
        .collect();
    all.sort_by_key(|shown| Reverse(shown.gravest));
    all
}

impl Shown<'_> {
    fn markup(&self, many: bool, charted: bool) -> Result<Markup, Error> {
        let Shown { at, collection, findings, gravest } = *self;
        let open = !many || gravest > Some(Severity::Info);
        let charts = if charted { charts(collection)? } else { Vec::new() };
        Ok(html! {
            details.collection id={ "collection-" (at) } open[open] {
                summary {
                    code.name { (collection.namespace) }
                    @if collection.kind != "collection" { span.kind { (collection.kind) } }
                    span.facts { (facts(collection)) }
                    @if findings > 0 { span.count { (counted(findings, "finding")) } }
                }
                @if let Some(sizes) = &collection.sizes { (level(sizes)) }
                @if charts.is_empty() && collection.sizes.is_none() {
                    p.lead { "No document was looked at." }
                }
                div.charts { @for chart in charts { (chart) } }
            }
        })
    }
}

/// The collection in a line.
fn facts(collection: &Collection) -> String {
    let documents = match collection.documents {
        Some(documents) if documents > collection.scanned => {
            format!("{} documents, {} read", count(documents), count(collection.scanned))
        }
        _ => counted(collection.scanned as usize, "document"),
    };
    let indexes = match collection.indexes {
        1 => "1 index".to_owned(),
        indexes => format!("{indexes} indexes"),
    };
    format!("{documents}, {indexes}")
}

/// How much of what a document may weigh the largest one does.
fn level(sizes: &Spread) -> Markup {
    let share = sizes.max as f64 / DOCUMENT_BYTES_MAX as f64;
    let percent = (share * 100.0).clamp(0.5, 100.0);
    let class = match share {
        share if share >= 0.5 => "high",
        share if share >= 0.1 => "raised",
        _ => "low",
    };
    html! {
        div.level {
            div.gauge.(class) role="img" aria-label={ (percent.round()) " % of 16 MB" } {
                span style={ "width:" (format!("{percent:.1}")) "%" } {}
            }
            p { "Largest document " b { (bytes(sizes.max)) } " of 16 MB" }
        }
    }
}

/// Its histograms: of sizes, then of each array.
fn charts(collection: &Collection) -> Result<Vec<Markup>, Error> {
    let sizes = collection.sizes.iter().map(|sizes| (None, sizes, Unit::Bytes));
    let arrays = collection.arrays.iter();
    let arrays = arrays.map(|array| (Some(&array.path), &array.lengths, Unit::Elements));
    let all = sizes.chain(arrays).filter(|(_, spread, _)| !spread.histogram.is_empty());
    all.map(|(path, spread, unit)| {
        let chart = histogram::draw(spread, unit)?;
        Ok(html! {
            figure.histogram {
                figcaption {
                    @match path {
                        None => "Sizes of documents",
                        Some(path) => { "Lengths of " code { (path) } },
                    }
                }
                (PreEscaped(chart))
                p.spread {
                    "half up to " b { (unit.show(spread.p50)) }
                    ", 99 % up to " b { (unit.show(spread.p99)) }
                    ", largest " b { (unit.show(spread.max)) }
                }
            }
        })
    })
    .collect()
}
