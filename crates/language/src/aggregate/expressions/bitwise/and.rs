//! `$bitAnd`: bits that are set in every operand.

use super::combine;
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    combine(&arguments, -1, |a, b| a & b)
}
