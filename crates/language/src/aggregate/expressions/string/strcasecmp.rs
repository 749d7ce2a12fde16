//! `$strcasecmp`: the order of two strings, the case of ASCII letters apart.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let first = coerce::to_text(arguments.get(0))?.to_ascii_uppercase();
    let second = coerce::to_text(arguments.get(1))?.to_ascii_uppercase();
    own(first.cmp(&second) as i32)
}
