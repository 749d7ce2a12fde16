//! Numbers across int32, int64, double and decimal128, with MongoDB's promotion
//! and overflow rules.

use bson::{RawBson, RawBsonRef};

#[derive(Debug, Clone, Copy)]
pub enum Number {
    Int32(i32),
    Int64(i64),
    Double(f64),
    Decimal(bson::Decimal128),
}

impl Number {
    pub fn from_value(value: RawBsonRef<'_>) -> Option<Number> {
        let _ = value;
        todo!()
    }

    pub fn to_value(self) -> RawBson {
        todo!()
    }

    /// int32 grows into int64, int64 into double only where the caller says so:
    /// `None` is an int64 overflow.
    pub fn checked_add(self, other: Number) -> Option<Number> {
        let _ = other;
        todo!()
    }

    pub fn checked_multiply(self, other: Number) -> Option<Number> {
        let _ = other;
        todo!()
    }

    /// By value, across types; NaN equals NaN and sorts below every number.
    pub fn compare(self, other: Number) -> std::cmp::Ordering {
        let _ = other;
        todo!()
    }
}
