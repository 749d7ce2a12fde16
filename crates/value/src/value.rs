//! A value that is either still in its document or computed.

use crate::Number;
use bson::{RawBson, RawBsonRef, Regex};

#[derive(Debug, Clone)]
pub enum Value<'a> {
    Ref(RawBsonRef<'a>),
    Own(RawBson),
}

/// An owned copy, exact: bson's own conversion sorts the options of a regular
/// expression.
pub fn to_owned(value: RawBsonRef<'_>) -> RawBson {
    match value {
        RawBsonRef::RegularExpression(regex) => RawBson::RegularExpression(Regex {
            pattern: regex.pattern.into(),
            options: regex.options.into(),
        }),
        value => value.into(),
    }
}

/// Whether a value counts as true where a condition is asked for: all but false,
/// zero of any type, null and undefined.
pub fn is_true(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        value => Number::from_value(value).is_none_or(|number| !number.is_zero()),
    }
}

impl Value<'_> {
    pub fn get(&self) -> RawBsonRef<'_> {
        match self {
            Value::Ref(value) => *value,
            Value::Own(value) => value.as_raw_bson_ref(),
        }
    }

    pub fn into_owned(self) -> RawBson {
        match self {
            Value::Ref(value) => to_owned(value),
            Value::Own(value) => value,
        }
    }
}

impl<'a> From<RawBsonRef<'a>> for Value<'a> {
    fn from(value: RawBsonRef<'a>) -> Self {
        Value::Ref(value)
    }
}

impl From<RawBson> for Value<'_> {
    fn from(value: RawBson) -> Self {
        Value::Own(value)
    }
}
