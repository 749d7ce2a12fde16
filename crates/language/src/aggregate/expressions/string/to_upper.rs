//! `$toUpper`: ASCII letters in upper case.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(coerce::to_text(arguments.get(0))?.to_ascii_uppercase())
}
