//! BSON comparison order across all types.
//!
//! Values of different type classes compare by class. Within a class: numbers by
//! value, strings by bytes or under a collator, documents field by field (class,
//! then name, then value), arrays element by element, binaries by length, then
//! subtype, then bytes.

use crate::element::{Elements, array_elements, elements};
use crate::writer::db_pointer_bytes;
use crate::{Collator, Number};
use bson::raw::{RawBinaryRef, RawBsonRef};
use bson::spec::{BinarySubtype, ElementType};
use std::cmp::Ordering;

#[inline]
pub fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>) -> Ordering {
    compare_with(a, b, None)
}

pub fn compare_with(a: RawBsonRef<'_>, b: RawBsonRef<'_>, collator: Option<&Collator>) -> Ordering {
    match (a, b) {
        (RawBsonRef::Int32(a), RawBsonRef::Int32(b)) => a.cmp(&b),
        (RawBsonRef::String(a), RawBsonRef::String(b)) => compare_strings(a, b, collator),
        (RawBsonRef::ObjectId(a), RawBsonRef::ObjectId(b)) => a.bytes().cmp(&b.bytes()),
        _ => class(a).cmp(&class(b)).then_with(|| compare_same_class(a, b, collator)),
    }
}

/// Strings by bytes, or as the collator says.
#[inline]
pub fn compare_strings(a: &str, b: &str, collator: Option<&Collator>) -> Ordering {
    match collator {
        Some(collator) => collator.compare(a, b),
        None => a.as_bytes().cmp(b.as_bytes()),
    }
}

/// The rank of a value's type class: MinKey first, MaxKey last, all numbers one
/// class, string and symbol one class.
#[inline]
pub fn class(value: RawBsonRef<'_>) -> u8 {
    class_of(value.element_type())
}

/// The rank of a type's class.
#[inline]
pub fn class_of(kind: ElementType) -> u8 {
    match kind {
        ElementType::MinKey => 0,
        ElementType::Undefined => 1,
        ElementType::Null => 5,
        ElementType::Int32 | ElementType::Int64 | ElementType::Double | ElementType::Decimal128 => {
            10
        }
        ElementType::String | ElementType::Symbol => 15,
        ElementType::EmbeddedDocument => 20,
        ElementType::Array => 25,
        ElementType::Binary => 30,
        ElementType::ObjectId => 35,
        ElementType::Boolean => 40,
        ElementType::DateTime => 45,
        ElementType::Timestamp => 47,
        ElementType::RegularExpression => 50,
        ElementType::DbPointer => 55,
        ElementType::JavaScriptCode => 60,
        ElementType::JavaScriptCodeWithScope => 65,
        ElementType::MaxKey => 127,
    }
}

fn compare_same_class(
    a: RawBsonRef<'_>,
    b: RawBsonRef<'_>,
    collator: Option<&Collator>,
) -> Ordering {
    use RawBsonRef as R;
    match (a, b) {
        (R::String(a) | R::Symbol(a), R::String(b) | R::Symbol(b)) => {
            compare_strings(a, b, collator)
        }
        (R::Document(a), R::Document(b)) => {
            compare_elements(elements(a), elements(b), true, collator)
        }
        (R::Array(a), R::Array(b)) => {
            compare_elements(array_elements(a), array_elements(b), false, collator)
        }
        (R::Binary(a), R::Binary(b)) => binary_rank(a).cmp(&binary_rank(b)),
        (R::Boolean(a), R::Boolean(b)) => a.cmp(&b),
        (R::DateTime(a), R::DateTime(b)) => a.timestamp_millis().cmp(&b.timestamp_millis()),
        (R::Timestamp(a), R::Timestamp(b)) => (a.time, a.increment).cmp(&(b.time, b.increment)),
        (R::RegularExpression(a), R::RegularExpression(b)) => {
            let options = || a.options.as_str().cmp(b.options.as_str());
            a.pattern.as_str().cmp(b.pattern.as_str()).then_with(options)
        }
        (R::DbPointer(_), R::DbPointer(_)) => {
            let (a, b) = (db_pointer_bytes(a), db_pointer_bytes(b));
            a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
        }
        (R::JavaScriptCode(a), R::JavaScriptCode(b)) => a.as_bytes().cmp(b.as_bytes()),
        (R::JavaScriptCodeWithScope(a), R::JavaScriptCodeWithScope(b)) => {
            a.code.as_bytes().cmp(b.code.as_bytes()).then_with(|| {
                compare_elements(elements(a.scope), elements(b.scope), true, collator)
            })
        }
        _ => match (Number::from_value(a), Number::from_value(b)) {
            (Some(a), Some(b)) => a.compare(b),
            // One value each: MinKey, undefined, null, MaxKey.
            _ => Ordering::Equal,
        },
    }
}

/// What is compared of a binary: length, subtype, bytes. The old subtype counts
/// the length it repeats inside.
fn binary_rank(binary: RawBinaryRef<'_>) -> (usize, u8, &[u8]) {
    let inner = if binary.subtype == BinarySubtype::BinaryOld { 4 } else { 0 };
    (binary.bytes.len() + inner, binary.subtype.into(), binary.bytes)
}

fn compare_elements(
    mut a: Elements<'_>,
    mut b: Elements<'_>,
    names: bool,
    collator: Option<&Collator>,
) -> Ordering {
    loop {
        let (a, b) = match (a.next(), b.next()) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let mut order = class_of(a.kind).cmp(&class_of(b.kind));
        if names {
            order = order.then_with(|| a.key.cmp(b.key));
        }
        // Equal bytes of one type are equal values, NaN included: no decoding.
        if order.is_eq() && !(a.kind == b.kind && a.bytes == b.bytes) {
            order = compare_with(a.value(), b.value(), collator);
        }
        if order.is_ne() {
            return order;
        }
    }
}
