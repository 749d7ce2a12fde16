//! The stored form of a sum. Each bag of numbers has one; fields that would be 0 are left out.
//!
//! ```text
//! {
//!   i: 3, l: 1, d: 2,               how many int32, int64, double
//!   s: 17,                          the sum of the integers
//!   f: [-2, 3],                     the sum of the finite doubles: 3 * 2^-2
//!   dx: [1, 0, 0], mx: [0, 2, 0],   how many NaN, Infinity, -Infinity: doubles, decimals
//!   m: [[-2, 2, 330]],              finite decimals: exponent, how many, sum: 330 * 10^-2
//! }
//! ```
//!
//! An integer is an int32 or an int64 where it fits, else binary: 1 for a minus or 0, then the
//! magnitude, least byte first.

use super::big::Big;
use super::decimals::{Coefficients, Decimals};
use super::doubles::Doubles;
use super::{ExactSum, Rare, Special};
use crate::decimal::{EXPONENT_MAX, EXPONENT_MIN};
use crate::element::{Elements, elements};
use crate::{DocumentWriter, Element, Number};
use bson::raw::RawBinaryRef;
use bson::spec::{BinarySubtype, ElementType};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

impl ExactSum {
    /// Appends the stored form, field by field, to the document that is open. No count may be
    /// below zero.
    pub fn write(&self, out: &mut DocumentWriter) {
        for (key, count) in [("i", self.int32s), ("l", self.int64s), ("d", self.doubles)] {
            if count != 0 {
                out.append_number(key, count);
            }
        }
        if self.integers != 0 {
            let magnitude = Big::from(self.integers.unsigned_abs());
            with_integer(self.integers < 0, &magnitude, |value| out.append("s", value));
        }
        if let Some((negative, magnitude, exponent)) = self.fractions.read_odd() {
            out.begin_array("f");
            out.push(RawBsonRef::Int32(exponent));
            with_integer(negative, &magnitude, |value| out.push(value));
            out.end();
        }
        if let Some(rare) = &self.rare {
            write_special("dx", rare.doubles, out);
            write_special("mx", rare.decimals, out);
            write_decimals(&rare.finite, out);
        }
    }

    /// Reads the stored form; anything else, be it by one byte, is an error.
    pub fn read(document: &RawDocument) -> Result<ExactSum> {
        let sum = parse(document).filter(ExactSum::is_whole).ok_or_else(malformed)?;
        // There is one form only: this finds what is out of order, twice or too long.
        let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
        sum.write(&mut out);
        if out.into_bytes() != document.as_bytes() {
            return Err(malformed());
        }
        Ok(sum)
    }

    /// Whether it is the sum of some numbers, as far as counts can tell.
    fn is_whole(&self) -> bool {
        let rare = self.rare.as_deref().cloned().unwrap_or_default();
        let finite = self.doubles - rare.doubles.total();
        let integers_max = i128::from(self.int32s + self.int64s) << 63;
        finite >= 0
            && (finite > 0 || self.fractions.is_unused())
            && self.integers.unsigned_abs() <= integers_max.unsigned_abs()
    }
}

fn malformed() -> error::Error {
    Code::DataCorruptionDetected.error("a stored sum is not of the form that sums are stored in")
}

fn write_special(key: &str, special: Special, out: &mut DocumentWriter) {
    if special != Special::default() {
        out.begin_array(key);
        for count in [special.nan, special.infinite, special.negative_infinite] {
            out.push(Number::from_i64(count).to_ref());
        }
        out.end();
    }
}

fn write_decimals(decimals: &Decimals, out: &mut DocumentWriter) {
    let mut each = decimals.iter().peekable();
    if each.peek().is_none() {
        return;
    }
    out.begin_array("m");
    for (exponent, sum) in each {
        let (negative, magnitude) = sum.parts();
        out.begin_next_array();
        out.push(RawBsonRef::Int32(exponent));
        out.push(Number::from_i64(sum.count).to_ref());
        with_integer(negative, &magnitude, |value| out.push(value));
        out.end();
    }
    out.end();
}

