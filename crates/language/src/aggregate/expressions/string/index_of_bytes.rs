//! `$indexOfBytes`: where a string is in another, in bytes; -1 for nowhere.

use super::{index, text};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let input = text(&arguments, 0, 40091, " requires a string as the first argument, found: ")?;
    let token = text(&arguments, 1, 40092, " requires a string as the second argument, found: ")?;
    let start = index(&arguments, 2, "starting index")?.unwrap_or(0);
    let end = index(&arguments, 3, "ending index")?.unwrap_or(usize::MAX).min(input.len());
    if start > end {
        return own(-1);
    }
    if token.is_empty() {
        return own(start as i32);
    }
    // Whole characters begin and end a match: the bounds can be drawn in to them.
    let whole = |at: &usize| input.is_char_boundary(*at);
    let from = (start..=end).find(whole).unwrap_or(end);
    let to = (from..=end).rev().find(whole).unwrap_or(from);
    let found = input.get(from..to).and_then(|part| part.find(token));
    own(found.map_or(-1, |at| (from + at) as i32))
}
