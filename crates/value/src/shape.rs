//! How many bytes a value takes, by its type.

use crate::element::{length, split_cstring};
use bson::spec::ElementType;

/// A type, and how the length of its values is told.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub kind: ElementType,
    extent: Extent,
}

#[derive(Clone, Copy)]
enum Extent {
    /// Always so many bytes.
    Fixed(u8),
    /// The number that the value begins with, and so many more.
    Counted(u8),
    /// Two texts, each with a zero byte at its end.
    Texts,
}

/// Every type, deprecated ones too.
const ROWS: &[(ElementType, Extent)] = &[
    (ElementType::Double, Extent::Fixed(8)),
    (ElementType::String, Extent::Counted(4)),
    (ElementType::EmbeddedDocument, Extent::Counted(0)),
    (ElementType::Array, Extent::Counted(0)),
    (ElementType::Binary, Extent::Counted(5)),
    (ElementType::Undefined, Extent::Fixed(0)),
    (ElementType::ObjectId, Extent::Fixed(12)),
    (ElementType::Boolean, Extent::Fixed(1)),
    (ElementType::DateTime, Extent::Fixed(8)),
    (ElementType::Null, Extent::Fixed(0)),
    (ElementType::RegularExpression, Extent::Texts),
    (ElementType::DbPointer, Extent::Counted(16)),
    (ElementType::JavaScriptCode, Extent::Counted(4)),
    (ElementType::Symbol, Extent::Counted(4)),
    (ElementType::JavaScriptCodeWithScope, Extent::Counted(0)),
    (ElementType::Int32, Extent::Fixed(4)),
    (ElementType::Timestamp, Extent::Fixed(8)),
    (ElementType::Int64, Extent::Fixed(8)),
    (ElementType::Decimal128, Extent::Fixed(16)),
    (ElementType::MinKey, Extent::Fixed(0)),
    (ElementType::MaxKey, Extent::Fixed(0)),
];

/// The rows by type byte: every element of every document is looked up here.
static SHAPES: [Option<Shape>; 256] = {
    let mut shapes = [None; 256];
    let mut at = 0;
    while at < ROWS.len() {
        let (kind, extent) = ROWS[at];
        shapes[kind as usize] = Some(Shape { kind, extent });
        at += 1;
    }
    shapes
};

impl Shape {
    /// `None` if the byte stands for no type.
    #[inline(always)]
    pub fn of(tag: u8) -> Option<Shape> {
        SHAPES[tag as usize]
    }

    /// How many bytes the value at the start of `bytes` takes, if they can be told.
    #[inline(always)]
    pub fn value_len(self, bytes: &[u8]) -> Option<usize> {
        match self.extent {
            Extent::Fixed(len) => Some(len as usize),
            Extent::Counted(more) => length(bytes)?.checked_add(more as usize),
            Extent::Texts => {
                let (pattern, rest) = split_cstring(bytes)?;
                let (options, _) = split_cstring(rest)?;
                Some(pattern.len() + options.len() + 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_types_of_the_format() {
        for tag in 0..=u8::MAX {
            let known = Shape::of(tag).map(|shape| shape.kind);
            assert_eq!(known, ElementType::from(tag), "type byte {tag}");
        }
    }
}
