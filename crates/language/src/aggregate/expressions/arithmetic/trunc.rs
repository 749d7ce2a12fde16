//! `$trunc`: cut off at a place.

use super::round::to_place;
use crate::aggregate::expressions::{Arguments, Evaluated};
use dec::Rounding;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    to_place(&arguments, Rounding::Down)
}
