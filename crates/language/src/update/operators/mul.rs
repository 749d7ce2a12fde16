//! `$mul`: multiplies a number; a missing one becomes zero of the factor's type.

use super::{Row, arithmetic};
use value::number::Number;

pub const ROW: Row = Row {
    name: "$mul",
    parse: |argument| {
        arithmetic::parse(argument, "$mul", "multiply", Number::checked_multiply, |factor| {
            factor.checked_multiply(Number::Int32(0))
        })
    },
    help: "multiply a number",
};
