//! Accumulators over the operands of one document.

mod percentile;

use super::node::own;
use super::table::Arity;
use super::{Arguments, Evaluated, Row};
use crate::aggregate::accumulators::Accumulator;
use crate::aggregate::accumulators::avg::Avg;
use crate::aggregate::accumulators::std_dev::StdDev;
use crate::aggregate::accumulators::sum::Sum;
use crate::interrupt;
use bson::{RawBson, RawBsonRef, RawDocumentBuf};
use std::cmp::Ordering;
use value::element::array_elements;

pub const ROWS: &[Row] = &[
    Row::call("$avg", Arity::Any, avg, "the average of numbers"),
    Row::call("$max", Arity::Any, max, "the greatest value"),
    Row::own("$median", percentile::parse_median, "the middle of numbers"),
    Row::call("$min", Arity::Any, min, "the least value"),
    Row::own("$percentile", percentile::parse, "percentiles of numbers"),
    Row::call("$stdDevPop", Arity::Any, std_dev_pop, "the standard deviation of a population"),
    Row::call("$stdDevSamp", Arity::Any, std_dev_samp, "the standard deviation of a sample"),
    Row::call("$sum", Arity::Any, sum, "the sum of numbers"),
];

/// Takes each operand, or each element of the only one if it is an array.
fn accumulate<'a>(arguments: &Arguments<'_, 'a>, mut state: impl Accumulator) -> Evaluated<'a> {
    let root = RawDocumentBuf::new();
    match arguments.get(0) {
        Some(RawBsonRef::Array(array)) if arguments.len() == 1 => {
            for element in array_elements(array) {
                interrupt::check()?;
                state.add(Some(element.value()), &root)?;
            }
        }
        _ => {
            for value in arguments.iter() {
                state.add(value, &root)?;
            }
        }
    }
    own(state.value()?.unwrap_or(RawBson::Null))
}

fn avg<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    accumulate(&arguments, Avg::default())
}

fn max<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    extreme(&arguments, Ordering::Greater)
}

fn min<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    extreme(&arguments, Ordering::Less)
}

fn std_dev_pop<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    accumulate(&arguments, StdDev::new(false))
}

fn std_dev_samp<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    accumulate(&arguments, StdDev::new(true))
}

fn sum<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    accumulate(&arguments, Sum::default())
}

fn extreme<'a>(arguments: &Arguments<'_, 'a>, wanted: Ordering) -> Evaluated<'a> {
    let values: Vec<Option<RawBsonRef<'_>>> = match arguments.get(0) {
        Some(RawBsonRef::Array(array)) if arguments.len() == 1 => {
            array_elements(array).map(|element| Some(element.value())).collect()
        }
        _ => arguments.iter().collect(),
    };
    let mut best: Option<RawBsonRef<'_>> = None;
    for value in values.into_iter().flatten() {
        if super::coerce::is_nullish(Some(value)) {
            continue;
        }
        let better = best.is_none_or(|best| {
            value::order::compare_with(value, best, arguments.collator) == wanted
        });
        if better {
            best = Some(value);
        }
    }
    own(best.map_or(RawBson::Null, value::value::to_owned))
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::bson;

    #[test]
    fn accumulators_as_expressions() {
        values(vec![
            (bson!({"$sum": "$array"}), bson!(6)),
            (bson!({"$sum": ["$int", "$double", "$string"]}), bson!(14.5)),
            (bson!({"$sum": ["$array", 1]}), bson!(1)),
            (bson!({"$sum": []}), bson!(0)),
            (bson!({"$avg": "$array"}), bson!(2.0)),
            (bson!({"$avg": "$missing"}), bson!(null)),
            (bson!({"$max": ["$int", null, 9]}), bson!(9)),
            (bson!({"$min": "$array"}), bson!(1)),
            (bson!({"$min": "$missing"}), bson!(null)),
            (bson!({"$stdDevPop": [[1, 3]]}), bson!(1.0)),
            (bson!({"$stdDevSamp": [[1]]}), bson!(null)),
            (bson!({"$median": {"input": "$array", "method": "approximate"}}), bson!(2.0)),
            (
                bson!({"$percentile": {"input": [1, 2, 3, 4], "p": [0.5, 1.0], "method": "approximate"}}),
                bson!([2.0, 4.0]),
            ),
            (
                bson!({"$percentile": {"input": "$null", "p": [0.5], "method": "approximate"}}),
                bson!([null]),
            ),
        ]);
        errors(vec![
            (bson!({"$median": 1}), 7436100),
            (bson!({"$median": {"input": 1, "method": "exact"}}), 2),
            (bson!({"$percentile": 1}), 7429703),
            (bson!({"$percentile": {"input": 1, "method": "approximate"}}), 40414),
            (bson!({"$percentile": {"input": 1, "p": [2], "method": "approximate"}}), 7750303),
            (bson!({"$percentile": {"input": 1, "p": ["x"], "method": "approximate"}}), 7750302),
            (bson!({"$percentile": {"input": 1, "p": 0.5, "method": "approximate"}}), 7750301),
        ]);
    }
}
