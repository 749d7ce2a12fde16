//! How values turn into other values where an expression asks for it: truth,
//! integers, dates, strings; and how types are called in messages.

use super::{VALUE_BYTES_MAX, decimal};
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use value::Collator;
use value::Number;

pub fn is_nullish(value: Option<RawBsonRef<'_>>) -> bool {
    matches!(value, None | Some(RawBsonRef::Null | RawBsonRef::Undefined))
}

/// MongoDB's name of a value's type, as `$type` gives it.
pub fn type_name(value: Option<RawBsonRef<'_>>) -> &'static str {
    value.map_or("missing", |value| value::text::type_name(value.element_type()))
}

pub fn is_true(value: Option<RawBsonRef<'_>>) -> bool {
    match value {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => false,
        Some(RawBsonRef::Boolean(value)) => value,
        Some(RawBsonRef::Int32(value)) => value != 0,
        Some(RawBsonRef::Int64(value)) => value != 0,
        Some(RawBsonRef::Double(value)) => value != 0.0,
        Some(RawBsonRef::Decimal128(value)) => !Number::Decimal(value).is_zero(),
        Some(_) => true,
    }
}

pub fn is_numeric(value: Option<RawBsonRef<'_>>) -> bool {
    matches!(
        value,
        Some(
            RawBsonRef::Int32(_)
                | RawBsonRef::Int64(_)
                | RawBsonRef::Double(_)
                | RawBsonRef::Decimal128(_)
        )
    )
}

pub fn number(value: Option<RawBsonRef<'_>>) -> Option<Number> {
    value.and_then(Number::from_value)
}

/// BSON order; missing is before everything but MinKey, as undefined is.
pub fn compare(
    a: Option<RawBsonRef<'_>>,
    b: Option<RawBsonRef<'_>>,
    collator: Option<&Collator>,
) -> Ordering {
    let (a, b) = (a.unwrap_or(RawBsonRef::Undefined), b.unwrap_or(RawBsonRef::Undefined));
    value::order::compare_with(a, b, collator)
}

/// A number that is exactly a 32-bit integer, whatever its type.
pub fn integral32(value: Option<RawBsonRef<'_>>) -> Option<i32> {
    number(value)?.to_i32_exact()
}

/// A number that is exactly a 64-bit integer, whatever its type.
pub fn integral64(value: Option<RawBsonRef<'_>>) -> Option<i64> {
    number(value)?.to_i64_exact()
}

pub fn to_decimal(value: Number) -> dec::Decimal128 {
    decimal::decode(value.to_decimal())
}

/// The narrower of int32 and int64 that holds a value.
pub fn int_or_long(value: i64) -> RawBson {
    match i32::try_from(value) {
        Ok(value) => RawBson::Int32(value),
        Err(_) => RawBson::Int64(value),
    }
}

/// Milliseconds since 1970 of a date, timestamp or ObjectId.
pub fn to_date(value: RawBsonRef<'_>) -> Result<i64> {
    match date(value) {
        Some(millis) => Ok(millis),
        None => Err(Code::location(16006)
            .error(format!("can't convert from BSON type {} to Date", type_name(Some(value))))),
    }
}

/// As `to_date`, `None` where the type has no date in it.
pub fn date(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::DateTime(value) => Some(value.timestamp_millis()),
        RawBsonRef::Timestamp(value) => Some(i64::from(value.time) * 1000),
        RawBsonRef::ObjectId(value) => Some(value.timestamp().timestamp_millis()),
        _ => None,
    }
}

/// A value as the older string expressions take it: null is empty.
pub fn to_text(value: Option<RawBsonRef<'_>>) -> Result<Cow<'_, str>> {
    Ok(match value {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Cow::Borrowed(""),
        Some(
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) | RawBsonRef::JavaScriptCode(text),
        ) => Cow::Borrowed(text),
        Some(RawBsonRef::Int32(value)) => Cow::Owned(value.to_string()),
        Some(RawBsonRef::Int64(value)) => Cow::Owned(value.to_string()),
        Some(RawBsonRef::Double(value)) => Cow::Owned(sixteen_digits(value)),
        Some(RawBsonRef::Decimal128(value)) => Cow::Owned(value.to_string()),
        Some(RawBsonRef::DateTime(value)) => {
            Cow::Owned(super::date::format::iso(value.timestamp_millis())?)
        }
        Some(RawBsonRef::Timestamp(value)) => {
            let seconds = super::date::format::short(i64::from(value.time) * 1000);
            Cow::Owned(format!("{seconds}:{:x}", value.increment))
        }
        Some(value) => {
            return Err(Code::location(16007).error(format!(
                "can't convert from BSON type {} to String",
                type_name(Some(value))
            )));
        }
    })
}

/// A double as MongoDB writes it in strings: shortest, with an exponent where
/// the number is very large or small.
pub fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, power)) = scientific.split_once('e') else { return scientific };
    match power.parse::<i32>() {
        Ok(power) if !(-4..16).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", power.abs())
        }
        _ => value.to_string(),
    }
}

/// A double as the older string expressions write it: up to sixteen digits, as C's
/// `%.16g` has them.
fn sixteen_digits(value: f64) -> String {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if value < 0.0 { format!("-{text}") } else { text.to_owned() };
    }
    let scientific = format!("{value:.15e}");
    let Some((digits, power)) = scientific.split_once('e') else { return scientific };
    let trimmed = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    match power.parse::<i32>() {
        Ok(power @ -4..16) => {
            let places = usize::try_from(15 - power).unwrap_or_default();
            let fixed = format!("{value:.places$}");
            if places == 0 { fixed } else { trimmed(&fixed) }
        }
        Ok(power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(digits), power.abs())
        }
        Err(_) => scientific,
    }
}

/// Refuses values that outgrow the limit while they are computed.
pub fn check_size(bytes: usize) -> Result<()> {
    if bytes > VALUE_BYTES_MAX {
        return Err(Code::ExceededMemoryLimit.error(format!(
            "a computed value would take {bytes} bytes, more than the limit of {VALUE_BYTES_MAX}"
        )));
    }
    Ok(())
}

/// How deep a computed value may nest.
pub const VALUE_DEPTH_MAX: usize = 200;

/// Refuses values that nest too deep while they are computed.
pub fn check_depth(value: RawBsonRef<'_>) -> Result<()> {
    if nests_deeper(value, VALUE_DEPTH_MAX) {
        return Err(Code::Overflow.error(format!(
            "a computed value nests deeper than the limit of {VALUE_DEPTH_MAX} levels"
        )));
    }
    Ok(())
}

fn nests_deeper(value: RawBsonRef<'_>, levels: usize) -> bool {
    let inside = match value {
        RawBsonRef::Document(document) => value::element::elements(document),
        RawBsonRef::Array(array) => value::element::array_elements(array),
        _ => return false,
    };
    let mut inside = inside.map(|element| element.value());
    levels == 0 || inside.any(|value| nests_deeper(value, levels - 1))
}
