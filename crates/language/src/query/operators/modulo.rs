//! `$mod`

use super::{Argument, FieldOperator, integer};
use crate::query::Predicate;
use bson::RawBsonRef;
use error::{Code, Error, Result};
use value::element::array_elements;
use value::{Element, Number};

pub const ROW: FieldOperator =
    FieldOperator { name: "$mod", help: "A number with this remainder.", parse };

/// Divisor and remainder.
#[derive(Debug, Clone, Copy)]
pub struct Mod {
    pub divisor: i64,
    pub remainder: i64,
}

impl Mod {
    /// The fraction is dropped before; what no int64 holds never matches.
    pub fn matches(&self, element: Element<'_>) -> bool {
        let number = Number::from_value(element.value()).and_then(Number::to_i64_truncated);
        // The least int64 has no remainder by -1 that the processor computes.
        number.is_some_and(|number| number.wrapping_rem(self.divisor) == self.remainder)
    }
}

fn malformed(what: &str) -> Error {
    Code::BadValue.error(format!("malformed mod, {what}"))
}

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    let RawBsonRef::Array(array) = argument.element.value() else {
        return Err(malformed("needs to be an array"));
    };
    let mut items = array_elements(array);
    let divisor = part(items.next(), "divisor")?;
    let remainder = part(items.next(), "remainder")?;
    if items.next().is_some() {
        return Err(malformed("too many elements"));
    }
    if divisor == 0 {
        return Err(Code::BadValue.error("divisor cannot be 0"));
    }
    Ok(Predicate::Mod(Mod { divisor, remainder }))
}

/// The fraction of either is dropped.
fn part(item: Option<Element<'_>>, name: &str) -> Result<i64> {
    let item = item.ok_or_else(|| malformed("not enough elements"))?;
    let number = Number::from_value(item.value())
        .ok_or_else(|| malformed(&format!("{name} not a number")))?;
    match number.to_i64_truncated() {
        Some(value) => Ok(value),
        None => {
            let reason = integer::integer(item).err();
            let reason = reason.as_ref().map_or("", |error| error.message());
            Err(malformed(&format!("{name} value is invalid :: caused by :: {reason}")))
        }
    }
}
