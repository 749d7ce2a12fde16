//! `hello` in all its ways.

use crate::client::{Client, code, keys, msg, start, value};
use bson::{RawBsonRef, RawDocumentBuf, oid::ObjectId, rawdoc};
use std::time::{Duration, Instant};
use wire::{Compressor, Envelope};

fn driver() -> RawDocumentBuf {
    rawdoc! {
        "application": { "name": "tests" },
        "driver": { "name": "raw", "version": "1" },
        "os": { "type": "any" },
    }
}

#[tokio::test]
async fn hello_answers_as_a_mongos() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let reply = client.run(rawdoc! { "hello": 1 }).await;
    assert_eq!(
        keys(&reply),
        [
            "isWritablePrimary",
            "msg",
            "topologyVersion",
            "maxBsonObjectSize",
            "maxMessageSizeBytes",
            "maxWriteBatchSize",
            "localTime",
            "logicalSessionTimeoutMinutes",
            "connectionId",
            "minWireVersion",
            "maxWireVersion",
            "ok"
        ]
    );
    assert!(reply.get_bool("isWritablePrimary").unwrap());
    assert_eq!(reply.get_str("msg").unwrap(), "isdbgrid");
    assert_eq!(reply.get_i32("maxBsonObjectSize").unwrap(), 16_777_216);
    assert_eq!(reply.get_i32("maxMessageSizeBytes").unwrap(), 48_000_000);
    assert_eq!(reply.get_i32("maxWriteBatchSize").unwrap(), 100_000);
    assert_eq!(reply.get_i32("logicalSessionTimeoutMinutes").unwrap(), 30);
    assert_eq!(reply.get_i32("maxWireVersion").unwrap(), 27);
    let version = reply.get_document("topologyVersion").unwrap();
    assert_eq!(keys(version), ["processId", "counter"]);
    assert_eq!(version.get_i64("counter").unwrap(), 0);

    let again = client.run(rawdoc! { "isMaster": 1, "helloOk": true }).await;
    assert!(again.get_bool("ismaster").unwrap());
    assert!(again.get_bool("helloOk").unwrap());
    assert_eq!(again.get_i32("connectionId").unwrap(), reply.get_i32("connectionId").unwrap());
    assert_eq!(again.get_document("topologyVersion").unwrap(), version);
    assert!(client.run(rawdoc! { "ismaster": 1 }).await.get_bool("ismaster").unwrap());
    assert_eq!(client.code(rawdoc! { "Hello": 1 }).await, 59);
    server.stop().await;
}

#[tokio::test]
async fn the_first_hello_may_be_an_op_query() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    for (command, expected) in [
        (rawdoc! { "isMaster": 1, "client": driver() }, None),
        (rawdoc! { "$query": { "ismaster": 1 }, "$readPreference": { "mode": "nearest" } }, None),
        (rawdoc! { "find": "c" }, Some(352)),
    ] {
        client.send_bytes(&query("admin.$cmd", &command)).await;
        let reply = client.receive().await;
        assert_eq!(reply.response_to, 9);
        match expected {
            None => assert!(reply.body.get_bool("ismaster").unwrap(), "{command:?}"),
            Some(expected) => assert_eq!(code(&reply.body), expected),
        }
    }
    client.send_bytes(&query("a.b", &rawdoc! {})).await;
    let failure = client.receive().await;
    assert_eq!(failure.flags & 2, 2, "QueryFailure");
    assert_eq!(failure.body.get_i32("code").unwrap(), 5739101);
    assert!(failure.body.get_str("$err").unwrap().starts_with("OP_QUERY is no longer supported"));
    client.ping().await;
    server.stop().await;
}

fn query(namespace: &str, document: &RawDocumentBuf) -> Vec<u8> {
    let payload =
        [&[0; 4], namespace.as_bytes(), &[0; 5], &(-1_i32).to_le_bytes(), document.as_bytes()]
            .concat();
    let header = [16 + payload.len() as i32, 9, 0, 2004].map(i32::to_le_bytes).concat();
    [header, payload].concat()
}

