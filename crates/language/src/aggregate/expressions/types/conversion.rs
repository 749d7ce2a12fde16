//! Conversion of a value to a type: which there are, and what they give.

use super::base;
use super::binary::{self, Alphabet};
use crate::aggregate::expressions::{coerce, date, decimal};
use crate::describe;
use bson::spec::BinarySubtype;
use bson::{Binary, DateTime, RawBinaryRef, RawBson, RawBsonRef, oid::ObjectId};
use dec::Rounding;
use error::{Code, Error, Result};
use value::Number;

/// How binary is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Auto,
    Base64,
    Base64Url,
    Hex,
    Utf8,
    Uuid,
}

/// The type to convert to, and what goes with it.
#[derive(Debug, Clone, Copy)]
pub struct To {
    pub kind: &'static str,
    pub subtype: Subtype,
    pub format: Option<Format>,
    pub big_endian: bool,
    /// The base of numbers as text, where one is asked for.
    pub base: Option<u32>,
}

/// The subtype of a binary that is to be made: what is asked for is checked only then.
#[derive(Debug, Clone, Copy)]
pub enum Subtype {
    Known(u8),
    /// The code and the words of what is wrong with it.
    Wrong(i32, &'static str),
}

impl Subtype {
    fn get(self) -> Result<BinarySubtype> {
        match self {
            Subtype::Known(subtype) => Ok(BinarySubtype::from(subtype)),
            Subtype::Wrong(code, words) => Err(Code::location(code).error(words)),
        }
    }
}

impl To {
    pub fn kind(kind: &'static str) -> To {
        let subtype = Subtype::Known(0);
        To { kind, subtype, format: None, big_endian: false, base: None }
    }
}

pub fn failure(message: impl std::fmt::Display) -> Error {
    Code::ConversionFailure.error(format!("{message} in $convert with no onError value"))
}

/// The value as the type; code 241 where it cannot be.
pub fn convert(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
    match to.kind {
        "bool" => Ok(RawBson::Boolean(coerce::is_true(Some(value)))),
        "string" => text(value, to),
        "double" => double(value, to).map(RawBson::Double),
        "int" => {
            let (number, shown) = integer(value, to)?;
            i32::try_from(number).map(RawBson::Int32).map_err(|_| overflow(shown))
        }
        "long" => integer(value, to).map(|(number, _)| RawBson::Int64(number)),
        "decimal" => to_decimal(value, to),
        "date" => to_date(value, to).map(|millis| RawBson::DateTime(DateTime::from_millis(millis))),
        "objectId" => object_id(value, to),
        "binData" => to_binary(value, to),
        _ => Err(unsupported(value, to)),
    }
}

fn unsupported(value: RawBsonRef<'_>, to: To) -> Error {
    failure(format!(
        "Unsupported conversion from {} to {}",
        coerce::type_name(Some(value)),
        to.kind
    ))
}

fn overflow(value: impl std::fmt::Display) -> Error {
    Code::ConversionFailure.error(format!(
        "Conversion would overflow target type in $convert with no onError value: {value}"
    ))
}

fn text(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
    if let (Some(base), Some(number)) = (to.base, Number::from_value(value)) {
        return base::to_text(number, base).map(RawBson::String);
    }
    Ok(RawBson::String(match value {
        RawBsonRef::String(text) => text.to_owned(),
        RawBsonRef::Double(value) => coerce::double_text(value),
        RawBsonRef::Int32(value) => value.to_string(),
        RawBsonRef::Int64(value) => value.to_string(),
        RawBsonRef::Decimal128(value) => value.to_string(),
        RawBsonRef::Boolean(value) => value.to_string(),
        RawBsonRef::ObjectId(value) => value.to_hex(),
        RawBsonRef::DateTime(value) => date::format::iso(value.timestamp_millis())?,
        RawBsonRef::Binary(value) => binary_text(value, to)?,
        other => return Err(unsupported(other, to)),
    }))
}

fn binary_text(value: RawBinaryRef<'_>, to: To) -> Result<String> {
    let Some(format) = to.format else {
        return Err(Code::location(4341115)
            .error("Format must be specified when converting from 'binData' to 'string'"));
    };
    let wrong = || failure("Failed to convert BinData to string");
    let uuid = || match value.subtype {
        BinarySubtype::Uuid => binary::to_uuid(value.bytes),
        _ => None,
    };
    Ok(match format {
        Format::Auto => {
            uuid().unwrap_or_else(|| binary::to_base64(value.bytes, Alphabet::Standard))
        }
        Format::Base64 => binary::to_base64(value.bytes, Alphabet::Standard),
        Format::Base64Url => binary::to_base64(value.bytes, Alphabet::Url),
        Format::Hex => binary::to_hex(value.bytes),
        Format::Utf8 => String::from_utf8(value.bytes.to_vec()).map_err(|_| wrong())?,
        Format::Uuid => uuid().ok_or_else(wrong)?,
    })
}

fn double(value: RawBsonRef<'_>, to: To) -> Result<f64> {
    if let (Some(base), RawBsonRef::String(text)) = (to.base, value) {
        return Ok(base::from_text(text, base)? as f64);
    }
    match value {
        RawBsonRef::Boolean(value) => Ok(f64::from(u8::from(value))),
        RawBsonRef::DateTime(value) => Ok(value.timestamp_millis() as f64),
        RawBsonRef::String(text) => {
            // What is too large does not become infinite, what is too small not zero.
            let infinite = text.to_ascii_lowercase().contains("inf");
            let zero = text.split(['e', 'E', 'p', 'P']).next().is_some_and(|digits| {
                digits.bytes().all(|byte| !byte.is_ascii_hexdigit() || byte == b'0')
            });
            text.parse::<f64>()
                .ok()
                .or_else(|| base::hexadecimal_double(text))
                .filter(|value| infinite || !value.is_infinite())
                .filter(|value| zero || value.is_nan() || value.abs() >= f64::MIN_POSITIVE)
                .ok_or_else(|| failure(format!("Failed to parse number '{text}'")))
        }
        RawBsonRef::Decimal128(value) => {
            let number = Number::Decimal(value);
            let double = number.to_f64();
            let tiny = double.abs() < f64::MIN_POSITIVE && !number.is_zero();
            if tiny || (double.is_infinite() && !number.is_infinite()) {
                return Err(overflow(value));
            }
            Ok(double)
        }
        RawBsonRef::Binary(value) => match (value.bytes.len(), to.big_endian) {
            (4, true) => Ok(f32::from_be_bytes(sized(value.bytes)?).into()),
            (4, false) => Ok(f32::from_le_bytes(sized(value.bytes)?).into()),
            (8, true) => Ok(f64::from_be_bytes(sized(value.bytes)?)),
            (8, false) => Ok(f64::from_le_bytes(sized(value.bytes)?)),
            (length, _) => Err(wrong_length(length)),
        },
        value => match Number::from_value(value) {
            Some(number) => Ok(number.to_f64()),
            None => Err(unsupported(value, to)),
        },
    }
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| wrong_length(bytes.len()))
}

