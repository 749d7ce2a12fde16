//! `$inc`: adds to a number.

use super::{Row, arithmetic};
use value::number::Number;

pub const ROW: Row = Row {
    name: "$inc",
    parse: |argument| arithmetic::parse(argument, "$inc", "increment", Number::checked_add, Some),
    help: "add to a number",
};
