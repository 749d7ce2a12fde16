//! Arrays as sets: order and repetition do not count.

mod all_elements_true;
mod any_element_true;
mod difference;
mod equals;
mod intersection;
mod is_subset;
mod union;

use super::held::{self, Held};
use super::table::Arity;
use super::{Arguments, Row, coerce};
use crate::interrupt;
use bson::{RawArray, RawArrayBuf, RawBsonRef};
use error::{Code, Error, Result};
use std::cmp::Ordering;
use value::element::array_elements;
use value::{ArrayWriter, Collator};

pub const ROWS: &[Row] = &[
    Row::call(
        "$allElementsTrue",
        Arity::Exactly(1),
        all_elements_true::evaluate,
        "whether no element is false",
    ),
    Row::call(
        "$anyElementTrue",
        Arity::Exactly(1),
        any_element_true::evaluate,
        "whether an element is true",
    ),
    Row::call(
        "$setDifference",
        Arity::Exactly(2),
        difference::evaluate,
        "elements of the first that the second lacks",
    ),
    Row::own("$setEquals", equals::parse, "whether sets have the same elements"),
    Row::call(
        "$setIntersection",
        Arity::Any,
        intersection::evaluate,
        "elements that are in every set",
    ),
    Row::call(
        "$setIsSubset",
        Arity::Exactly(2),
        is_subset::evaluate,
        "whether the second has all of the first",
    )
    .checked(is_subset::check),
    Row::call("$setUnion", Arity::Any, union::evaluate, "elements that are in any set"),
];

/// The array an operand must be, or an error of `code`.
fn array<'v>(arguments: &'v Arguments<'_, '_>, at: usize, code: i32) -> Result<&'v RawArray> {
    match arguments.get(at) {
        Some(RawBsonRef::Array(array)) => Ok(array),
        other => Err(wrong(arguments.name, other, code)),
    }
}

fn wrong(name: &str, value: Option<RawBsonRef<'_>>, code: i32) -> Error {
    Code::location(code).error(format!(
        "All operands of {name} must be arrays. One argument is of type: {}",
        coerce::type_name(value)
    ))
}

/// The elements of an array in order, each once.
fn sorted<'v>(array: &'v RawArray, collator: Option<&Collator>) -> Result<Sorted<'v>> {
    let values = array_elements(array).map(|element| Ok(element.value()));
    let (values, held) = held::collect(values)?;
    let values = each_once(values, collator)?;
    Ok(Sorted { values, _held: held })
}

/// Values in order, each once.
struct Sorted<'v> {
    values: Vec<RawBsonRef<'v>>,
    _held: Held,
}

/// Sorts values, and keeps one of equals.
fn each_once<'v>(
    values: Vec<RawBsonRef<'v>>,
    collator: Option<&Collator>,
) -> Result<Vec<RawBsonRef<'v>>> {
    let order = |a: &RawBsonRef<'_>, b: &RawBsonRef<'_>| -> Ordering {
        value::order::compare_with(*a, *b, collator)
    };
    let mut values = interrupt::sort(values, order)?;
    values.dedup_by(|a, b| order(a, b).is_eq());
    Ok(values)
}

/// An array of values that are as many.
fn array_of<'v>(values: impl IntoIterator<Item = RawBsonRef<'v>>) -> Result<RawArrayBuf> {
    let mut out = ArrayWriter::new();
    for value in values {
        interrupt::check()?;
        out.push(value);
    }
    Ok(out.finish())
}

impl Sorted<'_> {
    fn contains(&self, value: RawBsonRef<'_>, collator: Option<&Collator>) -> Result<bool> {
        interrupt::check()?;
        let order = |member: &RawBsonRef<'_>| value::order::compare_with(*member, value, collator);
        Ok(self.values.binary_search_by(order).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::bson;

    #[test]
    fn values_of_sets() {
        values(vec![
            (bson!({"$allElementsTrue": ["$array"]}), bson!(true)),
            (bson!({"$allElementsTrue": [[1, null]]}), bson!(false)),
            (bson!({"$allElementsTrue": ["$empty"]}), bson!(true)),
            (bson!({"$anyElementTrue": [[0, null]]}), bson!(false)),
            (bson!({"$anyElementTrue": ["$array"]}), bson!(true)),
            (bson!({"$setDifference": [[3, 1, 1, 2], [2]]}), bson!([3, 1])),
            (bson!({"$setDifference": ["$null", [2]]}), bson!(null)),
            (bson!({"$setEquals": [[1, 2, 1], [2, 1], "$empty"]}), bson!(false)),
            (bson!({"$setEquals": [[1, 2, 1], [2.0, 1]]}), bson!(true)),
            (bson!({"$setIntersection": ["$array", [3, 2, 5]]}), bson!([2, 3])),
            (bson!({"$setIntersection": ["$array", "$missing"]}), bson!(null)),
            (bson!({"$setIntersection": []}), bson!([])),
            (bson!({"$setIsSubset": [[1, 1], "$array"]}), bson!(true)),
            (bson!({"$setIsSubset": [[5], "$array"]}), bson!(false)),
            (bson!({"$setUnion": [[3, 1], [2, 1]]}), bson!([1, 2, 3])),
            (bson!({"$setUnion": [[3, 1], null]}), bson!(null)),
        ]);
        errors(vec![
            (bson!({"$allElementsTrue": ["$int"]}), 17040),
            (bson!({"$anyElementTrue": ["$null"]}), 17041),
            (bson!({"$setDifference": [1, []]}), 17048),
            (bson!({"$setDifference": [[], 1]}), 17049),
            (bson!({"$setEquals": [[]]}), 17045),
            (bson!({"$setEquals": [[], "$int"]}), 17044),
            (bson!({"$setEquals": [[], 1]}), 5887502),
            (bson!({"$setIsSubset": ["$array", 1]}), 17311),
            (bson!({"$setIntersection": [[], "$int"]}), 17047),
            (bson!({"$setIsSubset": ["$null", []]}), 17046),
            (bson!({"$setIsSubset": [[], "$null"]}), 17042),
            (bson!({"$setUnion": [[], "$int"]}), 17043),
        ]);
    }
}
