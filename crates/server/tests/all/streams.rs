//! Several replies to one message, and none.

use crate::client::{Client, code, msg, start};
use crate::handshake::topology_version;
use crate::probe::BATCHES;
use bson::rawdoc;
use std::time::{Duration, Instant};
use wire::{Envelope, Msg};

#[tokio::test]
async fn an_exhaust_cursor_streams_until_it_is_exhausted() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let command = rawdoc! { "getMore": 77_i64, "collection": "b", "$db": "a" };
    let request = Msg { exhaust_allowed: true, ..msg(command) };
    let mut previous = client.send(&request, false, Envelope::default()).await;
    for batch in 1..=BATCHES {
        let reply = client.receive().await;
        assert_eq!(reply.response_to, previous);
        assert_eq!(reply.more_to_come, batch < BATCHES);
        previous = reply.request_id;
    }
    client.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn without_leave_to_stream_a_cursor_gives_one_batch() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let reply = client.run(rawdoc! { "getMore": 77_i64, "collection": "b" }).await;
    assert_eq!(reply.get_document("cursor").unwrap().get_i64("id").unwrap(), 77);
    client.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn an_exhaust_hello_streams_until_the_server_stops() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let version = topology_version(&mut client).await;
    let hello = rawdoc! {
        "hello": 1, "topologyVersion": version, "maxAwaitTimeMS": 100, "$db": "admin"
    };
    let request = Msg { exhaust_allowed: true, ..msg(hello) };
    let started = Instant::now();
    let mut previous = client.send(&request, false, Envelope::default()).await;
    for _ in 0..4 {
        let reply = client.receive().await;
        assert!(reply.more_to_come);
        assert_eq!(reply.response_to, previous);
        previous = reply.request_id;
    }
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_millis(400), "it spins: {elapsed:?}");

    let stopping = tokio::spawn(server.stop());
    let last = loop {
        let reply = client.receive().await;
        if !reply.more_to_come {
            break reply;
        }
    };
    assert_eq!(code(&last.body), 91);
    assert!(last.body.get_document("topologyVersion").is_ok());
    client.assert_closed().await;
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_hello_that_streams_must_say_how_long_it_waits() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let request = Msg { exhaust_allowed: true, ..msg(rawdoc! { "hello": 1, "$db": "admin" }) };
    client.send(&request, false, Envelope::default()).await;
    let reply = client.receive().await;
    assert_eq!(code(&reply.body), 51763);
    assert!(!reply.more_to_come);
    client.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn a_request_that_wants_no_reply_gets_none() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let insert = rawdoc! { "insert": "c", "documents": [{}], "$db": "a" };
    client.send(&msg(insert), true, Envelope::default()).await;
    // Errors are not answered either.
    let wrong = rawdoc! { "nonsense": 1, "$db": "a" };
    client.send(&msg(wrong), true, Envelope::default()).await;
    let invalid = Msg { body: rawdoc! {}.into_bytes().into(), ..msg(rawdoc! {}) };
    client.send(&invalid, true, Envelope::default()).await;
    client.ping().await;
    server.stop().await;
}

/// A hello that streams, from a client that knows another server's topology.
fn stranger(await_ms: i32) -> Msg {
    let version = rawdoc! { "processId": bson::oid::ObjectId::new(), "counter": 0_i64 };
    let hello = rawdoc! {
        "hello": 1, "topologyVersion": version, "maxAwaitTimeMS": await_ms, "$db": "admin"
    };
    Msg { exhaust_allowed: true, ..msg(hello) }
}

#[tokio::test]
async fn a_stream_goes_on_from_the_topology_it_has_told() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.send(&stranger(10_000), false, Envelope::default()).await;
    assert!(client.receive().await.more_to_come, "the first reply comes at once");
    let more = tokio::time::timeout(Duration::from_millis(300), client.receive()).await;
    assert!(more.is_err(), "nothing has changed since");
    server.stop().await;
}

#[tokio::test]
async fn a_stream_that_waits_for_nothing_has_a_pace() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.send(&stranger(0), false, Envelope::default()).await;
    let started = Instant::now();
    for _ in 0..4 {
        assert!(client.receive().await.more_to_come);
    }
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_millis(300), "it spins: {elapsed:?}");
    server.stop().await;
}

#[tokio::test]
async fn who_wants_no_reply_gets_no_stream() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.send(&stranger(10_000), true, Envelope::default()).await;
    let more = rawdoc! { "getMore": 77_i64, "collection": "b", "$db": "a" };
    let more = Msg { exhaust_allowed: true, ..msg(more) };
    client.send(&more, true, Envelope::default()).await;
    client.ping().await;
    let reply = client.run(rawdoc! { "getMore": 77_i64, "collection": "b" }).await;
    let batch = reply.get_document("cursor").unwrap().get_array("nextBatch").unwrap();
    assert_eq!(batch.get_i64(0).unwrap(), 2, "one batch was taken, not all");
    server.stop().await;
}
