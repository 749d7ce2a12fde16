//! `docs/compatibility.md` says what the tables of the code say. The test fails
//! where it is stale; `UPDATE_GOLDENFILES=1` regenerates it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;

use command::refused::REFUSED as REFUSED_COMMANDS;
use command::table::COMMANDS;
use language::aggregate::expressions::{Form, table};
use language::aggregate::{accumulators, stages, windows};
use language::query::operators::{FIELD_OPERATORS, TOP_OPERATORS};
use language::update::operators::TABLE as UPDATE_OPERATORS;

/// Begins the help of an operator that is known and not supported.
const REFUSED: &str = "refused: ";

const INTRODUCTION: &str = "\
# Compatibility with MongoDB 8

Made from the tables of the code, and checked by a test; do not edit it by hand.
`UPDATE_GOLDENFILES=1 cargo test -p freeboard-tests --test compatibility` regenerates it.

What is refused is refused with an error that gives the reason. What is in none of the
tables is unknown, and so is an error too.
";

/// One line: a name, and what it does or why it is refused.
struct Line {
    name: String,
    refused: bool,
    text: String,
}

impl Line {
    fn new(name: &str, text: &str) -> Line {
        let (refused, text) = match text.to_lowercase().strip_prefix(REFUSED) {
            Some(_) => (true, text[REFUSED.len()..].to_owned()),
            None => (false, text.to_owned()),
        };
        let text = text.strip_suffix('.').unwrap_or(&text);
        let mut letters = text.chars();
        let text = match letters.next() {
            // A name that begins a sentence stays as it is.
            Some(first) if !letters.as_str().starts_with(char::is_uppercase) => {
                first.to_lowercase().chain(letters).collect()
            }
            _ => text.to_owned(),
        };
        Line { name: name.to_owned(), refused, text }
    }

    fn refused(name: &str, why: &str) -> Line {
        Line { name: name.to_owned(), refused: true, text: why.to_owned() }
    }
}

fn section(page: &mut String, title: &str, mut lines: Vec<Line>) {
    lines.sort_by_key(|line| line.name.to_lowercase());
    let supported = lines.iter().filter(|line| !line.refused).count();
    let refused = lines.len() - supported;
    writeln!(page, "\n## {title}\n\n{supported} supported, {refused} refused.\n").unwrap();
    writeln!(page, "| name | supported | |\n|---|---|---|").unwrap();
    for Line { name, refused, text } in lines {
        let answer = if refused { "refused" } else { "yes" };
        writeln!(page, "| `{name}` | {answer} | {text} |").unwrap();
    }
}

fn commands() -> Vec<Line> {
    let known = COMMANDS.iter().map(|command| Line::new(command.name, command.help));
    let refused = REFUSED_COMMANDS.iter().map(|(name, why)| Line::refused(name, why));
    known.chain(refused).collect()
}

fn query_operators() -> Vec<Line> {
    let field = FIELD_OPERATORS.iter().map(|row| Line::new(row.name, row.help));
    field.chain(TOP_OPERATORS.iter().map(|row| Line::new(row.name, row.help))).collect()
}

fn stage_lines() -> Vec<Line> {
    let known = stages::ROWS.iter().map(|row| Line::new(row.name, row.help));
    let refused = stages::REFUSED.iter().map(|(name, why)| Line::refused(name, why));
    known.chain(refused).collect()
}

fn expressions() -> Vec<Line> {
    table::rows()
        .map(|row| match &row.form {
            Form::Refused(why) => Line::refused(row.name, why),
            _ => Line::new(row.name, row.help),
        })
        .collect()
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    section(&mut page, "Commands", commands());
    section(&mut page, "Query operators", query_operators());
    let updates = UPDATE_OPERATORS.iter().map(|row| Line::new(row.name, row.help));
    section(&mut page, "Update operators", updates.collect());
    section(&mut page, "Aggregation stages", stage_lines());
    section(&mut page, "Expressions", expressions());
    let accumulators = accumulators::ROWS.iter().map(|row| Line::new(row.name, row.help));
    section(&mut page, "Accumulators", accumulators.collect());
    let windows = windows::ROWS.iter().map(|row| Line::new(row.name, row.help));
    section(&mut page, "Window functions beside the accumulators", windows.collect());
    page
}

#[test]
fn the_page_says_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compatibility.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDENFILES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/compatibility.md is stale: run this test with UPDATE_GOLDENFILES=1"
    );
}
