//! Messages of both kinds, whole, broken and lying.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

extern crate freeboard_wire as wire;

use bson::{RawDocumentBuf, rawdoc};
use bytes::{Buf, Bytes};
use proptest::prelude::*;
use wire::{Compressor, Content, Envelope, Fault, Incoming, Msg, Outgoing, Sequence, decode};

const CHECKSUM: u32 = 1;

fn body(document: RawDocumentBuf) -> Vec<u8> {
    [vec![0], document.into_bytes()].concat()
}

fn sequence(name: &str, documents: &[RawDocumentBuf]) -> Vec<u8> {
    let documents: Vec<u8> = documents.iter().flat_map(|d| d.as_bytes().to_vec()).collect();
    let length = 4 + name.len() + 1 + documents.len();
    [vec![1], (length as i32).to_le_bytes().to_vec(), name.into(), vec![0], documents].concat()
}

fn frame(opcode: i32, payload: &[u8]) -> Vec<u8> {
    let header = [16 + payload.len() as i32, 42, 0, opcode].map(i32::to_le_bytes).concat();
    [&header, payload].concat()
}

fn msg(flags: u32, sections: &[Vec<u8>]) -> Vec<u8> {
    frame(2013, &[flags.to_le_bytes().to_vec(), sections.concat()].concat())
}

fn content(frame: Vec<u8>) -> Result<Content, Fault> {
    decode(frame.into()).and_then(|incoming| incoming.content)
}

fn ping() -> RawDocumentBuf {
    rawdoc! { "ping": 1, "$db": "admin" }
}

#[test]
fn body_and_sequences_are_slices_of_the_frame() {
    let documents = [rawdoc! { "_id": 1 }, rawdoc! { "_id": 2 }];
    let sections = [
        sequence("ops", &documents),
        body(rawdoc! { "bulkWrite": 1 }),
        sequence("nsInfo", &documents[..1]),
    ];
    let bytes = Bytes::from(msg(0, &sections));
    let range = bytes.as_ptr_range();
    let incoming = decode(bytes.clone()).unwrap();
    assert_eq!(incoming.request_id, 42);
    let Content::Msg(msg) = incoming.content.unwrap() else { panic!("an OP_MSG") };
    assert_eq!(msg.body, rawdoc! { "bulkWrite": 1 }.as_bytes());
    assert!(range.contains(&msg.body.as_ptr()));
    assert_eq!(msg.sequences.len(), 2);
    assert_eq!(msg.sequences[0].name, "ops");
    assert_eq!(msg.sequences[0].documents.len(), 2 * documents[0].as_bytes().len());
    assert!(range.contains(&msg.sequences[1].documents.as_ptr()));
}

#[test]
fn flags_are_read_and_unknown_required_ones_are_fatal() {
    let incoming = decode(msg(2 | 1 << 16, &[body(ping())]).into()).unwrap();
    assert!(incoming.more_to_come);
    assert!(matches!(incoming.content, Ok(Content::Msg(Msg { exhaust_allowed: true, .. }))));
    // An unknown optional bit is ignored.
    assert!(decode(msg(1 << 20, &[body(ping())]).into()).unwrap().content.is_ok());
    for bit in 2..16 {
        let fault = decode(msg(1 << bit, &[body(ping())]).into()).unwrap_err();
        assert_eq!(fault, Fault::Flags(1 << bit));
        assert_eq!(fault.to_error().code().number(), 223);
    }
}

#[test]
fn a_checksum_is_verified() {
    let mut good = msg(CHECKSUM, &[body(ping()), vec![0; 4]]);
    let end = good.len() - 4;
    let sum = crc32c(&good[..end]);
    good[end..].copy_from_slice(&sum.to_le_bytes());
    assert!(decode(good.clone().into()).unwrap().envelope.checksum);
    good[25] ^= 1;
    let fault = decode(good.into()).unwrap_err();
    assert_eq!(fault, Fault::Checksum);
    assert!(fault.is_fatal());
    // There is no room for one.
    assert!(decode(msg(CHECKSUM, &[]).into()).is_err());
}

/// Bit by bit, so that it does not share a mistake with the library.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut crc: u32, byte| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
        crc
    })
}

