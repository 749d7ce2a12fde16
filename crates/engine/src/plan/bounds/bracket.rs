//! The values of one type: a comparison looks at no others.

use super::interval::{End, Interval, Intervals};
use bson::oid::ObjectId;
use bson::spec::{BinarySubtype, ElementType};
use bson::{Binary, DateTime, RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf, Timestamp};

/// The interval of all values that compare with `value`; `None` where comparison
/// is not confined to a type (MinKey, MaxKey) or means something else (arrays).
pub fn bracket(value: RawBsonRef<'_>) -> Option<Interval> {
    let (start, end, end_inclusive) = match value {
        RawBsonRef::Double(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Decimal128(_) => {
            (RawBson::Double(f64::NEG_INFINITY), RawBson::Double(f64::INFINITY), true)
        }
        RawBsonRef::String(_) | RawBsonRef::Symbol(_) => (empty_string(), empty_document(), false),
        RawBsonRef::Document(_) => (empty_document(), empty_array(), false),
        RawBsonRef::Binary(_) => (empty_binary(), RawBson::ObjectId(oid(0)), false),
        RawBsonRef::ObjectId(_) => (RawBson::ObjectId(oid(0)), RawBson::ObjectId(oid(0xff)), true),
        RawBsonRef::Boolean(_) => (RawBson::Boolean(false), RawBson::Boolean(true), true),
        RawBsonRef::DateTime(_) => (date(i64::MIN), date(i64::MAX), true),
        RawBsonRef::Timestamp(_) => (timestamp(0), timestamp(u32::MAX), true),
        RawBsonRef::Null => (RawBson::Null, RawBson::Null, true),
        RawBsonRef::Undefined => (RawBson::Undefined, RawBson::Undefined, true),
        _ => return None,
    };
    Some(Interval {
        start: End::new(start, None),
        start_inclusive: true,
        end: End::new(end, None),
        end_inclusive,
    })
}

/// The interval of all values that sort among those of a type; `None` for types
/// whose values are not found under a key of their own.
pub fn class(kind: ElementType) -> Option<Interval> {
    let sample = match kind {
        ElementType::Double | ElementType::Int32 | ElementType::Int64 | ElementType::Decimal128 => {
            let mut numbers = bracket(RawBsonRef::Double(0.0))?;
            numbers.start = End::new(RawBson::Double(f64::NAN), None);
            return Some(numbers);
        }
        ElementType::String | ElementType::Symbol => empty_string(),
        ElementType::EmbeddedDocument => empty_document(),
        ElementType::Binary => empty_binary(),
        ElementType::ObjectId => RawBson::ObjectId(oid(0)),
        ElementType::Boolean => RawBson::Boolean(false),
        ElementType::DateTime => date(0),
        ElementType::Timestamp => timestamp(0),
        ElementType::Null => RawBson::Null,
        _ => return None,
    };
    bracket(sample.as_raw_bson_ref())
}

/// All strings.
pub fn strings() -> Intervals {
    bracket(RawBsonRef::String("")).map_or_else(Intervals::all, Intervals::one)
}

pub fn empty_string() -> RawBson {
    RawBson::String(String::new())
}

pub fn empty_document() -> RawBson {
    RawBson::Document(RawDocumentBuf::new())
}

fn empty_array() -> RawBson {
    RawBson::Array(RawArrayBuf::new())
}

fn empty_binary() -> RawBson {
    RawBson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: Vec::new() })
}

fn oid(byte: u8) -> ObjectId {
    ObjectId::from_bytes([byte; 12])
}

fn date(millis: i64) -> RawBson {
    RawBson::DateTime(DateTime::from_millis(millis))
}

fn timestamp(part: u32) -> RawBson {
    RawBson::Timestamp(Timestamp { time: part, increment: part })
}
