//! The sixteen bytes every message starts with.
//!
//! ```text
//! 0  length       whole message, these sixteen bytes included
//! 4  request_id   chosen by the sender
//! 8  response_to  the request a reply answers
//! 12 opcode
//! ```
//! All are little-endian int32.

use crate::Fault;

pub const HEADER_BYTES: usize = 16;

/// The longest message, as `hello` announces it.
pub const MESSAGE_BYTES_MAX: usize = 48_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Between [`HEADER_BYTES`] and [`MESSAGE_BYTES_MAX`].
    pub length: usize,
    pub request_id: i32,
    pub response_to: i32,
    pub opcode: i32,
}

/// The opcodes spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Reply,
    Query,
    Compressed,
    Msg,
}

/// The first bytes of protocols that are not spoken here. Some read as a length, for whose
/// message one would wait.
fn foreign(bytes: &[u8; HEADER_BYTES]) -> Option<Fault> {
    match bytes {
        // A TLS record of the handshake.
        [0x16, 0x03, 0..=4, ..] => Some(Fault::Tls),
        [b'G', b'E', b'T', b' ', ..]
        | [b'P', b'O', b'S', b'T', ..]
        | [b'H', b'E', b'A', b'D', ..]
        | [b'P', b'U', b'T', b' ', ..] => Some(Fault::Http),
        _ => None,
    }
}

impl Header {
    /// Reads a header and checks its length; what it says about the rest is
    /// checked by `decode`.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, Fault> {
        let [length, request_id, response_to, opcode] = fields(bytes);
        // A message of 790 bytes begins as a TLS record does: its opcode tells it apart.
        if Opcode::from_number(opcode).is_none()
            && let Some(fault) = foreign(bytes)
        {
            return Err(fault);
        }
        match usize::try_from(length) {
            Ok(length) if (HEADER_BYTES..=MESSAGE_BYTES_MAX).contains(&length) => {
                Ok(Header { length, request_id, response_to, opcode })
            }
            _ => Err(Fault::Length(length)),
        }
    }

    pub(crate) fn write(&self, out: &mut impl Extend<u8>) {
        // `length` is at most MESSAGE_BYTES_MAX, so it fits.
        out.extend((self.length as i32).to_le_bytes());
        out.extend(self.request_id.to_le_bytes());
        out.extend(self.response_to.to_le_bytes());
        out.extend(self.opcode.to_le_bytes());
    }
}

impl Opcode {
    pub const fn number(self) -> i32 {
        match self {
            Opcode::Reply => 1,
            Opcode::Query => 2004,
            Opcode::Compressed => 2012,
            Opcode::Msg => 2013,
        }
    }

    pub fn from_number(number: i32) -> Option<Opcode> {
        [Opcode::Reply, Opcode::Query, Opcode::Compressed, Opcode::Msg]
            .into_iter()
            .find(|opcode| opcode.number() == number)
    }
}

fn fields(bytes: &[u8; HEADER_BYTES]) -> [i32; 4] {
    let (fields, _) = bytes.as_chunks::<4>();
    let mut numbers = [0; 4];
    for (number, field) in numbers.iter_mut().zip(fields) {
        *number = i32::from_le_bytes(*field);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_length(length: i32) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    #[test]
    fn other_protocols_are_known_by_their_first_bytes() {
        let hello = *b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcde";
        assert_eq!(Header::parse(&hello), Err(Fault::Tls));
        assert_eq!(Header::parse(b"GET / HTTP/1.1\r\n"), Err(Fault::Http));
    }

    #[test]
    fn messages_of_any_length_are_no_other_protocol() {
        for length in (16..2_000_000).chain([0x0003_0316, 0x0116_0316, 0x0204_0316]) {
            let header = Header { length, request_id: 1, response_to: 0, opcode: 2013 };
            let mut bytes = Vec::new();
            header.write(&mut bytes);
            assert_eq!(Header::parse(bytes.as_slice().try_into().unwrap()), Ok(header));
        }
    }

    #[test]
    fn lengths_out_of_bounds_are_refused() {
        for length in [i32::MIN, -1, 0, 15, 48_000_001, i32::MAX] {
            assert_eq!(Header::parse(&with_length(length)), Err(Fault::Length(length)));
        }
        for length in [16, 48_000_000] {
            assert_eq!(Header::parse(&with_length(length)).unwrap().length, length as usize);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let header = Header { length: 21, request_id: -7, response_to: 9, opcode: 2013 };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        assert_eq!(Header::parse(bytes.as_slice().try_into().unwrap()), Ok(header));
    }
}
