//! The HTTP side: today, whether the server is there.

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::error;

pub(crate) async fn serve(listener: TcpListener, stop: CancellationToken) {
    let router = Router::new().route("/healthz", get(|| async { "ok" }));
    let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
    if let Err(error) = served {
        error!("the HTTP listener failed: {error}");
    }
}
