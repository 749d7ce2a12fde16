//! `$isArray`: whether a value is an array.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated};
use bson::RawBsonRef;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    own(matches!(arguments.get(0), Some(RawBsonRef::Array(_))))
}
