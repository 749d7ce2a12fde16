//! `$nin`

use super::{Argument, FieldOperator, In};
use crate::query::Predicate;
use error::Result;

pub const ROW: FieldOperator =
    FieldOperator { name: "$nin", help: "No value of the field is one of these.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    Ok(Predicate::Not(Box::new(Predicate::In(In::parse(argument)?))))
}
