//! How many bytes a value takes, by its type.

use crate::element::{length, split_cstring};
use bson::spec::ElementType;

/// A type by its byte, and how the length of its values is told. The two bytes stay in
/// registers: every element of every document passes here.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    tag: u8,
    extent: u8,
}

enum Extent {
    /// Always so many bytes.
    Fixed(u8),
    /// The number that the value begins with, and so many more.
    Counted(u8),
    /// Two texts, each with a zero byte at its end.
    Texts,
}

impl Extent {
    /// From here on lengths are counted, the bytes beside them added.
    const COUNTED: u8 = 0x40;
    const TEXTS: u8 = 0x80;
    const UNKNOWN: u8 = 0xFF;

    const fn to_byte(&self) -> u8 {
        match *self {
            Extent::Fixed(len) => len,
            Extent::Counted(more) => Extent::COUNTED + more,
            Extent::Texts => Extent::TEXTS,
        }
    }
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

/// The rows by type byte.
static EXTENTS: [u8; 256] = {
    let mut extents = [Extent::UNKNOWN; 256];
    let mut at = 0;
    while at < ROWS.len() {
        extents[ROWS[at].0 as usize] = ROWS[at].1.to_byte();
        at += 1;
    }
    extents
};

static KINDS: [ElementType; 256] = {
    let mut kinds = [ElementType::Null; 256];
    let mut at = 0;
    while at < ROWS.len() {
        kinds[ROWS[at].0 as usize] = ROWS[at].0;
        at += 1;
    }
    kinds
};

impl Shape {
    /// `None` if the byte stands for no type.
    #[inline(always)]
    pub fn of(tag: u8) -> Option<Shape> {
        let extent = EXTENTS[tag as usize];
        if extent == Extent::UNKNOWN { None } else { Some(Shape { tag, extent }) }
    }

    #[inline(always)]
    pub fn kind(self) -> ElementType {
        KINDS[self.tag as usize]
    }

    /// How many bytes the value at the start of `bytes` takes, if they can be told.
    #[inline(always)]
    pub fn value_len(self, bytes: &[u8]) -> Option<usize> {
        match self.extent {
            len if len < Extent::COUNTED => Some(len as usize),
            Extent::TEXTS => texts_len(bytes),
            counted => length(bytes)?.checked_add((counted - Extent::COUNTED) as usize),
        }
    }
}

#[cold]
fn texts_len(bytes: &[u8]) -> Option<usize> {
    let (pattern, rest) = split_cstring(bytes)?;
    let (options, _) = split_cstring(rest)?;
    Some(pattern.len() + options.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_types_of_the_format() {
        for tag in 0..=u8::MAX {
            let known = Shape::of(tag).map(Shape::kind);
            assert_eq!(known, ElementType::from(tag), "type byte {tag}");
        }
    }
}
