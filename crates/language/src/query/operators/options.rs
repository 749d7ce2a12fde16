//! `$options`, which belongs to `$regex`.

use super::{Argument, FieldOperator};
use crate::query::Predicate;
use error::{Code, Result};
use value::element::get;

pub const ROW: FieldOperator =
    FieldOperator { name: "$options", help: "Options of $regex: i, m, s, x, u.", parse };

/// `$regex` reads it; by itself it asks for nothing.
fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    match get(argument.siblings, "$regex") {
        Some(_) => Ok(Predicate::And(Vec::new())),
        None => Err(Code::BadValue.error("$options needs a $regex")),
    }
}
