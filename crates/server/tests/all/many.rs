//! Many connections.

use crate::client::{Client, start_with};
use bson::rawdoc;
use tokio::net::TcpStream;

#[tokio::test]
async fn silent_connections_are_counted_and_others_are_served() {
    const SILENT: usize = 1_000;
    let server = start_with(|_| {}).await;
    let mut witness = Client::connect(&server).await;
    witness.ping().await;
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    witness.ping().await;
    let mut late = Client::connect(&server).await;
    late.ping().await;
    let status = late.run(rawdoc! { "serverStatus": 1 }).await;
    let connections = status.get_document("connections").unwrap();
    assert_eq!(connections.get_i32("current").unwrap(), SILENT as i32 + 2);
    drop(silent);
    server.stop().await;
}

#[tokio::test]
async fn a_connection_over_the_limit_is_closed() {
    let server = start_with(|options| options.connections_max = 3).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = Client::connect(&server).await;
        client.ping().await;
        clients.push(client);
    }
    for _ in 0..5 {
        Client::connect(&server).await.assert_closed().await;
    }
    for client in &mut clients {
        client.ping().await;
    }
    let status = clients[0].run(rawdoc! { "serverStatus": 1 }).await;
    assert_eq!(status.get_document("connections").unwrap().get_i32("rejected").unwrap(), 5);

    // One that goes makes room.
    clients.pop();
    for attempt in 0.. {
        let mut client = Client::connect(&server).await;
        let hello = crate::client::msg(rawdoc! { "ping": 1, "$db": "admin" });
        client.send(&hello, false, wire::Envelope::default()).await;
        if client.try_receive().await.is_some() {
            break;
        }
        assert!(attempt < 100, "there is no room");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn idle_http_connections_take_nothing_from_clients() {
    let server = start_with(|options| {
        options.connections_max = 40;
        options.http = Some("127.0.0.1:0".to_owned());
    })
    .await;
    let http = server.http_address.unwrap();
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(http).await.unwrap());
    }
    let mut clients = Vec::new();
    for _ in 0..35 {
        let mut client = Client::connect(&server).await;
        client.ping().await;
        clients.push(client);
    }
    // The five of HTTP are within the one limit.
    Client::connect(&server).await.assert_closed().await;
    // And those that say nothing keep nobody from asking.
    let answer = crate::stopping::get(http, "/healthz").await;
    assert_eq!(answer.unwrap().1, "ok");
    server.stop().await;
}
