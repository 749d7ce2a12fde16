//! The report as a table: a line for each workload on each target.

use std::fmt::Write as _;

use super::{Comparison, Figures, Report, TargetReport};
use crate::growth::PAIRS;
use crate::workloads::{Counts, WORKLOADS, Workload};

const RIGHT_FROM_COLUMN: usize = 2;

pub fn render(report: &Report) -> String {
    let conditions = &report.conditions;
    let mut text = format!(
        "{} clients, {} s a workload, {} documents\n\n",
        conditions.clients,
        conditions.seconds,
        grouped(conditions.documents as f64),
    );
    let several = report.targets.len() > 1;
    let mut rows = vec![header(report, several)];
    let mut shown = Vec::new();
    for workload in workloads() {
        if shown.contains(&workload.name) {
            continue;
        }
        shown.push(workload.name);
        for target in &report.targets {
            if let Some(figures) = target.workload(workload.name) {
                rows.push(row(report, workload, target, figures, several));
            }
        }
    }
    align(&rows, &mut text);
    pairs(report, &mut text);
    notes(report, &mut text);
    text
}

/// Those of the table, and both sides of every pair.
fn workloads() -> impl Iterator<Item = &'static Workload> {
    WORKLOADS.iter().chain(PAIRS.iter().flat_map(|pair| [&pair.base, &pair.other]))
}

/// A line for each pair on each target.
fn pairs(report: &Report, text: &mut String) {
    let header = ["pair", "target", "of", "base", "other", "ratio", "±", "bound", ""];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for pair in PAIRS {
        for target in &report.targets {
            let compared = target.pairs.iter().find(|compared| compared.name == pair.name);
            rows.extend(compared.map(|compared| pair_row(target, compared)));
        }
    }
    if rows.len() > 1 {
        text.push('\n');
        align(&rows, text);
    }
}

fn pair_row(target: &TargetReport, compared: &Comparison) -> Vec<String> {
    vec![
        compared.name.to_owned(),
        target.name.clone(),
        compared.measure.to_owned(),
        grouped(compared.base_value),
        grouped(compared.other_value),
        format!("{:.3}", compared.ratio),
        compared.error.map(|error| format!("{error:.3}")).unwrap_or_default(),
        compared.bound.clone(),
        if compared.holds { "" } else { "missed" }.to_owned(),
    ]
}

fn header(report: &Report, several: bool) -> Vec<String> {
    let mut cells: Vec<String> =
        ["workload", "target", "rate/s", "p50 µs", "p99 µs", "of ping"].map(str::to_owned).into();
    if several && let Some(first) = report.targets.first() {
        cells.push(format!("of {}", first.name));
    }
    cells
}

fn row(
    report: &Report,
    workload: &Workload,
    target: &TargetReport,
    figures: &Figures,
    several: bool,
) -> Vec<String> {
    let mark = if workload.counts == Counts::Documents { " *" } else { "" };
    let mut cells = vec![
        format!("{}{mark}", workload.name),
        target.name.clone(),
        grouped(figures.ops_per_s),
        grouped(figures.p50_us),
        grouped(figures.p99_us),
        figures.of_ping.map_or_else(|| ratio(figures, target.workload("ping")), hundredths),
    ];
    if several {
        let first = report.targets.first().and_then(|first| first.workload(workload.name));
        cells.push(ratio(figures, first));
    }
    cells
}

fn notes(report: &Report, text: &mut String) {
    let counted_in_documents = report.targets.iter().any(|target| {
        workloads()
            .any(|row| row.counts == Counts::Documents && target.workload(row.name).is_some())
    });
    if counted_in_documents {
        text.push_str("\n* counted in documents; the latency is that of one batch\n");
    }
    for target in &report.targets {
        for figures in &target.workloads {
            if let Some(writes) = figures.writes_per_fsync {
                let _ = writeln!(
                    text,
                    "{} on {}: {writes:.1} writes for each fsync",
                    figures.name, target.name
                );
            }
            if let Some(bytes) = figures.journal_bytes_per_op {
                let bytes = grouped(bytes);
                let _ = writeln!(
                    text,
                    "{} on {}: {bytes} bytes journaled for each operation",
                    figures.name, target.name
                );
            }
        }
    }
    for (workload, target, why) in &report.failures {
        let _ = writeln!(text, "{workload} on {target} failed: {why}");
    }
}

