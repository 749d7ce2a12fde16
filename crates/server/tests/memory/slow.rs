//! Clients that are slow, and messages for which there is no room.

use crate::client::{Client, code, msg, start_with};
use bson::{RawDocumentBuf, rawdoc};
use budget::{Held, Kind};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::Mutex;
use wire::{Compressor, Envelope, Sequence};

/// One test at a time: they share the budget.
static TURN: Mutex<()> = Mutex::const_new(());

const STALL: Duration = Duration::from_millis(600);

async fn start() -> server::Running {
    start_with(|options| options.transfer_stall_max = STALL).await
}

/// An insert of one large document, as bytes.
fn insert(bytes: usize) -> wire::Msg {
    let document = rawdoc! { "text": "x".repeat(bytes) };
    let documents = document.into_bytes().into();
    let sequence = Sequence { name: "documents".to_owned(), documents };
    wire::Msg { sequences: vec![sequence], ..msg(rawdoc! { "insert": "c", "$db": "a" }) }
}

fn frame(msg: &wire::Msg, more_to_come: bool, compressor: Option<Compressor>) -> Vec<u8> {
    wire::encode(msg, 7, more_to_come, Envelope { compressor, checksum: false }).unwrap()
}

/// Everything that messages may hold.
fn full() -> Held {
    let mut held = Held::new(Kind::Traffic);
    held.force(budget::process().limit_bytes() as usize);
    held
}

#[tokio::test]
async fn a_message_that_trickles_in_ends_its_connection() {
    let _turn = TURN.lock().await;
    let server = start().await;
    let mut slow = Client::connect(&server).await;
    slow.send_bytes(&frame(&insert(100_000), false, None)[..20]).await;
    let started = Instant::now();
    // A byte at a time is progress, and too little.
    while slow.stream.write_all(b"x").await.is_ok() {
        tokio::time::sleep(STALL / 20).await;
        assert!(started.elapsed() < STALL * 10, "it may go on for ever");
    }
    assert!(started.elapsed() >= STALL);
    Client::connect(&server).await.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn a_reply_that_nobody_reads_ends_its_connection() {
    let _turn = TURN.lock().await;
    let server = start().await;
    let mut slow = Client::connect(&server).await;
    let echo = msg(rawdoc! { "validate": "large", "$db": "a" });
    slow.send(&echo, false, Envelope::default()).await;
    let started = Instant::now();
    let mut other = Client::connect(&server).await;
    loop {
        let held = budget::process().held_bytes(Kind::Traffic);
        let elapsed = started.elapsed();
        if elapsed > STALL * 2 {
            assert_eq!(held, 0, "the reply is still held");
            break;
        }
        if elapsed > STALL / 4 && elapsed < STALL / 2 {
            assert!(held > 8_000_000, "the reply is not counted: {held}");
        }
        other.ping().await;
        tokio::time::sleep(STALL / 20).await;
    }
    drop(slow);
    server.stop().await;
}

#[tokio::test]
async fn a_message_without_room_is_answered_and_the_next_is_served() {
    let _turn = TURN.lock().await;
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let room = full();
    client.send_bytes(&frame(&insert(5_000_000), false, None)).await;
    let reply = client.receive().await;
    assert_eq!((reply.response_to, code(&reply.body)), (7, 146));
    let why = reply.body.get_str("errmsg").unwrap();
    assert!(why.contains("memory budget") && why.contains("--memory"), "{why}");
    // What is small is served as ever.
    client.ping().await;
    drop(room);
    client.send_bytes(&frame(&insert(5_000_000), false, None)).await;
    assert_eq!(client.receive().await.body.get_i32("n").unwrap(), 1);
    server.stop().await;
}

#[tokio::test]
async fn whoever_waits_for_no_reply_gets_none() {
    let _turn = TURN.lock().await;
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let _room = full();
    client.send_bytes(&frame(&insert(5_000_000), true, None)).await;
    let reply: RawDocumentBuf = client.run(rawdoc! { "ping": 1 }).await;
    assert_eq!(reply, rawdoc! { "ok": 1.0 });
    server.stop().await;
}

#[tokio::test]
async fn a_compressed_message_has_room_for_what_it_unpacks_to() {
    let _turn = TURN.lock().await;
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let room = full();
    let packed = frame(&insert(5_000_000), false, Some(Compressor::Zstd));
    assert!(packed.len() < budget::FREE_BYTES);
    client.send_bytes(&packed).await;
    assert_eq!(code(&client.receive().await.body), 146);
    client.assert_closed().await;
    drop(room);
    let mut client = Client::connect(&server).await;
    client.send_bytes(&packed).await;
    assert_eq!(client.receive().await.body.get_i32("n").unwrap(), 1);
    server.stop().await;
}
