//! `$isNumber`: whether a value is a number.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(coerce::is_numeric(arguments.get(0)))
}
