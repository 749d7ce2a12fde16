//! The findings: what is wrong, what proves it, what cures it.

use super::chart::forecast::{self, Forecast};
use super::collections;
use super::words::{figure, label, literal, title};
use crate::Error;
use crate::report::{Cure, Evidence, Finding, Remedy, Report, Severity, yaml};
use maud::{Markup, PreEscaped, html};

/// Ids or examples that a finding shows.
const LIST_MAX: usize = 20;

pub fn section(report: &Report) -> Result<Markup, Error> {
    let findings: Vec<Markup> =
        report.findings.iter().map(|finding| one(report, finding)).collect::<Result<_, _>>()?;
    Ok(html! {
        section id="findings" {
            h2 { "Findings" }
            @if findings.is_empty() {
                p.lead { "Nothing was found" (report.looked_at.reservation()) "." }
            } @else {
                (filter(report))
            }
            @for finding in findings { (finding) }
        }
    })
}

/// Buttons that show the findings of one severity. They are radio buttons, which the
/// stylesheet looks at: the page runs no script.
fn filter(report: &Report) -> Markup {
    let of = |severity| report.findings.iter().filter(|it| it.severity == severity).count();
    html! {
        fieldset.filter {
            legend { "Show" }
            input type="radio" name="show" id="show-all" checked;
            label for="show-all" { "all " (report.findings.len()) }
            @for severity in [Severity::Critical, Severity::Warn, Severity::Info] {
                @let id = format!("show-{}", severity.name());
                input type="radio" name="show" id=(id);
                label.(severity.name()) for=(id) { (severity.name()) " " (of(severity)) }
            }
        }
    }
}

/// Information is folded up: there may be much of it.
fn one(report: &Report, finding: &Finding) -> Result<Markup, Error> {
    let chart = match Forecast::of(finding) {
        Some(growth) => forecast::draw(growth, &report.scanned.started)?.zip(Some(growth)),
        None => None,
    };
    Ok(html! {
        details.finding.(finding.severity.name()) open[finding.severity > Severity::Info] {
            summary {
                span.badge { (finding.severity.name()) }
                h3 { (title(&finding.detector)) }
                span.place { (place(report, finding)) }
            }
            p.what { (finding.summary) }
            @for also in &finding.also {
                p.also { (title(&also.detector)) ": " (also.summary) }
            }
            div.body {
                div { (evidence(&finding.evidence)) }
                div {
                    @if let Some((chart, growth)) = chart {
                        figure { (PreEscaped(chart)) figcaption { (growth) } }
                    }
                    (cure(&finding.cure))
                }
            }
        }
    })
}

/// Where it is; a link where the page shows the collection.
fn place(report: &Report, finding: &Finding) -> Markup {
    html! {
        @match collections::anchor(report, &finding.namespace) {
            Some(anchor) => a href={ "#" (anchor) } { code { (finding.namespace) } },
            None => code { (finding.namespace) },
        }
        @if let Some(path) = &finding.path { span.path { code { (path) } } }
    }
}

fn evidence(evidence: &Evidence) -> Markup {
    let Evidence { ids, examples, figures } = evidence;
    html! {
        @if !figures.is_empty() {
            dl.figures {
                @for (name, value) in figures {
                    div { dt { (label(name)) } dd { (figure(name, value)) } }
                }
            }
        }
        @for (name, values) in [("Ids", ids), ("Examples", examples)] {
            @if !values.is_empty() {
                div.values {
                    h4 { (name) }
                    ul {
                        @for value in values.iter().take(LIST_MAX) { li { code { (literal(value)) } } }
                        @if values.len() > LIST_MAX {
                            li.more { "and " (values.len() - LIST_MAX) " more, in the JSON report" }
                        }
                    }
                }
            }
        }
    }
}

fn cure(cure: &Cure) -> Markup {
    let (how, text) = match &cure.remedy {
        Remedy::Policy(policy) => {
            ("save as policy.yaml; freeboard apply URI policy.yaml", yaml::lines(policy).join("\n"))
        }
        Remedy::Command(command) => ("in mongosh", command.clone()),
    };
    html! {
        div.cure {
            h4 { "Cure: " (label(&cure.pattern)) }
            @if !cure.why.is_empty() {
                ul.why { @for why in &cure.why { li { (why) } } }
            }
            @if let Some(seen) = &cure.seen { p.seen { (seen) } }
            p.how { (how) }
            pre { code { (text) } }
        }
    }
}
