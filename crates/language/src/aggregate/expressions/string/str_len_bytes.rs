//! `$strLenBytes`: the length of a string in bytes.

use super::text;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(text(&arguments, 0, 34473, " requires a string argument, found: ")?.len() as i32)
}