#[test]
fn sections_that_make_no_sense_are_refused_with_mongodbs_codes() {
    let one = || sequence("documents", &[rawdoc! { "_id": 1 }]);
    let insert = || body(rawdoc! { "insert": "c" });
    let code = |sections: &[Vec<u8>]| {
        let fault = content(msg(0, sections)).unwrap_err();
        assert!(!fault.is_fatal());
        fault.to_error().code().number()
    };
    assert_eq!(code(&[insert(), insert()]), 40430);
    assert_eq!(code(&[insert(), one(), one()]), 40431);
    assert_eq!(code(&[insert(), vec![2]]), 40432);
    assert_eq!(code(&[body(rawdoc! { "insert": "c", "documents": [] }), one()]), 40433);
    assert_eq!(code(&[one()]), 40587);
    assert_eq!(code(&[]), 40587);

    let three = ["a", "b", "c"].map(|name| sequence(name, &[])).concat();
    let fault = decode(msg(0, &[insert(), three]).into()).unwrap_err();
    assert_eq!(fault, Fault::TooManySequences);
}

#[test]
fn lying_lengths_are_refused() {
    for lie in [i32::MIN, -1, 0, 3, 4, 1000, i32::MAX] {
        let mut section = sequence("documents", &[rawdoc! { "_id": 1 }]);
        section[1..5].copy_from_slice(&lie.to_le_bytes());
        assert!(content(msg(0, &[body(ping()), section])).is_err(), "sequence {lie}");
        let mut section = body(ping());
        section[1..5].copy_from_slice(&lie.to_le_bytes());
        assert!(content(msg(0, &[section])).is_err(), "document {lie}");
        let mut message = msg(0, &[body(ping())]);
        message[..4].copy_from_slice(&lie.to_le_bytes());
        assert!(decode(message.into()).unwrap_err().is_fatal(), "message {lie}");
    }
}