#[tokio::test]
async fn a_client_describes_itself_once() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.run(rawdoc! { "hello": 1, "client": driver() }).await;
    let reply = client.run(rawdoc! { "top": 1 }).await;
    assert_eq!(reply.get_str("application").unwrap(), "tests");
    assert_eq!(client.code(rawdoc! { "hello": 1, "client": driver() }).await, 186);

    // Not as a second command either.
    let mut client = Client::connect(&server).await;
    client.ping().await;
    assert_eq!(client.code(rawdoc! { "hello": 1, "client": driver() }).await, 186);

    for (client_document, expected) in [
        (rawdoc! { "client": 1 }, 14),
        (rawdoc! { "client": { "driver": { "name": "x", "version": "1" } } }, 183),
    ] {
        let mut client = Client::connect(&server).await;
        let mut hello = rawdoc! { "hello": 1 };
        hello.append(bson::cstr!("client"), value(&client_document, "client"));
        assert_eq!(client.code(hello).await, expected);
    }
    server.stop().await;
}

#[tokio::test]
async fn compression_is_negotiated_and_used() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let offered = rawdoc! { "hello": 1, "compression": ["lz4", "zlib", "snappy", "zstd"] };
    let reply = client.run(offered).await;
    let agreed: Vec<_> = reply
        .get_array("compression")
        .unwrap()
        .into_iter()
        .map(|name| name.unwrap().as_str().unwrap().to_owned())
        .collect();
    assert_eq!(agreed, ["zlib", "snappy", "zstd"]);
    // What was agreed on is shown again.
    let reply = client.run(rawdoc! { "hello": 1 }).await;
    assert!(reply.get_array("compression").is_ok());

    for compressor in Compressor::NEGOTIABLE {
        let envelope = Envelope { compressor: Some(compressor), checksum: false };
        let command = rawdoc! { "listCommands": 1, "$db": "admin" };
        client.send(&msg(command), false, envelope).await;
        let reply = client.receive().await;
        assert_eq!(reply.envelope, envelope);
        assert!(reply.length < reply.body.as_bytes().len());
        assert!(reply.body.get_document("commands").unwrap().get_document("ping").is_ok());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_reply_has_a_checksum_if_the_request_had() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let envelope = Envelope { compressor: None, checksum: true };
    client.send(&msg(rawdoc! { "ping": 1, "$db": "admin" }), false, envelope).await;
    assert_eq!(client.receive().await.envelope, envelope);
    server.stop().await;
}

#[tokio::test]
async fn an_awaitable_hello_waits() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let version = topology_version(&mut client).await;

    let started = Instant::now();
    let hello = rawdoc! { "hello": 1, "topologyVersion": version.clone(), "maxAwaitTimeMS": 300 };
    client.run(hello).await;
    assert!(started.elapsed() >= Duration::from_millis(300));

    // Another process's version is old news: the answer comes at once.
    let started = Instant::now();
    let other = rawdoc! { "processId": ObjectId::new(), "counter": 0_i64 };
    client.run(rawdoc! { "hello": 1, "topologyVersion": other, "maxAwaitTimeMS": 60_000 }).await;
    assert!(started.elapsed() < Duration::from_secs(10));

    let process_id = version.get_object_id("processId").unwrap();
    let with_counter = |counter: RawBsonRef<'_>| {
        let mut version = rawdoc! { "processId": process_id };
        version.append(bson::cstr!("counter"), counter);
        version
    };
    for (hello, expected) in [
        (rawdoc! { "hello": 1, "topologyVersion": version.clone() }, 51760),
        (rawdoc! { "hello": 1, "maxAwaitTimeMS": 1 }, 51760),
        (rawdoc! { "hello": 1, "topologyVersion": version, "maxAwaitTimeMS": -1 }, 51759),
        (
            rawdoc! {
                "hello": 1,
                "topologyVersion": with_counter(RawBsonRef::Int64(-1)),
                "maxAwaitTimeMS": 1,
            },
            51758,
        ),
        (
            rawdoc! {
                "hello": 1,
                "topologyVersion": with_counter(RawBsonRef::Int64(5)),
                "maxAwaitTimeMS": 1,
            },
            51761,
        ),
        (
            rawdoc! {
                "hello": 1,
                "topologyVersion": with_counter(RawBsonRef::Int32(0)),
                "maxAwaitTimeMS": 1,
            },
            14,
        ),
        (rawdoc! { "hello": 1, "topologyVersion": {}, "maxAwaitTimeMS": 1 }, 40414),
        (rawdoc! { "hello": 1, "compression": "snappy" }, 14),
        (rawdoc! { "hello": 1, "saslSupportedMechs": "nobody" }, 2),
    ] {
        let shown = format!("{hello:?}");
        assert_eq!(client.code(hello).await, expected, "{shown}");
    }
    server.stop().await;
}

pub async fn topology_version(client: &mut Client) -> RawDocumentBuf {
    let reply = client.run(rawdoc! { "hello": 1 }).await;
    reply.get_document("topologyVersion").unwrap().to_owned()
}
