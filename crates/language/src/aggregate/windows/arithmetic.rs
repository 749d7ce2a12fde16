//! What window functions compute with: numbers of any type, and dates by their
//! distance. Integers that outgrow int64 become doubles.

use crate::aggregate::expressions::{FieldPath, coerce};
use crate::sort::Pattern;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::{Number, Value};

pub fn add(a: Number, b: Number) -> Number {
    a.checked_add(b).unwrap_or_else(|| Number::Double(a.to_f64() + b.to_f64()))
}

pub fn subtract(a: Number, b: Number) -> Number {
    a.checked_subtract(b).unwrap_or_else(|| Number::Double(a.to_f64() - b.to_f64()))
}

pub fn multiply(a: Number, b: Number) -> Number {
    a.checked_multiply(b).unwrap_or_else(|| Number::Double(a.to_f64() * b.to_f64()))
}

/// The difference as `$subtract` gives it; `None` for null.
pub fn difference(a: Option<&RawBson>, b: Option<&RawBson>) -> Result<Option<Number>> {
    let value = |value: Option<&'_ RawBson>| -> Option<Place> { place(value?.as_raw_bson_ref()) };
    let nullish = |value: Option<&RawBson>| coerce::is_nullish(value.map(RawBson::as_raw_bson_ref));
    if nullish(a) || nullish(b) {
        return Ok(None);
    }
    match (value(a), value(b)) {
        (Some(Place::Number(a)), Some(Place::Number(b))) => Ok(Some(subtract(a, b))),
        (Some(Place::Date(a)), Some(Place::Date(b))) => {
            Ok(Some(subtract(Number::Int64(a), Number::Int64(b))))
        }
        _ => Err(Code::TypeMismatch.error(format!(
            "can't $subtract {} from {}",
            coerce::type_name(b.map(RawBson::as_raw_bson_ref)),
            coerce::type_name(a.map(RawBson::as_raw_bson_ref))
        ))),
    }
}

/// Where a document stands in the order: by a number, or by a date in
/// milliseconds.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    Number(Number),
    Date(i64),
}

impl Place {
    /// The number, or the date's milliseconds.
    pub fn number(self) -> Number {
        match self {
            Place::Number(number) => number,
            Place::Date(millis) => Number::Int64(millis),
        }
    }

    pub fn is_date(self) -> bool {
        matches!(self, Place::Date(_))
    }
}

pub fn place(value: RawBsonRef<'_>) -> Option<Place> {
    match value {
        RawBsonRef::DateTime(date) => Some(Place::Date(date.timestamp_millis())),
        value => Number::from_value(value).map(Place::Number),
    }
}

/// Where documents stand in the order, by the first field that is sorted by.
#[derive(Debug, Clone)]
pub struct Places(Option<FieldPath>);

impl Places {
    pub fn by(sort: Option<&Pattern>) -> Places {
        let first = sort.and_then(|sort| sort.fields().first());
        Places(first.and_then(|(path, _)| FieldPath::parse(path.as_str()).ok()))
    }

    /// The place of a document; the type's name where it is neither number nor date.
    pub fn of(&self, document: &RawDocument) -> std::result::Result<Place, &'static str> {
        let value = self.0.as_ref().and_then(|path| path.resolve(document));
        let value = value.as_ref().map(Value::get);
        value.and_then(place).ok_or_else(|| coerce::type_name(value))
    }
}
