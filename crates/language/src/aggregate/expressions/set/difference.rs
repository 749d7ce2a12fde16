//! `$setDifference`: elements of the first that the second lacks, in order.

use super::sorted;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use std::collections::BTreeSet;
use value::ArrayWriter;
use value::element::array_elements;
use value::key::{Direction, Key};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.any_nullish() {
        return null();
    }
    let first = super::array(&arguments, 0, 17048)?;
    let second = sorted(super::array(&arguments, 1, 17049)?, arguments.collator)?;
    let mut seen = BTreeSet::new();
    let mut left = ArrayWriter::new();
    for element in array_elements(first) {
        let value = element.value();
        let mut key = Key::default();
        key.push(value, Direction::Ascending, arguments.collator);
        if !second.contains(value, arguments.collator)? && seen.insert(key.bytes) {
            left.copy(element);
        }
    }
    own(left.finish())
}
