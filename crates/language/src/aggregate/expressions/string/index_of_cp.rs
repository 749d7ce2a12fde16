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
    let length = input.chars().count();
    if start > length || end < start {
        return own(-1);
    }
    let byte = |at: usize| input.char_indices().nth(at).map_or(input.len(), |(byte, _)| byte);
    let (from, to) = (byte(start), byte(end));
    let found = input[from..to].find(token);
    own(found.map_or(-1, |at| (start + input[from..from + at].chars().count()) as i32))
}
