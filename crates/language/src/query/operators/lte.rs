//! `$lte`

use super::{Argument, FieldOperator, comparison};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$lte", help: "At or below a value of the same type class.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Lte(comparison::ordered_operand(argument)?))
}