fn hundredths(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn ratio(figures: &Figures, base: Option<&Figures>) -> String {
    match base {
        Some(base) if base.ops_per_s > 0.0 => hundredths(figures.ops_per_s / base.ops_per_s),
        _ => "-".to_owned(),
    }
}

/// Rounded, with commas: `12,345`; small figures keep a decimal.
fn grouped(figure: f64) -> String {
    if figure < 10.0 {
        return format!("{figure:.1}");
    }
    let digits = format!("{figure:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn align(rows: &[Vec<String>], text: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column < RIGHT_FROM_COLUMN {
                write!(line, "{cell:<width$}  ")
            } else {
                write!(line, "{cell:>width$}  ")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Conditions, TargetReport};

    fn figures(name: &'static str, ops_per_s: f64) -> Figures {
        Figures {
            name,
            ops_per_s,
            p50_us: 100.0,
            p99_us: 2000.0,
            writes_per_fsync: None,
            journal_bytes_per_op: (name == "push_overflow_1k").then_some(16_500.0),
            cpu_us_per_op: None,
            of_ping: None,
        }
    }

    #[test]
    fn rates_stand_beside_their_ratios() {
        let target = |name: &str, factor: f64| TargetReport {
            name: name.to_owned(),
            uri: String::new(),
            workloads: vec![
                figures("ping", 20_000.0 * factor),
                figures("scan", 500_000.0 * factor),
            ],
            pairs: Vec::new(),
        };
        let report = Report {
            targets: vec![target("own", 1.0), target("other", 0.5)],
            conditions: Conditions { seconds: 5.0, clients: 16, documents: 100_000 },
            failures: vec![("group", "other".to_owned(), "no such thing".to_owned())],
        };
        assert_eq!(
            render(&report),
            "\
16 clients, 5 s a workload, 100,000 documents

workload  target   rate/s  p50 µs  p99 µs  of ping  of own
ping      own      20,000     100   2,000     1.00    1.00
ping      other    10,000     100   2,000     1.00    0.50
scan *    own     500,000     100   2,000    25.00    1.00
scan *    other   250,000     100   2,000    25.00    0.50

* counted in documents; the latency is that of one batch
group on other failed: no such thing
"
        );
    }

    #[test]
    fn pairs_stand_below_with_their_bounds() {
        let compared = |name, ratio, error, holds| Comparison {
            name,
            measure: "p50 µs",
            base: "push_overflow_1k",
            other: "push_overflow_1m",
            base_value: 200.0,
            other_value: 200.0 * ratio,
            ratio,
            error,
            bound: "≤ 1.20".to_owned(),
            holds,
        };
        let own = TargetReport {
            name: "own".to_owned(),
            uri: String::new(),
            workloads: vec![figures("push_overflow_1k", 5000.0)],
            pairs: vec![
                compared("push_length", 1.05, None, true),
                compared("policy_inc", 1.5, Some(0.0125), false),
            ],
        };
        let report = Report {
            targets: vec![own],
            conditions: Conditions { seconds: 5.0, clients: 1, documents: 100_000 },
            failures: Vec::new(),
        };
        assert_eq!(
            render(&report),
            "\
1 clients, 5 s a workload, 100,000 documents

workload          target  rate/s  p50 µs  p99 µs  of ping
push_overflow_1k  own      5,000     100   2,000        -

pair         target      of  base  other  ratio      ±   bound
policy_inc   own     p50 µs   200    300  1.500  0.013  ≤ 1.20  missed
push_length  own     p50 µs   200    210  1.050         ≤ 1.20
push_overflow_1k on own: 16,500 bytes journaled for each operation
"
        );
    }
}
