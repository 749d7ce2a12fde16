//! No bytes make `wire::decode` panic, and what it takes survives a round trip.

use bytes::Bytes;
use wire::{Content, Envelope, Incoming};

/// OP_QUERY, OP_COMPRESSED, OP_MSG.
const OPCODES: [i32; 3] = [2004, 2012, 2013];

pub fn run(data: &[u8]) {
    check(data);
    // With a sound header in front the bytes get further.
    for opcode in OPCODES {
        let mut frame = Vec::with_capacity(16 + data.len());
        for number in [16 + data.len() as i32, 1, 0, opcode] {
            frame.extend(number.to_le_bytes());
        }
        frame.extend_from_slice(data);
        check(&frame);
    }
}

fn check(frame: &[u8]) {
    let Ok(Incoming { request_id, more_to_come, content: Ok(Content::Msg(msg)), .. }) =
        wire::decode(Bytes::copy_from_slice(frame))
    else {
        return;
    };
    for checksum in [false, true] {
        let envelope = Envelope { compressor: None, checksum };
        let Some(bytes) = wire::encode(&msg, request_id, more_to_come, envelope) else { return };
        let again = wire::decode(bytes.into()).expect("what was encoded is decoded");
        assert_eq!(again.request_id, request_id);
        assert_eq!(again.more_to_come, more_to_come);
        assert_eq!(again.content, Ok(Content::Msg(msg.clone())));
    }
}
