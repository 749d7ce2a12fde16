//! The HTTP side: whether the server is well, and whether it is ready for writes.
//!
//! A connection serves one request and has a few seconds for it. There are few at a time, and
//! where one too many comes, the oldest goes. So those who only hold connections open take
//! nothing from the clients of the database, and keep nobody else from asking.

use crate::descriptors;
use crate::limits::{ACCEPT_PAUSE, HTTP_BUFFER_BYTES_MAX, HTTP_CONNECTION_TIME_MAX};
use crate::shared::Shared;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, routing::get};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tracing::{debug, warn};

/// Serves until the server stops.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    let most = shared.http_connections_max();
    let router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(shared);
    let mut connections = JoinSet::new();
    let mut oldest: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    if !descriptors::admit_http(&stream) {
                        debug!("refused {address}: descriptors are short");
                        continue;
                    }
                    oldest.retain(|connection| !connection.is_finished());
                    while oldest.len() >= most
                        && let Some(connection) = oldest.pop_front()
                    {
                        connection.abort();
                    }
                    oldest.push_back(connections.spawn(connection(stream, router.clone())));
                }
                Err(error) => {
                    warn!("accepting an HTTP connection failed: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// One request, answered or given up within a time.
async fn connection(stream: TcpStream, router: Router) {
    let served = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HTTP_BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    match tokio::time::timeout(HTTP_CONNECTION_TIME_MAX, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!("an HTTP connection failed: {error}"),
        Err(_) => debug!("an HTTP connection took too long"),
    }
}

async fn healthz(State(shared): State<Arc<Shared>>) -> (StatusCode, String) {
    answer(shared.status.health().well)
}

async fn readyz(State(shared): State<Arc<Shared>>) -> (StatusCode, String) {
    if shared.stop.is_cancelled() {
        return answer(Err("the server is stopping".to_owned()));
    }
    let health = shared.status.health();
    answer(health.well.and(health.ready))
}

fn answer(outcome: Result<(), String>) -> (StatusCode, String) {
    match outcome {
        Ok(()) => (StatusCode::OK, "ok".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}
