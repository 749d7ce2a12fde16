//! Bits of integers.

mod and;
mod not;
mod or;
mod xor;

use super::node::{null, own};
use super::table::Arity;
use super::{Arguments, Evaluated, Row, coerce};
use bson::{RawBson, RawBsonRef};
use error::Code;

pub const ROWS: &[Row] = &[
    Row::call("$bitAnd", Arity::Any, and::evaluate, "bits that are set in every operand"),
    Row::call("$bitNot", Arity::Exactly(1), not::evaluate, "the bits turned over"),
    Row::call("$bitOr", Arity::Any, or::evaluate, "bits that are set in any operand"),
    Row::call(
        "$bitXor",
        Arity::Any,
        xor::evaluate,
        "bits that are set in an odd number of operands",
    ),
];

/// Combines integers; the result is int64 if one of them is.
fn combine<'a>(
    arguments: &Arguments<'_, 'a>,
    start: i64,
    combine: fn(i64, i64) -> i64,
) -> Evaluated<'a> {
    let (mut bits, mut long) = (start, false);
    for value in arguments.iter() {
        match value {
            value if coerce::is_nullish(value) => return null(),
            Some(RawBsonRef::Int32(value)) => bits = combine(bits, value.into()),
            Some(RawBsonRef::Int64(value)) => {
                bits = combine(bits, value);
                long = true;
            }
            other => {
                return Err(Code::TypeMismatch.error(format!(
                    "{} only supports int and long operands, not {}.",
                    arguments.name,
                    coerce::type_name(other)
                )));
            }
        }
    }
    own(if long { RawBson::Int64(bits) } else { RawBson::Int32(bits as i32) })
}

#[cfg(test)]
mod tests {
    use crate::aggregate::expressions::testing::{errors, values};
    use bson::bson;

    #[test]
    fn bits() {
        values(vec![
            (bson!({"$bitAnd": [12, 10]}), bson!(8)),
            (bson!({"$bitAnd": [12, "$long"]}), bson!(4i64)),
            (bson!({"$bitAnd": []}), bson!(-1)),
            (bson!({"$bitAnd": [1, null]}), bson!(null)),
            (bson!({"$bitOr": [12, 10]}), bson!(14)),
            (bson!({"$bitXor": [12, 10]}), bson!(6)),
            (bson!({"$bitNot": 5}), bson!(-6)),
            (bson!({"$bitNot": "$missing"}), bson!(null)),
        ]);
        errors(vec![
            (bson!({"$bitAnd": [1, 1.5]}), 14),
            (bson!({"$bitOr": ["x"]}), 14),
            (bson!({"$bitNot": 1.5}), 14),
            (bson!({"$bitNot": "x"}), 28765),
        ]);
    }
}
