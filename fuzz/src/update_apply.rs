//! No update and no document make an update panic, and what it makes is a sound
//! document.

use crate::input::Input;
use bson::{RawBsonRef, RawDocument};
use language::Context;
use language::query::{Filter, Matched};
use language::update::{Update, operators};

/// An update may nest deeper than what may be stored; it is refused later.
const DEPTH_MAX: usize = 400;

pub fn run(data: &[u8]) {
    let mut words: Vec<&str> = operators::TABLE.iter().map(|row| row.name).collect();
    let names = words.clone();
    words.extend([
        "$each",
        "$position",
        "$slice",
        "$sort",
        "$type",
        "and",
        "or",
        "xor",
        "timestamp",
    ]);
    let mut input = Input::new(data, &words);
    let update = input.document(&names);
    let replacement = input.document(&[]);
    let document = input.document(&["a", "b", "c", "0", "_id"]);
    for update in [&update, &replacement] {
        apply(update, &document);
    }
}

fn apply(update: &RawDocument, document: &RawDocument) {
    let context = Context::new();
    let Ok(parsed) = Update::parse(RawBsonRef::Document(update), None, &context) else { return };
    for element in [None, Some(0), Some(3)] {
        if let Ok(Some(after)) = parsed.apply(document, Matched { element }) {
            value::check::document(after.as_bytes(), DEPTH_MAX).expect("a sound document");
        }
    }
    if let Ok(filter) = Filter::parse(document, &context)
        && let Ok(made) = parsed.upsert(&filter)
    {
        value::check::document(made.as_bytes(), DEPTH_MAX).expect("a sound document");
    }
}
