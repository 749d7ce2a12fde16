//! `$eq`

use super::{Argument, FieldOperator, comparison};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$eq", help: "Equal to a value; null also finds missing.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Eq(comparison::operand(argument.element.value())?))
}
