//! The end of a server, and of a command that panics.

use crate::client::{Client, code, msg, start, start_with};
use crate::probe::SLOW;
use bson::rawdoc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::Envelope;

#[tokio::test]
async fn commands_in_flight_finish_and_the_rest_is_closed() {
    let server = start().await;
    let address = server.address;
    let mut idle = Client::connect(&server).await;
    idle.ping().await;
    let mut silent = Client::connect(&server).await;
    let mut busy = Client::connect(&server).await;
    let count = msg(rawdoc! { "count": "c", "$db": "a" });
    busy.send(&count, false, Envelope::default()).await;
    tokio::time::sleep(SLOW / 5).await;

    let started = Instant::now();
    let stopping = tokio::spawn(server.stop());
    idle.assert_closed().await;
    silent.assert_closed().await;
    assert!(started.elapsed() < SLOW / 2);
    assert_eq!(busy.receive().await.body.get_i32("n").unwrap(), 1);
    busy.assert_closed().await;
    stopping.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_panic_is_answered_and_others_are_served() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    assert_eq!(client.code(rawdoc! { "find": "c" }).await, 1);
    client.ping().await;
    assert_eq!(code(&client.run(rawdoc! { "find": "c" }).await), 1);
    Client::connect(&server).await.ping().await;
    server.stop().await;
}

#[tokio::test]
async fn a_running_command_sees_its_client_go() {
    let server = start().await;
    let mut other = Client::connect(&server).await;
    let mut client = Client::connect(&server).await;
    client.ping().await;
    let distinct = msg(rawdoc! { "distinct": "c", "key": "k", "$db": "a" });
    client.send(&distinct, false, Envelope::default()).await;
    let seen = other.run(rawdoc! { "dbStats": 1 }).await;
    assert!(seen.get_bool("here").unwrap(), "who waits for an answer is there");
    assert!(!seen.get_bool("gone").unwrap());
    drop(client);
    while !other.run(rawdoc! { "dbStats": 1 }).await.get_bool("gone").unwrap() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.stop().await;
}

/// The status line and the body of an answer, if there is one.
pub async fn get(address: std::net::SocketAddr, path: &str) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.lines().next()?.to_owned(), body.to_owned()))
}

#[tokio::test]
async fn http_says_how_the_server_is() {
    let server = start_with(|options| options.http = Some("127.0.0.1:0".to_owned())).await;
    let http = server.http_address.unwrap();
    let ok = Some(("HTTP/1.0 200 OK".to_owned(), "ok".to_owned()));
    assert_eq!(get(http, "/healthz").await, ok);
    assert_eq!(get(http, "/readyz").await, ok);
    let mut client = Client::connect(&server).await;
    client.run(rawdoc! { "aggregate": "ill" }).await;
    let ill = Some(("HTTP/1.0 503 Service Unavailable".to_owned(), "it is ill".to_owned()));
    assert_eq!(get(http, "/healthz").await, ill);
    assert_eq!(get(http, "/readyz").await, ill);
    server.stop().await;
}

#[tokio::test]
async fn a_taken_address_is_named_in_the_error() {
    let server = start().await;
    let taken = server.address.to_string();
    let mut options = server::Options::local();
    options.listen = taken.clone();
    let error = server::bind(options).await.err().expect("it is taken").to_string();
    assert!(error.contains(&taken) && error.contains("--listen"), "{error}");
    server.stop().await;
}
