//! The accept loop: a task a connection, up to a limit.

use crate::{Backend, connection::Connection, limits, shared::Shared};
use command::Client;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tracing::{debug, warn};

/// Accepts until the server stops, then waits for the commands in flight.
pub(crate) async fn accept<B: Backend>(
    listener: TcpListener,
    shared: Arc<Shared>,
    backend: Arc<B>,
) {
    let mut door = Door { shared, backend, connections: JoinSet::new(), next_id: 1, full: false };
    loop {
        tokio::select! {
            () = door.shared.stop.cancelled() => break,
            Some(_) = door.connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => door.admit(stream, address),
                Err(error) => {
                    warn!("accepting a connection failed: {error}");
                    tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                }
            }
        }
    }
    drop(listener);
    door.close().await;
}

struct Door<B> {
    shared: Arc<Shared>,
    backend: Arc<B>,
    connections: JoinSet<()>,
    next_id: i32,
    /// The last one was refused, so that a flood makes one log line.
    full: bool,
}

impl<B: Backend> Door<B> {
    fn admit(&mut self, stream: TcpStream, address: SocketAddr) {
        let most = self.shared.options.connections_max;
        if self.connections.len() >= most {
            self.shared.counters.connections_rejected.add(1);
            if !self.full {
                self.full = true;
                warn!("refusing connections, {address} first: {most} are open, which is the limit");
            }
            return;
        }
        self.full = false;
        // Replies are written whole, so waiting for more to send only delays.
        if let Err(error) = stream.set_nodelay(true) {
            debug!("{address} went away: {error}");
            return;
        }
        self.shared.counters.connections_created.add(1);
        let client = Client::new(self.next_id, address);
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        let connection = Connection::new(stream, client, self.backend.clone());
        self.connections.spawn(connection.serve(self.shared.clone()));
    }

    async fn close(mut self) {
        let finished = async { while self.connections.join_next().await.is_some() {} };
        if tokio::time::timeout(limits::STOP_WAIT_MAX, finished).await.is_err() {
            warn!("{} commands did not finish in time and are cut off", self.connections.len());
        }
        self.connections.shutdown().await;
    }
}