#[test]
fn every_truncation_is_refused() {
    let sections = [body(ping()), sequence("documents", &[rawdoc! { "_id": "x" }])].concat();
    for end in 0..sections.len() {
        let cut = msg(0, &[sections[..end].to_vec()]);
        // A message that ends after its body is whole.
        let whole = end == ping().as_bytes().len() + 1;
        assert_eq!(content(cut).is_ok(), whole, "{end}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (depth, ok) in [(150, true), (201, false), (10_000, false)] {
        let mut document = rawdoc! {};
        for _ in 1..depth {
            document = rawdoc! { "a": document };
        }
        let result = content(msg(0, &[body(document)]));
        assert_eq!(result.is_ok(), ok, "{depth}");
        if let Err(fault) = result {
            assert_eq!(fault.to_error().code().number(), 15);
            assert!(!fault.is_fatal());
        }
    }
}

#[test]
fn opcodes_of_old_are_fatal() {
    for opcode in [1, 2001, 2002, 2005, 2006, 2007, 2010, 2011, 0, -1] {
        assert_eq!(decode(frame(opcode, &[0; 64]).into()).unwrap_err(), Fault::Opcode(opcode));
    }
}

#[test]
fn a_query_is_read() {
    let hello = rawdoc! { "isMaster": 1 };
    let payload = [
        &[0; 4],
        b"admin.$cmd\0".as_slice(),
        &0_i32.to_le_bytes(),
        &(-1_i32).to_le_bytes(),
        hello.as_bytes(),
    ]
    .concat();
    let Ok(Content::Query(query)) = content(frame(2004, &payload)) else { panic!("an OP_QUERY") };
    assert_eq!(query.collection, "admin.$cmd");
    assert_eq!(query.body, hello.as_bytes());
    for end in 0..payload.len() {
        assert!(content(frame(2004, &payload[..end])).is_err(), "{end}");
    }
}

#[test]
fn compression_is_not_trusted() {
    let inner = [&0_u32.to_le_bytes(), body(ping()).as_slice()].concat();
    let wrap = |opcode: i32, size: i32, compressor: u8, data: &[u8]| {
        let prefix = [opcode.to_le_bytes(), size.to_le_bytes()].concat();
        decode(frame(2012, &[&prefix, [compressor].as_slice(), data].concat()).into())
    };
    let size = inner.len() as i32;
    assert_eq!(wrap(2013, size, 0, &inner).unwrap().envelope.compressor, Some(Compressor::Noop));
    for result in [
        wrap(2013, size + 1, 0, &inner),
        wrap(2013, -1, 0, &inner),
        wrap(2013, i32::MAX, 1, &inner),
        wrap(2013, size, 9, &inner),
        wrap(2013, size, 3, b"junk"),
        // A compressed message in a compressed message.
        wrap(2012, size, 0, &inner),
    ] {
        assert!(result.unwrap_err().is_fatal());
    }
    assert!(decode(frame(2012, &[0; 8]).into()).is_err());
}

#[test]
fn a_reply_is_head_and_body() {
    let reply = rawdoc! { "ok": 1.0 };
    let envelope = Envelope { compressor: None, checksum: true };
    let outgoing = Outgoing::msg(envelope, 5, 42, true, reply.clone().into_bytes());
    let bytes = bytes(&outgoing);
    assert_eq!(bytes.len(), outgoing.len());
    assert_eq!(bytes[8..12], 42_i32.to_le_bytes());
    let incoming = decode(bytes).unwrap();
    assert!(incoming.more_to_come && incoming.envelope.checksum);
    let Ok(Content::Msg(msg)) = incoming.content else { panic!("an OP_MSG") };
    assert_eq!(msg.body, reply.as_bytes());

    let legacy = Outgoing::reply(5, 42, reply.clone().into_bytes());
    let bytes = self::bytes(&legacy);
    assert_eq!(bytes.len(), 36 + reply.as_bytes().len());
    assert_eq!(bytes[..4], (bytes.len() as i32).to_le_bytes());
    assert_eq!(bytes[12..16], 1_i32.to_le_bytes());
    assert_eq!(bytes[32..36], 1_i32.to_le_bytes());
    assert_eq!(bytes[16..20], 8_u32.to_le_bytes());
    let failure = Outgoing::query_failure(5, 42, reply.into_bytes());
    assert_eq!(self::bytes(&failure)[16..20], 10_u32.to_le_bytes());
}

#[test]
fn a_reply_is_compressed_where_that_helps() {
    let long = rawdoc! { "text": "x".repeat(10_000) };
    for compressor in Compressor::NEGOTIABLE {
        let envelope = Envelope { compressor: Some(compressor), checksum: false };
        let outgoing = Outgoing::msg(envelope, 5, 42, false, long.clone().into_bytes());
        assert!(outgoing.len() < 2_000, "{compressor:?}");
        let incoming = decode(bytes(&outgoing)).unwrap();
        assert_eq!(incoming.envelope, envelope);
        let Ok(Content::Msg(msg)) = incoming.content else { panic!("an OP_MSG") };
        assert_eq!(msg.body, long.as_bytes());

        let short = Outgoing::msg(envelope, 5, 42, false, rawdoc! { "ok": 1.0 }.into_bytes());
        assert_eq!(decode(bytes(&short)).unwrap().envelope.compressor, None);
    }
}

fn bytes(outgoing: &Outgoing) -> Bytes {
    let mut buf = outgoing.buf();
    buf.copy_to_bytes(buf.remaining())
}

fn documents() -> impl Strategy<Value = RawDocumentBuf> {
    (any::<i32>(), "[a-z]{0,20}", any::<bool>()).prop_map(
        |(number, text, flag)| rawdoc! { "n": number, "deep": { "text": text, "flags": [flag] } },
    )
}

proptest! {
    #[test]
    fn messages_come_back(
        command in documents(),
        sequences in prop::collection::vec(prop::collection::vec(documents(), 0..5), 0..3),
        request_id in any::<i32>(),
        more_to_come in any::<bool>(),
        exhaust_allowed in any::<bool>(),
        checksum in any::<bool>(),
        compressor in prop::option::of(prop::sample::select(Compressor::NEGOTIABLE.to_vec())),
    ) {
        let sequences = sequences.into_iter().enumerate().map(|(place, documents)| Sequence {
            name: format!("sequence{place}"),
            documents: documents.iter().flat_map(|d| d.as_bytes().to_vec()).collect(),
        });
        let msg = Msg {
            exhaust_allowed,
            body: command.into_bytes().into(),
            sequences: sequences.collect(),
        };
        let envelope = Envelope { compressor, checksum };
        let frame = wire::encode(&msg, request_id, more_to_come, envelope).unwrap();
        let Incoming { request_id: id, envelope: found, more_to_come: more, content } =
            decode(frame.into()).unwrap();
        prop_assert_eq!(id, request_id);
        prop_assert_eq!(more, more_to_come);
        prop_assert_eq!(found.compressor, compressor);
        prop_assert_eq!(found.checksum, checksum && compressor.is_none());
        prop_assert_eq!(content, Ok(Content::Msg(msg)));
    }
}
