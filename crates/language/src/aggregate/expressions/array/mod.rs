//! Arrays.

mod array_elem_at;
mod array_to_object;
mod concat_arrays;
mod filter;
mod first;
mod in_;
mod index_of_array;
mod is_array;
mod last;
mod map;
mod n;
mod object_to_array;
mod range;
mod reduce;
mod reverse_array;
mod size;
mod slice;
mod sort_array;
mod zip;

use super::table::{Arity, Field, Named, required};
use super::{Arguments, Row, coerce};
use crate::Extent;
use bson::{RawArray, RawBson, RawBsonRef};
use error::{Code, Result};
use value::Value;
use value::element::array_elements;

const SEVERAL: &[Field] = &[required("n", 5787906), required("input", 5787907)];

/// `{n, input}`, which the expressions of several elements take.
const fn several(function: super::call::Function) -> Named {
    Named { fields: SEVERAL, not_object: 5787900, unknown: 5787901, function }
}

pub const ROWS: &[Row] = &[
    Row::call(
        "$arrayElemAt",
        Arity::Exactly(2),
        array_elem_at::evaluate,
        "the element at an index",
    )
    .reaching(array_elem_at::reach),
    Row::call(
        "$arrayToObject",
        Arity::Exactly(1),
        array_to_object::evaluate,
        "a document of pairs",
    ),
    Row::call("$concatArrays", Arity::Any, concat_arrays::evaluate, "arrays, one after the other"),
    Row::own("$filter", filter::parse, "elements for which a condition holds"),
    Row::call("$first", Arity::Exactly(1), first::evaluate, "the first element")
        .reaching(|_| Extent::first(1)),
    Row::named("$firstN", several(n::first), "the first n elements"),
    Row::call("$in", Arity::Exactly(2), in_::evaluate, "whether an array has an element"),
    Row::call(
        "$indexOfArray",
        Arity::Between(2, 4),
        index_of_array::evaluate,
        "where an element is",
    )
    .checked(index_of_array::check),
    Row::call("$isArray", Arity::Exactly(1), is_array::evaluate, "whether a value is an array"),
    Row::call("$last", Arity::Exactly(1), last::evaluate, "the last element")
        .reaching(|_| Extent::last(1)),
    Row::named("$lastN", several(n::last), "the last n elements"),
    Row::own("$map", map::parse, "an expression of each element"),
    Row::named("$maxN", several(n::max), "the n greatest elements"),
    Row::named("$minN", several(n::min), "the n least elements"),
    Row::call(
        "$objectToArray",
        Arity::Exactly(1),
        object_to_array::evaluate,
        "the fields as pairs",
    ),
    Row::call("$range", Arity::Between(2, 3), range::evaluate, "integers from one to another"),
    Row::own("$reduce", reduce::parse, "one value out of all elements"),
    Row::call(
        "$reverseArray",
        Arity::Exactly(1),
        reverse_array::evaluate,
        "the elements backwards",
    ),
    Row::call("$size", Arity::Exactly(1), size::evaluate, "how many elements there are")
        .reaching(|_| Some(Extent::LEN)),
    Row::call("$slice", Arity::Between(2, 3), slice::evaluate, "some elements in a row")
        .reaching(slice::reach),
    Row::own("$sortArray", sort_array::parse, "the elements in order"),
    Row::own("$zip", zip::parse, "arrays, element by element"),
];

/// The array an operand must be, or an error of `code` with these words.
fn array<'v>(
    arguments: &'v Arguments<'_, '_>,
    at: usize,
    code: i32,
    words: &str,
) -> Result<&'v RawArray> {
    match arguments.get(at) {
        Some(RawBsonRef::Array(array)) => Ok(array),
        other => Err(Code::location(code).error(format!("{words}{}", coerce::type_name(other)))),
    }
}

/// The array that is walked over; `None` where it is null, an error of `code` with these
/// words where it is anything else.
fn input<'v>(value: Option<&'v Value<'_>>, code: i32, words: &str) -> Result<Option<&'v RawArray>> {
    match value.map(Value::get) {
        value if coerce::is_nullish(value) => Ok(None),
        Some(RawBsonRef::Array(array)) => Ok(Some(array)),
        other => Err(Code::location(code).error(format!("{words} {}", coerce::type_name(other)))),
    }
}

/// An element, still in its document where the array is.
fn element<'a>(array: &Value<'a>, at: usize) -> Option<Value<'a>> {
    match array {
        Value::Ref(RawBsonRef::Array(array)) => {
            array_elements(array).nth_value(at).map(|element| Value::Ref(element.value()))
        }
        Value::Own(RawBson::Array(array)) => array_elements(array)
            .nth_value(at)
            .map(|element| Value::Own(value::value::to_owned(element.value()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
