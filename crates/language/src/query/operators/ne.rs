//! `$ne`

use super::{Argument, FieldOperator, comparison};
use crate::query::Predicate;
use bson::RawBsonRef;
use error::{Code, Result};

pub const ROW: FieldOperator =
    FieldOperator { name: "$ne", help: "No value of the field equals this one.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    match argument.element.value() {
        RawBsonRef::RegularExpression(_) => {
            Err(Code::BadValue.error("Can't have regex as arg to $ne."))
        }
        value => Ok(Predicate::Not(Box::new(Predicate::Eq(comparison::operand(value)?)))),
    }
}
