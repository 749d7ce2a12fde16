//! Servers that are there, and are not what the URI says.

use crate::place::Place;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_outside_the_set_or_without_tls_is_said_at_once() {
    let place = Place::new().await;
    let started = Instant::now();
    let uri = format!("{}/?replicaSet=rs0", place.uri.trim_end_matches('/'));
    let error = freeboard_jobs::client(&uri).await.unwrap_err();
    assert!(error.is_unreachable());
    let said = error.to_string();
    let expected = "is no member of the replica set rs0; leave replicaSet out of the URI, or start \
                    Freeboard with --replica-set rs0";
    assert!(said.ends_with(expected), "{said}");
    let uri = format!("{}/?tls=true", place.uri.trim_end_matches('/'));
    let said = freeboard_jobs::client(&uri).await.unwrap_err().to_string();
    assert!(said.contains("over TLS") && said.contains("leave tls out of the URI"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(5));
    place.stop().await;
}
