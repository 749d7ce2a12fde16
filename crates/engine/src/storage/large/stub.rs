//! What stands in a record in place of a large value.
//!
//! A stub is a binary value of a subtype of its own. For a value that is kept whole its
//! payload is
//!
//! ```text
//! 0   secret  8 bytes   the store's own, so that no client can forge a stub
//! 8   number  u32       the value's key is <collection> <record> <number>
//! 12  type    u8        its BSON type
//! 13  length  u32       its size in bytes
//! 17  items   u32       of an array, how many elements it has
//! ```
//!
//! (stubs that were written before there were `items` end without), and for an array in
//! segments
//!
//! ```text
//! 0   secret  8 bytes
//! 8   length  u32
//! 12  items   u32
//! 16  number  u32       of each segment
//!     items   u32
//!     bytes   u32
//! ```

use super::segments::Segment;
use bson::spec::ElementType;
use value::{DocumentWriter, Element};

const WHOLE: u8 = 0xFB;
const SEGMENTS: u8 = 0xFC;
const PAYLOAD_BYTES: usize = 21;
/// Length and subtype of a stub.
const HEADER_BYTES: usize = 4 + 1;
/// A stub that does not know how many elements it stands for.
const SHORT_PAYLOAD_BYTES: usize = PAYLOAD_BYTES - 4;
const SEGMENT_BYTES: usize = 12;

pub type Secret = [u8; 8];

#[derive(Debug, Clone, Copy)]
pub struct Stub<'a> {
    pub kind: ElementType,
    /// The size of the value.
    pub length: u32,
    /// How many elements an array has, where that is known.
    pub items: Option<u32>,
    pub place: ValuePlace<'a>,
}

/// Where the value is.
#[derive(Debug, Clone, Copy)]
pub enum ValuePlace<'a> {
    Whole(u32),
    Segments(Segments<'a>),
}

/// The segments of an array, as the stub lists them.
#[derive(Debug, Clone, Copy)]
pub struct Segments<'a> {
    rows: &'a [[u8; SEGMENT_BYTES]],
}

impl<'a> Stub<'a> {
    pub fn read(element: &Element<'a>, secret: &Secret) -> Option<Stub<'a>> {
        if element.kind != ElementType::Binary {
            return None;
        }
        let (subtype, payload) = element.bytes.get(4..)?.split_first()?;
        match *subtype {
            WHOLE => read_whole(payload.strip_prefix(secret)?),
            SEGMENTS => read_segments(payload.strip_prefix(secret)?),
            _ => None,
        }
    }

    /// The numbers that the value takes.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (whole, segments) = match self.place {
            ValuePlace::Whole(number) => (Some(number), None),
            ValuePlace::Segments(segments) => (None, Some(segments)),
        };
        let segments = segments.into_iter().flat_map(Segments::iter);
        whole.into_iter().chain(segments.map(|segment| segment.number))
    }
}

impl<'a> Segments<'a> {
    pub fn iter(self) -> impl Iterator<Item = Segment> + use<'a> {
        self.rows.iter().map(|row| {
            let [a, b, c, d, e, f, g, h, i, j, k, l] = *row;
            Segment {
                number: u32::from_be_bytes([a, b, c, d]),
                items: u32::from_be_bytes([e, f, g, h]),
                bytes: u32::from_be_bytes([i, j, k, l]),
            }
        })
    }
}

fn read_whole(payload: &[u8]) -> Option<Stub<'_>> {
    const REST: usize = PAYLOAD_BYTES - size_of::<Secret>();
    const SHORT_REST: usize = SHORT_PAYLOAD_BYTES - size_of::<Secret>();
    if !matches!(payload.len(), REST | SHORT_REST) {
        return None;
    }
    let (number, payload) = payload.split_first_chunk()?;
    let (kind, payload) = payload.split_first()?;
    let (length, payload) = payload.split_first_chunk()?;
    let kind = ElementType::from(*kind)?;
    let items = payload.first_chunk().map(|items| u32::from_be_bytes(*items));
    Some(Stub {
        kind,
        length: u32::from_be_bytes(*length),
        items: items.filter(|_| kind == ElementType::Array),
        place: ValuePlace::Whole(u32::from_be_bytes(*number)),
    })
}

fn read_segments(payload: &[u8]) -> Option<Stub<'_>> {
    let (length, payload) = payload.split_first_chunk()?;
    let (items, payload) = payload.split_first_chunk()?;
    let (rows, rest) = payload.as_chunks();
    rest.is_empty().then_some(Stub {
        kind: ElementType::Array,
        length: u32::from_be_bytes(*length),
        items: Some(u32::from_be_bytes(*items)),
        place: ValuePlace::Segments(Segments { rows }),
    })
}

/// Writes the stub of a value that is kept whole, and gives its size.
pub fn write_whole(
    value: &Element<'_>,
    number: u32,
    items: u32,
    secret: &Secret,
    writer: &mut DocumentWriter,
) -> usize {
    let mut stub = Vec::with_capacity(HEADER_BYTES + PAYLOAD_BYTES);
    begin(&mut stub, PAYLOAD_BYTES, WHOLE, secret);
    stub.extend_from_slice(&number.to_be_bytes());
    stub.push(value.kind as u8);
    stub.extend_from_slice(&(value.bytes.len() as u32).to_be_bytes());
    stub.extend_from_slice(&items.to_be_bytes());
    finish(value.key, &stub, writer)
}

/// Writes the stub of an array in segments, and gives its size.
pub fn write_segments(
    array: &Element<'_>,
    segments: &[Segment],
    secret: &Secret,
    writer: &mut DocumentWriter,
) -> usize {
    let payload_bytes = secret.len() + 4 + 4 + segments.len() * SEGMENT_BYTES;
    let mut stub = Vec::with_capacity(HEADER_BYTES + payload_bytes);
    begin(&mut stub, payload_bytes, SEGMENTS, secret);
    stub.extend_from_slice(&(array.bytes.len() as u32).to_be_bytes());
    let items: u32 = segments.iter().map(|segment| segment.items).sum();
    stub.extend_from_slice(&items.to_be_bytes());
    for segment in segments {
        stub.extend_from_slice(&segment.number.to_be_bytes());
        stub.extend_from_slice(&segment.items.to_be_bytes());
        stub.extend_from_slice(&segment.bytes.to_be_bytes());
    }
    finish(array.key, &stub, writer)
}

fn begin(stub: &mut Vec<u8>, payload_bytes: usize, subtype: u8, secret: &Secret) {
    stub.extend_from_slice(&(payload_bytes as u32).to_le_bytes());
    stub.push(subtype);
    stub.extend_from_slice(secret);
}

fn finish(key: &str, stub: &[u8], writer: &mut DocumentWriter) -> usize {
    writer.copy(Element { kind: ElementType::Binary, key, bytes: stub });
    stub.len()
}
