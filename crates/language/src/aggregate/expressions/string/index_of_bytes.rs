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
    let found = find(&input.as_bytes()[start..end], token.as_bytes());
    own(found.map_or(-1, |at| (start + at) as i32))
}

/// Where bytes are in others.
fn find(bytes: &[u8], token: &[u8]) -> Option<usize> {
    if token.is_empty() {
        return Some(0);
    }
    bytes.windows(token.len()).position(|window| window == token)
}
