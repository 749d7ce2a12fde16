//! `$size`

use super::{Argument, FieldOperator, integer};
use crate::query::Predicate;
use error::{Code, Result};

pub const ROW: FieldOperator =
    FieldOperator { name: "$size", help: "An array of so many elements.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    let size = integer::natural_i32(argument.element).map_err(|error| {
        Code::BadValue.error(format!("Failed to parse $size. {}", error.message()))
    })?;
    Ok(Predicate::Size(size.into()))
}
