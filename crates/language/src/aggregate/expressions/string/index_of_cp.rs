//! `$indexOfCP`: where a string is in another, in code points; -1 for nowhere.

use super::{index, text};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let input = text(&arguments, 0, 40093, " requires a string as the first argument, found: ")?;
    let token = text(&arguments, 1, 40094, " requires a string as the second argument, found: ")?;
    let start = index(&arguments, 2, "starting index")?.unwrap_or(0);
    let end = index(&arguments, 3, "ending index")?.unwrap_or(usize::MAX);
    if input.is_empty() && token.is_empty() && start == 0 {
        return own(0);
    }
    let Some((from, _)) = input.char_indices().nth(start) else { return own(-1) };
    let (_, rest) = input.split_at(from);
    // The token must begin before the end, and may go on behind it.
    let found = rest.find(token).map(|at| start + rest[..at].chars().count());
    own(found.filter(|at| *at < end).map_or(-1, |at| at as i32))
}
