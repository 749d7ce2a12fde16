//! The accept loop: a task a connection, up to a limit.

use crate::{Backend, connection::Connection, descriptors, limits, shared::Shared};
use command::Client;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tracing::{debug, info, warn};

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
        let most = self.shared.client_connections_max();
        if self.connections.len() >= most || !descriptors::admit_client(&stream) {
            self.shared.counters.connections_rejected.add(1);
            if !self.full {
                self.full = true;
                let open = self.connections.len();
                warn!(
                    "refusing connections, {address} first: {open} are open, and the limit is \
                     {most}, or fewer where descriptors are short"
                );
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
        let stall_max = self.shared.options.transfer_stall_max;
        let connection = Connection::new(stream, client, self.backend.clone(), stall_max);
        self.connections.spawn(turn::fair(connection.serve(self.shared.clone())));
    }

    /// Lets commands in flight finish, interrupts those that take long, and cuts off those
    /// that do not listen.
    async fn close(mut self) {
        if self.finish_within(limits::STOP_GRACE).await {
            return;
        }
        info!("interrupting {} commands, since the server stops", self.connections.len());
        self.backend.interrupt_all();
        if self.finish_within(limits::STOP_INTERRUPTED_WAIT).await {
            return;
        }
        warn!("{} commands did not finish in time and are cut off", self.connections.len());
        self.connections.abort_all();
    }

    async fn finish_within(&mut self, time: Duration) -> bool {
        let finished = async { while self.connections.join_next().await.is_some() {} };
        tokio::time::timeout(time, finished).await.is_ok()
    }
}
