//! What `$eq`, `$gt`, `$gte`, `$lt` and `$lte` have in common.

use super::Argument;
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use std::cmp::Ordering;
use value::order::{class, class_of, compare_with};
use value::{Collator, Element, Number};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Gt,
    Gte,
    Lt,
    Lte,
}

impl Comparison {
    fn accepts(self, order: Ordering) -> bool {
        match self {
            Comparison::Eq => order.is_eq(),
            Comparison::Gt => order.is_gt(),
            Comparison::Gte => order.is_ge(),
            Comparison::Lt => order.is_lt(),
            Comparison::Lte => order.is_le(),
        }
    }
}

/// A value that a field may be compared with.
pub fn operand(value: RawBsonRef<'_>) -> Result<RawBson> {
    match value {
        RawBsonRef::Undefined => Err(Code::BadValue.error("cannot compare to undefined")),
        value => Ok(value::value::to_owned(value)),
    }
}

/// As `operand`, for operators that order: regular expressions have no order.
pub fn ordered_operand(argument: &Argument<'_>) -> Result<RawBson> {
    match argument.element.value() {
        RawBsonRef::RegularExpression(_) => {
            let field = argument.field;
            let message = format!("Can't have RegEx as arg to predicate over field '{field}'.");
            Err(Code::BadValue.error(message))
        }
        value => operand(value),
    }
}

/// Whether a value, `None` if missing, stands in this relation to the operand.
/// Only values of one type class compare; a missing value equals null; MinKey and
/// MaxKey compare with everything.
#[inline]
pub fn compare(
    comparison: Comparison,
    element: Option<Element<'_>>,
    operand: &RawBson,
    collator: Option<&Collator>,
) -> bool {
    let operand = operand.as_raw_bson_ref();
    let Some(element) = element else {
        return match operand {
            RawBsonRef::Null => comparison.accepts(Ordering::Equal),
            _ => across_classes(comparison, operand),
        };
    };
    if class_of(element.kind) != class(operand) {
        return across_classes(comparison, operand);
    }
    let value = element.value();
    if is_nan(value) != is_nan(operand) {
        return false;
    }
    comparison.accepts(compare_with(value, operand, collator))
}

/// For a value of another class than the operand's.
fn across_classes(comparison: Comparison, operand: RawBsonRef<'_>) -> bool {
    match comparison {
        Comparison::Eq => false,
        Comparison::Lt | Comparison::Lte => operand == RawBsonRef::MaxKey,
        Comparison::Gt | Comparison::Gte => operand == RawBsonRef::MinKey,
    }
}

#[inline]
fn is_nan(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Double(value) => value.is_nan(),
        RawBsonRef::Decimal128(value) => Number::Decimal(value).is_nan(),
        _ => false,
    }
}
