//! `$strLenCP`: the length of a string in code points.

use super::text;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let text = text(&arguments, 0, 34471, " requires a string argument, found: ")?;
    own(text.chars().count() as i32)
}
