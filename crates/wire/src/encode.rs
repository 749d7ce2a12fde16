//! From a message to bytes.

use crate::decode::{CHECKSUM_BYTES, CHECKSUM_PRESENT, EXHAUST_ALLOWED, MORE_TO_COME};
use crate::{Compressor, Envelope, HEADER_BYTES, Header, MESSAGE_BYTES_MAX, Msg, Opcode, compress};
use bytes::Buf;

/// What stands before the body of an OP_REPLY, the longer of the two heads:
/// header, flags, cursor, starting point, count.
const HEAD_BYTES_MAX: usize = HEADER_BYTES + 4 + 8 + 4 + 4;

/// AwaitCapable, which every server since 2008 sets.
const AWAIT_CAPABLE: u32 = 8;
/// QueryFailure: the document is an error, under `$err`, and no result.
const QUERY_FAILURE: u32 = 2;

/// A reply in three pieces, so that the body goes to the socket from where it
/// was built.
#[derive(Debug, Clone)]
pub struct Outgoing {
    head: Head,
    body: Vec<u8>,
    tail: Option<[u8; CHECKSUM_BYTES]>,
}

#[derive(Debug, Clone)]
struct Head {
    bytes: [u8; HEAD_BYTES_MAX],
    length: usize,
}

impl Outgoing {
    /// An OP_MSG.
    pub fn msg(
        envelope: Envelope,
        request_id: i32,
        response_to: i32,
        more_to_come: bool,
        body: Vec<u8>,
    ) -> Outgoing {
        let checksum = envelope.checksum && envelope.compressor.is_none();
        let mut flags = 0;
        if checksum {
            flags |= CHECKSUM_PRESENT;
        }
        if more_to_come {
            flags |= MORE_TO_COME;
        }
        if let Some(compressor) = envelope.compressor
            && let Some(outgoing) = compressed(compressor, request_id, response_to, flags, &body)
        {
            return outgoing;
        }
        let tail = if checksum { CHECKSUM_BYTES } else { 0 };
        let mut head = Head::new();
        let length = HEADER_BYTES + 4 + 1 + body.len() + tail;
        head.header(length, request_id, response_to, Opcode::Msg);
        head.extend(flags.to_le_bytes());
        head.extend([0]);
        let tail = checksum
            .then(|| crc32c::crc32c_append(crc32c::crc32c(head.as_slice()), &body).to_le_bytes());
        Outgoing { head, body, tail }
    }

    /// The OP_REPLY that answers an OP_QUERY.
    pub fn reply(request_id: i32, response_to: i32, body: Vec<u8>) -> Outgoing {
        Outgoing::flagged_reply(AWAIT_CAPABLE, request_id, response_to, body)
    }

    /// The OP_REPLY to a query of a collection that failed.
    pub fn query_failure(request_id: i32, response_to: i32, body: Vec<u8>) -> Outgoing {
        Outgoing::flagged_reply(AWAIT_CAPABLE | QUERY_FAILURE, request_id, response_to, body)
    }

    fn flagged_reply(flags: u32, request_id: i32, response_to: i32, body: Vec<u8>) -> Outgoing {
        let mut head = Head::new();
        head.header(HEAD_BYTES_MAX + body.len(), request_id, response_to, Opcode::Reply);
        head.extend(flags.to_le_bytes());
        head.extend(0_i64.to_le_bytes());
        head.extend(0_i32.to_le_bytes());
        head.extend(1_i32.to_le_bytes());
        Outgoing { head, body, tail: None }
    }

    pub fn len(&self) -> usize {
        self.head.length + self.body.len() + self.tail.map_or(0, |tail| tail.len())
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    /// All of it, for a vectored write.
    pub fn buf(&self) -> impl Buf {
        let tail: &[u8] = self.tail.as_ref().map_or(&[], |tail| tail);
        self.head.as_slice().chain(self.body.as_slice()).chain(tail)
    }
}

impl Head {
    fn new() -> Head {
        Head { bytes: [0; HEAD_BYTES_MAX], length: 0 }
    }

    fn header(&mut self, length: usize, request_id: i32, response_to: i32, opcode: Opcode) {
        Header { length, request_id, response_to, opcode: opcode.number() }.write(self);
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Extend<u8> for Head {
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        for (place, byte) in self.bytes[self.length..].iter_mut().zip(bytes) {
            *place = byte;
            self.length += 1;
        }
    }
}

/// `None` where compression does not make the message shorter.
fn compressed(
    compressor: Compressor,
    request_id: i32,
    response_to: i32,
    flags: u32,
    body: &[u8],
) -> Option<Outgoing> {
    let mut plain = Vec::with_capacity(4 + 1 + body.len());
    plain.extend(flags.to_le_bytes());
    plain.push(0);
    plain.extend_from_slice(body);
    let packed = compressor.compress(&plain)?;
    if packed.len() + compress::PREFIX_BYTES > plain.len() {
        return None;
    }
    let mut head = Head::new();
    let length = HEADER_BYTES + compress::PREFIX_BYTES + packed.len();
    head.header(length, request_id, response_to, Opcode::Compressed);
    prefix(&mut head, Opcode::Msg, plain.len(), compressor);
    Some(Outgoing { head, body: packed, tail: None })
}

fn prefix(out: &mut impl Extend<u8>, opcode: Opcode, plain: usize, compressor: Compressor) {
    out.extend(opcode.number().to_le_bytes());
    out.extend((plain as i32).to_le_bytes());
    out.extend([compressor.number()]);
}

/// A whole message in one piece, as a client sends it: `None` if it would be
/// longer than a message may be.
pub fn encode(
    msg: &Msg,
    request_id: i32,
    more_to_come: bool,
    envelope: Envelope,
) -> Option<Vec<u8>> {
    let mut flags = 0;
    if more_to_come {
        flags |= MORE_TO_COME;
    }
    if msg.exhaust_allowed {
        flags |= EXHAUST_ALLOWED;
    }
    let checksum = envelope.checksum && envelope.compressor.is_none();
    if checksum {
        flags |= CHECKSUM_PRESENT;
    }
    let mut payload = flags.to_le_bytes().to_vec();
    payload.push(0);
    payload.extend_from_slice(&msg.body);
    for sequence in &msg.sequences {
        payload.push(1);
        let length = 4 + sequence.name.len() + 1 + sequence.documents.len();
        payload.extend((length as u32).to_le_bytes());
        payload.extend_from_slice(sequence.name.as_bytes());
        payload.push(0);
        payload.extend_from_slice(&sequence.documents);
    }
    let mut opcode = Opcode::Msg;
    if let Some(compressor) = envelope.compressor {
        let packed = compressor.compress(&payload)?;
        let mut outer = Vec::with_capacity(compress::PREFIX_BYTES + packed.len());
        prefix(&mut outer, Opcode::Msg, payload.len(), compressor);
        outer.extend(packed);
        payload = outer;
        opcode = Opcode::Compressed;
    }
    let length = HEADER_BYTES + payload.len() + if checksum { CHECKSUM_BYTES } else { 0 };
    if length > MESSAGE_BYTES_MAX {
        return None;
    }
    let mut frame = Vec::with_capacity(length);
    Header { length, request_id, response_to: 0, opcode: opcode.number() }.write(&mut frame);
    frame.extend(payload);
    if checksum {
        frame.extend(crc32c::crc32c(&frame).to_le_bytes());
    }
    Some(frame)
}