fn wrong_length(length: usize) -> Error {
    failure(format!("Failed to convert BinData to number because of invalid length: {length}"))
}

/// The integer of a value, its fraction dropped, and the value as text.
fn integer(value: RawBsonRef<'_>, to: To) -> Result<(i64, String)> {
    if let (Some(base), RawBsonRef::String(text)) = (to.base, value) {
        return Ok((base::from_text(text, base)?, text.to_owned()));
    }
    let number = match value {
        RawBsonRef::Int32(value) => i64::from(value),
        RawBsonRef::Int64(value) => value,
        RawBsonRef::Boolean(value) => i64::from(value),
        RawBsonRef::DateTime(value) if to.kind == "long" => value.timestamp_millis(),
        RawBsonRef::Double(value) => truncated(Number::Double(value))?,
        RawBsonRef::Decimal128(value) => truncated(Number::Decimal(value))?,
        RawBsonRef::String(text) => {
            text.parse().map_err(|_| failure(format!("Failed to parse number '{text}'")))?
        }
        RawBsonRef::Binary(value) => binary_integer(value.bytes, to)?,
        other => return Err(unsupported(other, to)),
    };
    Ok((number, describe::value(value)))
}

fn truncated(number: Number) -> Result<i64> {
    if number.is_nan() {
        return Err(failure("Attempt to convert NaN value to integer type"));
    }
    if number.is_infinite() {
        return Err(failure("Attempt to convert infinity value to integer type"));
    }
    let whole = match number {
        Number::Double(value) => Number::Double(value.trunc()).to_i64_exact(),
        Number::Decimal(value) => {
            decimal::integer(decimal::round_to(decimal::decode(value), 0, Rounding::Down))
        }
        integer => integer.to_i64_exact(),
    };
    whole.ok_or_else(|| overflow(coerce::double_text(number.to_f64())))
}

