//! `$lt`

use super::{Argument, FieldOperator, comparison};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$lt", help: "Below a value of the same type class.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Lt(comparison::ordered_operand(argument)?))
}
