//! `$firstN`, `$lastN`, `$minN`, `$maxN` of an array.

use super::array;
use crate::aggregate::accumulators::n::check_n;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, held};
use crate::interrupt;
use bson::RawBsonRef;
use std::cmp::Ordering;
use value::ArrayWriter;
use value::element::{array_elements, array_len};

const NOT_AN_ARRAY: &str = "Input must be an array, found: ";

pub fn first<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let n = check_n(arguments.get(0))?;
    let mut out = ArrayWriter::new();
    let input = array(&arguments, 1, 5788200, NOT_AN_ARRAY)?;
    for element in array_elements(input).take(n) {
        interrupt::check()?;
        out.copy(element);
    }
    own(out.finish())
}

pub fn last<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let n = check_n(arguments.get(0))?;
    let mut out = ArrayWriter::new();
    let input = array(&arguments, 1, 5788200, NOT_AN_ARRAY)?;
    let skip = array_len(input).saturating_sub(n);
    for element in array_elements(input).skip(skip) {
        interrupt::check()?;
        out.copy(element);
    }
    own(out.finish())
}

pub fn min<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    extreme(&arguments, |order| order)
}

pub fn max<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    extreme(&arguments, Ordering::reverse)
}

fn extreme<'a>(arguments: &Arguments<'_, 'a>, turn: fn(Ordering) -> Ordering) -> Evaluated<'a> {
    let n = check_n(arguments.get(0))?;
    let input = array(arguments, 1, 5788200, NOT_AN_ARRAY)?;
    let values = array_elements(input)
        .map(|element| element.value())
        .filter(|value| !coerce::is_nullish(Some(*value)));
    let (values, _held) = held::collect(values.map(Ok))?;
    let order = |a: &RawBsonRef<'_>, b: &RawBsonRef<'_>| {
        turn(value::order::compare_with(*a, *b, arguments.collator))
    };
    let mut out = ArrayWriter::new();
    for value in interrupt::sort(values, order)?.into_iter().take(n) {
        interrupt::check()?;
        out.push(value);
    }
    own(out.finish())
}
