//! `$exists`

use super::{Argument, FieldOperator};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$exists", help: "The field is there, or is not.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Exists(value::value::is_true(argument.element.value())))
}
