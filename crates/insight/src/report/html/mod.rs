//! The report as one page that needs nothing else: no script, no font, no picture from
//! elsewhere.
//!
//! Text is escaped by `maud` wherever it is put in; what is put in as it is are the
//! stylesheet and the charts, which hold figures and dates only. The page's own policy
//! (`Content-Security-Policy`) forbids the browser to run or fetch anything.

mod chart;
mod checklist;
mod collections;
mod findings;
mod summary;
mod words;

use super::Report;
use crate::Error;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A document may weigh so much, on every kind of target.
const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;
const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs, whatever the names in the report are.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub fn render(report: &Report) -> Result<String, Error> {
    let title = format!("Audit of {}", report.target.address);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="freeboard";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(chart::palette::style())) }
            }
            body {
                (summary::extent(report))
                (summary::header(report))
                main {
                    (summary::section(report))
                    (checklist::section(&report.checklist))
                    (findings::section(report)?)
                    (collections::section(report)?)
                    (notes(report))
                }
                footer { "Freeboard audit, report version " (report.version) }
            }
        }
    };
    Ok(page.into_string() + "\n")
}

fn notes(report: &Report) -> Markup {
    let notes = &report.scanned.notes;
    html! {
        @if !notes.is_empty() {
            section id="notes" {
                h2 { "Notes" }
                p.lead { "What could not be looked at, or only in part." }
                ul.notes {
                    @for note in notes {
                        li {
                            @if let Some(namespace) = &note.namespace { code { (namespace) } " " }
                            (note.note)
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn sample() -> Report {
        serde_json::from_str(include_str!("sample.json")).unwrap()
    }

    /// The page without its stylesheet, a line an element. UPDATE_GOLDENFILES=1 writes it.
    #[test]
    fn a_page_looks_as_it_did() {
        let page = render(&sample()).unwrap();
        let (head, rest) = page.split_once("<style>").unwrap();
        let (_, body) = rest.split_once("</style>").unwrap();
        let lines = format!("{head}{body}").replace("><", ">\n<");
        let mut mint = goldenfile::Mint::new("src/report/html");
        mint.new_goldenfile("sample.html").unwrap().write_all(lines.as_bytes()).unwrap();
    }

    #[test]
    fn no_name_or_value_becomes_markup() {
        let page = render(&sample()).unwrap();
        for markup in ["<script", "<img", "<i>"] {
            assert!(!page.contains(markup), "{markup}");
        }
        assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
        assert!(page.contains("default-src 'none'"));
        for address in ["http://", "https://", "url(", "@import", " src="] {
            let of_svg = page.matches("http://www.w3.org/2000/svg").count();
            let found = page.matches(address).count();
            let ours = match address {
                "http://" => of_svg,
                // The name of a field, as text.
                " src=" => page.matches("&lt;img src=x").count(),
                _ => 0,
            };
            assert_eq!(found, ours, "{address}");
        }
    }

    #[test]
    fn a_report_of_nothing_is_a_page() {
        let mut report = sample();
        report.findings.clear();
        report.checklist.clear();
        report.scanned.collections.clear();
        report.scanned.notes.clear();
        report.scanned.started = String::new();
        let page = render(&report).unwrap();
        assert!(page.contains("Nothing was found in a sample of 25 %."));
    }
}
