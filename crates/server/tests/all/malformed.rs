//! Frames that lie. The sender is refused or closed; others are served on.

use crate::client::{Client, code, msg, start};
use bson::{RawDocumentBuf, rawdoc};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt};
use wire::{Envelope, Msg, Sequence};

fn frame(opcode: i32, payload: &[u8]) -> Vec<u8> {
    let header = [16 + payload.len() as i32, 5, 0, opcode].map(i32::to_le_bytes).concat();
    [&header, payload].concat()
}

fn op_msg(flags: u32, document: &[u8]) -> Vec<u8> {
    frame(2013, &[&flags.to_le_bytes(), [0].as_slice(), document].concat())
}

fn ping() -> Vec<u8> {
    rawdoc! { "ping": 1, "$db": "admin" }.into_bytes()
}

#[tokio::test]
async fn a_broken_header_or_envelope_closes_the_connection() {
    let server = start().await;
    let mut witness = Client::connect(&server).await;
    let mut bad_checksum = op_msg(1, &[ping(), vec![1, 2, 3, 4]].concat());
    bad_checksum[4] = 9;
    let bomb = {
        let packed = zeros_in_zlib();
        let prefix = [2013_i32, 47_999_000].map(i32::to_le_bytes).concat();
        frame(2012, &[&prefix, [2].as_slice(), &packed].concat())
    };
    let lengths = [i32::MIN, -1, 0, 15, 48_000_001, i32::MAX]
        .map(|length| [length, 1, 0, 2013].map(i32::to_le_bytes).concat());
    let mut all = vec![
        // A TLS client waits for an answer before it sends more.
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on".to_vec(),
        op_msg(4, &ping()),
        bad_checksum,
        bomb,
        frame(2012, &[0; 5]),
        frame(2012, &[[0xdd, 7, 0, 0, 1, 0, 0, 0, 77].as_slice(), &[0; 5]].concat()),
        frame(2002, &[0; 32]),
        frame(1, &[0; 32]),
    ];
    all.extend(lengths);
    for bytes in all {
        let mut client = Client::connect(&server).await;
        client.send_bytes(&bytes).await;
        client.assert_closed().await;
        witness.ping().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_browser_is_shown_the_way() {
    let server = start().await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    // What it sent and nobody read may end the connection by a reset, after the answer.
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.0 400 ") && answer.contains("--http"), "{answer}");
    server.stop().await;
}

/// 50 MB of zeros, in a few kilobytes that say they are a little less.
fn zeros_in_zlib() -> Vec<u8> {
    let document = rawdoc! { "a": "0".repeat(47_000_000) };
    let packed = wire::encode(
        &msg(document),
        1,
        false,
        Envelope { compressor: Some(wire::Compressor::Zlib), checksum: false },
    );
    packed.unwrap()[25..].to_vec()
}

#[tokio::test]
async fn invalid_documents_are_answered_with_an_error() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let mut unterminated = ping();
    *unterminated.last_mut().unwrap() = 1;
    let mut unknown_type = ping();
    unknown_type[4] = 0x55;
    let mut long_string = ping();
    let place = long_string.len() - 11;
    long_string[place..place + 4].copy_from_slice(&1_000_000_i32.to_le_bytes());
    let mut not_utf8 = ping();
    let place = not_utf8.len() - 4;
    not_utf8[place] = 0xff;
    let mut lying = ping();
    lying[..4].copy_from_slice(&1_000_i32.to_le_bytes());
    for (document, expected) in [
        (unterminated, 22),
        (unknown_type, 22),
        (long_string, 22),
        (not_utf8, 22),
        (lying, 22),
        (nested(201).into_bytes(), 15),
        (nested(10_000).into_bytes(), 15),
    ] {
        client.send_bytes(&op_msg(0, &document)).await;
        let reply = client.receive().await;
        assert_eq!(reply.response_to, 5);
        assert_eq!(code(&reply.body), expected);
        client.ping().await;
    }
    client.send_bytes(&frame(2013, &[0; 4])).await;
    assert_eq!(code(&client.receive().await.body), 40587);
    client.send_bytes(&op_msg(0, rawdoc! {}.as_bytes())).await;
    assert_eq!(code(&client.receive().await.body), 59);
    client.send_bytes(&op_msg(0, rawdoc! { "ping": 1 }.as_bytes())).await;
    assert_eq!(code(&client.receive().await.body), 40571);
    client.ping().await;
    server.stop().await;
}

fn nested(depth: usize) -> RawDocumentBuf {
    let mut document = rawdoc! {};
    for _ in 1..depth {
        document = rawdoc! { "a": document };
    }
    document
}

#[tokio::test]
async fn a_message_may_be_48_million_bytes_long() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let document = rawdoc! { "s": "x".repeat(15_900_000) };
    let documents = [document.as_bytes(), document.as_bytes(), document.as_bytes()].concat();
    let request = Msg {
        sequences: vec![Sequence { name: "documents".to_owned(), documents: documents.into() }],
        ..msg(rawdoc! { "insert": "c", "$db": "a" })
    };
    client.send(&request, false, Envelope::default()).await;
    assert_eq!(client.receive().await.body.get_i32("n").unwrap(), 3);
    client.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn bytes_may_come_one_by_one_and_messages_all_at_once() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.stream.set_nodelay(true).unwrap();
    for byte in op_msg(0, &ping()) {
        client.stream.write_all(&[byte]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    client.receive().await;
    client.send_bytes(&op_msg(0, &ping()).repeat(500)).await;
    for _ in 0..500 {
        assert_eq!(client.receive().await.body, rawdoc! { "ok": 1.0 });
    }
    server.stop().await;
}
