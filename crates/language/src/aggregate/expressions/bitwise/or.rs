//! `$bitOr`: bits that are set in any operand.

use super::combine;
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    combine(&arguments, 0, |a, b| a | b)
}
