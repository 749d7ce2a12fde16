//! From a frame to a message.

use crate::{
    Compressor, Content, DEPTH_MAX, Envelope, Fault, HEADER_BYTES, Header, Incoming,
    MESSAGE_BYTES_MAX, Msg, Opcode, Query, Sequence, compress,
};
use bytes::Bytes;
use value::check;

/// Flag bits of OP_MSG. The low sixteen are required: a bit that is not known
/// must not be ignored.
pub(crate) const CHECKSUM_PRESENT: u32 = 1;
pub(crate) const MORE_TO_COME: u32 = 1 << 1;
pub(crate) const EXHAUST_ALLOWED: u32 = 1 << 16;
const REQUIRED: u32 = 0xffff;

pub(crate) const CHECKSUM_BYTES: usize = 4;

/// A bulkWrite has two, which is the most any command has.
const SEQUENCES_MAX: usize = 2;

/// Decodes one whole message, header included. An error here is fatal: the
/// connection ends. A fault in the content alone is inside [`Incoming`].
pub fn decode(frame: Bytes) -> Result<Incoming, Fault> {
    let bytes = frame.first_chunk().ok_or(Fault::Truncated)?;
    let header = Header::parse(bytes)?;
    if header.length != frame.len() {
        return Err(Fault::FrameLength { header: header.length, frame: frame.len() });
    }
    let payload = frame.slice(HEADER_BYTES..);
    match Opcode::from_number(header.opcode) {
        Some(Opcode::Compressed) => {
            let (opcode, compressor, payload) = decompress(&payload)?;
            // A checksum is over an uncompressed message and its header, so a
            // compressed one has none.
            let envelope = Envelope { compressor: Some(compressor), checksum: false };
            content(opcode, header.request_id, payload, None)
                .map(|incoming| Incoming { envelope, ..incoming })
        }
        _ => content(header.opcode, header.request_id, payload, Some(&frame)),
    }
}

/// Bytes of a whole message once it is decompressed, as far as its sender can be believed: a
/// message that turns out longer is refused.
pub fn plain_bytes(frame: &[u8]) -> usize {
    announced_bytes(frame).unwrap_or(0).max(frame.len())
}

/// What decoding a frame takes beside the frame.
pub fn unpacked_bytes(frame: &[u8]) -> usize {
    announced_bytes(frame).unwrap_or(0).min(MESSAGE_BYTES_MAX)
}

/// The size that a compressed message announces.
fn announced_bytes(frame: &[u8]) -> Option<usize> {
    let header = Header::parse(frame.first_chunk()?).ok()?;
    let prefix = frame[HEADER_BYTES..].first_chunk::<{ compress::PREFIX_BYTES }>()?;
    let [_, _, _, _, a, b, c, d, _] = *prefix;
    match Opcode::from_number(header.opcode)? {
        Opcode::Compressed => usize::try_from(i32::from_le_bytes([a, b, c, d])).ok(),
        _ => None,
    }
}

/// Whether the sender of a message waits for a reply, as its first bytes tell. Those of a
/// compressed message do not.
pub fn wants_reply(begin: &[u8]) -> Option<bool> {
    let header = Header::parse(begin.first_chunk()?).ok()?;
    match Opcode::from_number(header.opcode)? {
        Opcode::Msg => {
            let flags = begin.get(HEADER_BYTES..)?.first_chunk()?;
            Some(u32::from_le_bytes(*flags) & MORE_TO_COME == 0)
        }
        Opcode::Query => Some(true),
        Opcode::Compressed | Opcode::Reply => None,
    }
}

fn decompress(payload: &Bytes) -> Result<(i32, Compressor, Bytes), Fault> {
    let Some((prefix, data)) = payload.split_first_chunk::<{ compress::PREFIX_BYTES }>() else {
        return Err(Fault::Compressed("Invalid compressed message header"));
    };
    let [a, b, c, d, e, f, g, h, number] = *prefix;
    let opcode = i32::from_le_bytes([a, b, c, d]);
    let size = i32::from_le_bytes([e, f, g, h]);
    let compressor = Compressor::from_number(number)?;
    Ok((opcode, compressor, compressor.decompress(data, size)?.into()))
}

/// `frame` is there where a checksum can be.
fn content(
    opcode: i32,
    request_id: i32,
    payload: Bytes,
    frame: Option<&Bytes>,
) -> Result<Incoming, Fault> {
    let mut incoming = Incoming {
        request_id,
        envelope: Envelope::default(),
        more_to_come: false,
        content: Err(Fault::Truncated),
    };
    let mut reader = Reader { bytes: payload };
    incoming.content = match Opcode::from_number(opcode) {
        Some(Opcode::Msg) => {
            let flags = reader.u32()?;
            if flags & REQUIRED & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
                return Err(Fault::Flags(flags));
            }
            incoming.more_to_come = flags & MORE_TO_COME != 0;
            if flags & CHECKSUM_PRESENT != 0 {
                incoming.envelope.checksum = true;
                verify(&mut reader, frame)?;
            }
            sections(reader, flags & EXHAUST_ALLOWED != 0).map(Content::Msg)
        }
        Some(Opcode::Query) => query(reader).map(Content::Query),
        Some(Opcode::Reply | Opcode::Compressed) | None => return Err(Fault::Opcode(opcode)),
    };
    match incoming.content {
        Err(fault) if fault.is_fatal() => Err(fault),
        _ => Ok(incoming),
    }
}

