//! No pipeline makes its parser panic, and none that an update takes makes its
//! document unsound.

use crate::input::Input;
use bson::{RawArray, RawBsonRef};
use language::Context;
use language::aggregate::{Pipeline, accumulators, expressions, stages, windows};

const DEPTH_MAX: usize = 400;

/// Names of arguments, which are no operators.
const ARGUMENTS: [&str; 24] = [
    "as",
    "boundaries",
    "branches",
    "coll",
    "cond",
    "default",
    "else",
    "from",
    "groupBy",
    "if",
    "in",
    "initialValue",
    "input",
    "into",
    "let",
    "newRoot",
    "output",
    "path",
    "pipeline",
    "sortBy",
    "then",
    "unit",
    "vars",
    "window",
];

pub fn run(data: &[u8]) {
    let names: Vec<&str> = stages::ROWS.iter().map(|row| row.name).collect();
    let mut words = ARGUMENTS.to_vec();
    words.extend(expressions::table::rows().map(|row| row.name));
    words.extend(accumulators::ROWS.iter().map(|row| row.name));
    words.extend(windows::ROWS.iter().map(|row| row.name));
    words.extend(&names);
    let mut input = Input::new(data, &words);
    let pipeline = input.documents(&names);
    let update = input.documents(&["$set", "$unset", "$project", "$replaceWith"]);
    let document = input.document(&["a", "b", "c", "_id"]);
    let context = Context::new();
    if let Some(pipeline) = array(&pipeline) {
        let _ = Pipeline::parse(pipeline, &context);
    }
    let Some(Ok(update)) = array(&update).map(|update| Pipeline::parse_update(update, &context))
    else {
        return;
    };
    if let Ok(after) = update.apply(&document) {
        value::check::document(after.as_bytes(), DEPTH_MAX).expect("a sound document");
    }
}

fn array(document: &bson::RawDocument) -> Option<&RawArray> {
    match value::element::get_value(document, "documents") {
        Some(RawBsonRef::Array(array)) => Some(array),
        _ => None,
    }
}
