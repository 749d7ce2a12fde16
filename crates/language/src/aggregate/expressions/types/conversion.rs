//! Conversion of a value to a type: which there are, and what they give.

use super::binary::{self, Alphabet};
use crate::aggregate::expressions::{coerce, date, decimal};
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
    pub subtype: u8,
    pub format: Option<Format>,
    pub big_endian: bool,
}

impl To {
    pub fn kind(kind: &'static str) -> To {
        To { kind, subtype: 0, format: None, big_endian: false }
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
    failure(format!("Conversion of {value} would overflow target type"))
}

fn text(value: RawBsonRef<'_>, to: To) -> Result<RawBson> {
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
    match value {
        RawBsonRef::Boolean(value) => Ok(f64::from(u8::from(value))),
        RawBsonRef::DateTime(value) => Ok(value.timestamp_millis() as f64),
        RawBsonRef::String(text) => {
            let plain = !text.starts_with(|c: char| c.is_whitespace())
                && !text.to_ascii_lowercase().contains("0x");
            let parsed = text.parse::<f64>().ok().filter(|_| plain);
            // A number that is too large for a double does not become infinite.
            let infinite = text.to_ascii_lowercase().contains("inf");
            parsed
                .filter(|value| infinite || !value.is_infinite())
                .ok_or_else(|| failure(format!("Failed to parse number '{text}'")))
        }
        RawBsonRef::Decimal128(value) => {
            let number = Number::Decimal(value);
            let double = number.to_f64();
            if double.is_infinite() && !number.is_infinite() {
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
    Ok((number, coerce::show(value)))
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
    whole.ok_or_else(|| overflow(number.to_f64()))
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
        RawBsonRef::Boolean(value) => Number::Int32(value.into()),
        RawBsonRef::DateTime(value) => Number::Int64(value.timestamp_millis()),
        RawBsonRef::String(text) => {
            let hex = text.to_ascii_lowercase().starts_with("0x");
            return match text.parse::<bson::Decimal128>() {
                Ok(value) if !hex && !text.is_empty() => Ok(RawBson::Decimal128(value)),
                _ => Err(failure(format!("Failed to parse number '{text}'"))),
            };
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
    let subtype = BinarySubtype::from(to.subtype);
    let bytes = match value {
        RawBsonRef::Binary(value) if value.subtype == subtype => value.bytes.to_vec(),
        RawBsonRef::Binary(_) => {
            return Err(Code::ConversionFailure
                .error("Conversions between different BinData subtypes are not supported"));
        }
        RawBsonRef::String(text) => text_bytes(text, to)?,
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

fn text_bytes(text: &str, to: To) -> Result<Vec<u8>> {
    let Some(format) = to.format else {
        return Err(Code::location(4341115)
            .error("Format must be specified when converting from 'string' to 'binData'"));
    };
    let uuid = u8::from(BinarySubtype::Uuid) == to.subtype;
    let bytes = match format {
        _ if (format == Format::Uuid) != uuid => None,
        Format::Auto => None,
        Format::Base64 => binary::from_base64(text, Alphabet::Standard),
        Format::Base64Url => binary::from_base64(text, Alphabet::Url),
        Format::Hex => binary::from_hex(text),
        Format::Utf8 => Some(text.as_bytes().to_vec()),
        Format::Uuid => binary::from_uuid(text),
    };
    bytes.ok_or_else(|| failure(format!("Failed to parse BinData '{text}'")))
}
