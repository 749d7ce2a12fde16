//! `$gte`

use super::{Argument, FieldOperator, comparison};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$gte", help: "At or above a value of the same type class.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Gte(comparison::ordered_operand(argument)?))
}