/// Takes the checksum off the end and compares it.
fn verify(reader: &mut Reader, frame: Option<&Bytes>) -> Result<(), Fault> {
    let end = reader.bytes.len().checked_sub(CHECKSUM_BYTES).ok_or(Fault::Truncated)?;
    let stored = Reader { bytes: reader.bytes.split_off(end) }.u32()?;
    match frame {
        Some(frame) if crc32c::crc32c(&frame[..frame.len() - CHECKSUM_BYTES]) != stored => {
            Err(Fault::Checksum)
        }
        _ => Ok(()),
    }
}

fn sections(mut reader: Reader, exhaust_allowed: bool) -> Result<Msg, Fault> {
    let mut body = None;
    let mut sequences: Vec<Sequence> = Vec::new();
    while !reader.bytes.is_empty() {
        match reader.byte()? {
            0 if body.is_some() => return Err(Fault::TwoBodies),
            0 => body = Some(reader.document()?),
            1 if sequences.len() == SEQUENCES_MAX => return Err(Fault::TooManySequences),
            1 => {
                let sequence = reader.sequence()?;
                if sequences.iter().any(|other| other.name == sequence.name) {
                    return Err(Fault::DuplicateSequence(sequence.name));
                }
                sequences.push(sequence);
            }
            kind => return Err(Fault::SectionKind(kind)),
        }
    }
    let body = body.ok_or(Fault::NoBody)?;
    for sequence in &sequences {
        if has_field(&body, &sequence.name) {
            return Err(Fault::SequenceInBody(sequence.name.clone()));
        }
    }
    Ok(Msg { exhaust_allowed, body, sequences })
}

fn has_field(body: &[u8], name: &str) -> bool {
    bson::RawDocument::from_bytes(body).is_ok_and(|body| value::element::get(body, name).is_some())
}

/// ```text
/// 0  flags
/// 4  namespace, ending in zero
///    documents to skip, documents to return
///    query
///    fields to return, optional
/// ```
fn query(mut reader: Reader) -> Result<Query, Fault> {
    reader.u32()?;
    let collection = reader.name()?;
    reader.u32()?;
    reader.u32()?;
    let body = reader.document()?;
    Ok(Query { collection, body })
}

/// Takes fields off the front of a payload.
struct Reader {
    bytes: Bytes,
}

impl Reader {
    fn take(&mut self, length: usize) -> Result<Bytes, Fault> {
        if length > self.bytes.len() {
            return Err(Fault::Truncated);
        }
        Ok(self.bytes.split_to(length))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.first().ok_or(Fault::Truncated)?;
        self.bytes = self.bytes.slice(1..);
        Ok(byte)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let number = *self.bytes.first_chunk().ok_or(Fault::Truncated)?;
        self.bytes = self.bytes.slice(4..);
        Ok(u32::from_le_bytes(number))
    }

    /// A string that ends in a zero byte.
    fn name(&mut self) -> Result<String, Fault> {
        let end = self.bytes.iter().position(|byte| *byte == 0).ok_or(Fault::Truncated)?;
        let name = self.take(end + 1)?;
        match std::str::from_utf8(&name[..end]) {
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(Fault::Name),
        }
    }

    fn document(&mut self) -> Result<Bytes, Fault> {
        let length =
            check::document(&self.bytes, DEPTH_MAX).map_err(Fault::Document)?.as_bytes().len();
        self.take(length)
    }

    /// ```text
    /// 0  length of all of this
    /// 4  name, ending in zero
    ///    documents
    /// ```
    fn sequence(&mut self) -> Result<Sequence, Fault> {
        let length = self.u32()? as i32;
        let rest = usize::try_from(length).ok().and_then(|length| length.checked_sub(4));
        let rest = rest.filter(|rest| *rest <= self.bytes.len());
        let Some(rest) = rest else { return Err(Fault::SequenceLength(length)) };
        let mut section = Reader { bytes: self.take(rest)? };
        let name = section.name()?;
        let documents = section.bytes.clone();
        let mut unchecked: &[u8] = &documents;
        while !unchecked.is_empty() {
            let document = check::document(unchecked, DEPTH_MAX).map_err(Fault::Document)?;
            unchecked = &unchecked[document.as_bytes().len()..];
        }
        Ok(Sequence { name, documents })
    }
}