fn binary_integer(bytes: &[u8], to: To) -> Result<i64> {
    let long = to.kind == "long";
    Ok(match (bytes.len(), to.big_endian) {
        (1, _) => i64::from(i8::from_le_bytes(sized(bytes)?)),
        (2, true) => i16::from_be_bytes(sized(bytes)?).into(),
        (2, false) => i16::from_le_bytes(sized(bytes)?).into(),
        (4, true) => i32::from_be_bytes(sized(bytes)?).into(),
        (4, false) => i32::from_le_bytes(sized(bytes)?).into(),
        (8, true) if long => i64::from_be_bytes(sized(bytes)?),
        (8, false) if long => i64::from_le_bytes(sized(bytes)?),
        (length, _) => return Err(wrong_length(length)),
    })
}

fn to_decimal(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
    let number = match value {
        RawBsonRef::String(text) if to.base.is_some() => {
            Number::Int64(base::from_text(text, to.base.unwrap_or(10))?)
        }
        RawBsonRef::Boolean(value) => Number::Int32(value.into()),
        RawBsonRef::DateTime(value) => Number::Int64(value.timestamp_millis()),
        RawBsonRef::String(text) => {
            return decimal::parse(text)
                .map(decimal::value)
                .ok_or_else(|| failure(format!("Failed to parse number '{text}'")));
        }
        value => Number::from_value(value).ok_or_else(|| unsupported(value, to))?,
    };
    Ok(RawBson::Decimal128(number.to_decimal()))
}

fn to_date(value: RawBsonRef<'_>, to: To) -> Result<i64> {
    match value {
        RawBsonRef::Int64(value) => Ok(value),
        RawBsonRef::Double(value) => truncated(Number::Double(value)),
        RawBsonRef::Decimal128(value) => truncated(Number::Decimal(value)),
        RawBsonRef::String(text) => date::parse_text(text, &date::zone::Zone::UTC),
        value => coerce::date(value).ok_or_else(|| unsupported(value, to)),
    }
}

fn object_id(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
    match value {
        RawBsonRef::ObjectId(value) => Ok(RawBson::ObjectId(value)),
        RawBsonRef::String(text) => ObjectId::parse_str(text)
            .map(RawBson::ObjectId)
            .map_err(|_| failure(format!("Failed to parse objectId '{text}'"))),
        other => Err(unsupported(other, to)),
    }
}

fn to_binary(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
    let subtype = match value {
        RawBsonRef::String(_) if to.format.is_none() => {
            return Err(Code::location(4341115)
                .error("Format must be specified when converting from 'string' to 'binData'"));
        }
        RawBsonRef::Binary(_)
        | RawBsonRef::String(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Double(_) => to.subtype.get()?,
        other => return Err(unsupported(other, to)),
    };
    let bytes = match value {
        RawBsonRef::Binary(value) if value.subtype == subtype => value.bytes.to_vec(),
        RawBsonRef::Binary(_) => {
            return Err(Code::ConversionFailure
                .error("Conversions between different BinData subtypes are not supported"));
        }
        RawBsonRef::String(text) => text_bytes(text, to.format, subtype)?,
        // A UUID has sixteen bytes, and no number has.
        _ if subtype == BinarySubtype::Uuid => return Err(unsupported(value, to)),
        RawBsonRef::Int32(value) if to.big_endian => value.to_be_bytes().to_vec(),
        RawBsonRef::Int32(value) => value.to_le_bytes().to_vec(),
        RawBsonRef::Int64(value) if to.big_endian => value.to_be_bytes().to_vec(),
        RawBsonRef::Int64(value) => value.to_le_bytes().to_vec(),
        RawBsonRef::Double(value) if to.big_endian => value.to_be_bytes().to_vec(),
        RawBsonRef::Double(value) => value.to_le_bytes().to_vec(),
        other => return Err(unsupported(other, to)),
    };
    Ok(RawBson::Binary(Binary { subtype, bytes }))
}

fn text_bytes(text: &str, format: Option<Format>, subtype: BinarySubtype) -> Result<Vec<u8>> {
    let uuid = subtype == BinarySubtype::Uuid;
    let bytes = match format {
        _ if (format == Some(Format::Uuid)) != uuid => None,
        None | Some(Format::Auto) => None,
        Some(Format::Base64) => binary::from_base64(text, Alphabet::Standard),
        Some(Format::Base64Url) => binary::from_base64(text, Alphabet::Url),
        Some(Format::Hex) => binary::from_hex(text),
        Some(Format::Utf8) => Some(text.as_bytes().to_vec()),
        Some(Format::Uuid) => binary::from_uuid(text),
    };
    bytes.ok_or_else(|| failure(format!("Failed to parse BinData '{text}'")))
}