/// Hands on the stored form of an integer.
fn with_integer(negative: bool, magnitude: &Big, write: impl FnOnce(RawBsonRef<'_>)) {
    match magnitude.to_u128().and_then(|magnitude| i64::try_from(magnitude).ok()) {
        Some(value) => write(Number::from_i64(if negative { -value } else { value }).to_ref()),
        None => {
            let mut bytes = vec![u8::from(negative)];
            bytes.extend(magnitude.to_bytes());
            let subtype = BinarySubtype::Generic;
            write(RawBsonRef::Binary(RawBinaryRef { subtype, bytes: &bytes }));
        }
    }
}

fn parse(document: &RawDocument) -> Option<ExactSum> {
    let mut sum = ExactSum::default();
    for element in elements(document) {
        match element.key {
            "i" => sum.int32s = count(element)?,
            "l" => sum.int64s = count(element)?,
            "d" => sum.doubles = count(element)?,
            "s" => {
                let (negative, magnitude) = integer(element)?;
                let magnitude = i128::try_from(magnitude.to_u128()?).ok()?;
                sum.integers = if negative { -magnitude } else { magnitude };
            }
            "f" => {
                let [exponent, magnitude] = items(element)?;
                let (negative, magnitude) = integer(magnitude)?;
                sum.fractions = Doubles::from_parts(negative, magnitude, int32(exponent)?)?;
            }
            "dx" => rare(&mut sum).doubles = special(element)?,
            "mx" => rare(&mut sum).decimals = special(element)?,
            "m" => rare(&mut sum).finite = decimals(element)?,
            _ => return None,
        }
    }
    Some(sum)
}

fn rare(sum: &mut ExactSum) -> &mut Rare {
    sum.rare.get_or_insert_default()
}

fn special(element: Element<'_>) -> Option<Special> {
    let [nan, infinite, negative_infinite] = items(element)?;
    Some(Special {
        nan: count(nan)?,
        infinite: count(infinite)?,
        negative_infinite: count(negative_infinite)?,
    })
}

fn decimals(element: Element<'_>) -> Option<Decimals> {
    let mut decimals = Decimals::default();
    let mut exponent_min = EXPONENT_MIN;
    for each in array(element)? {
        let [exponent, counted, sum] = items(each)?;
        let exponent = int32(exponent).filter(|it| (exponent_min..=EXPONENT_MAX).contains(it))?;
        let counted = count(counted).filter(|count| *count > 0)?;
        let (negative, magnitude) = integer(sum)?;
        decimals.put(exponent, Coefficients::new(counted, negative, &magnitude)?);
        exponent_min = exponent + 1;
    }
    Some(decimals)
}

fn array(element: Element<'_>) -> Option<Elements<'_>> {
    (element.kind == ElementType::Array).then(|| element.children())
}

/// The items of an array that has so many.
fn items<const N: usize>(element: Element<'_>) -> Option<[Element<'_>; N]> {
    array(element)?.collect::<Vec<_>>().try_into().ok()
}

fn int32(element: Element<'_>) -> Option<i32> {
    match element.value() {
        RawBsonRef::Int32(value) => Some(value),
        _ => None,
    }
}

/// Counts are added up, and stay far from where that overflows.
fn count(element: Element<'_>) -> Option<i64> {
    const COUNT_MAX: i64 = 1 << 48;
    let value = match element.value() {
        RawBsonRef::Int32(value) => value.into(),
        RawBsonRef::Int64(value) => value,
        _ => return None,
    };
    (0..=COUNT_MAX).contains(&value).then_some(value)
}

fn integer(element: Element<'_>) -> Option<(bool, Big)> {
    let of = |value: i64| (value < 0, Big::from(u128::from(value.unsigned_abs())));
    match element.value() {
        RawBsonRef::Int32(value) => Some(of(value.into())),
        RawBsonRef::Int64(value) => Some(of(value)),
        RawBsonRef::Binary(binary) => {
            let (sign, magnitude) = binary.bytes.split_first()?;
            Some((*sign == 1, Big::from_bytes(magnitude)))
        }
        _ => None,
    }
}
