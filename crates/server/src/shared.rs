//! What all connections of a server share.

use crate::fail_points::FailPoints;
use crate::replica_set::Member;
use crate::{Options, backend::Status, counters::Counters, limits, warnings};
use bson::{RawDocumentBuf, oid::ObjectId, rawdoc};
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub(crate) struct Shared {
    pub options: Options,
    /// Where clients connect.
    pub address: SocketAddr,
    /// What the server is in its replica set, where it answers as one.
    pub member: Option<Member>,
    /// Where test commands are taken.
    pub fail_points: Option<FailPoints>,
    /// What a stranger should know about how the server was started.
    pub warnings: Vec<String>,
    pub counters: Counters,
    pub status: Arc<dyn Status>,
    /// Names this run of the server in `topologyVersion`.
    pub process_id: ObjectId,
    pub started: Instant,
    pub hostname: String,
    /// Large messages that may be checked at once.
    pub decoding: Semaphore,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
}

impl Shared {
    pub fn new(
        options: Options,
        address: SocketAddr,
        http_address: Option<SocketAddr>,
        member: Option<Member>,
        status: Arc<dyn Status>,
    ) -> Shared {
        Shared {
            fail_points: options.test_commands.then(FailPoints::default),
            options,
            address,
            member,
            warnings: warnings::of(std::iter::once(address).chain(http_address)),
            counters: Counters::default(),
            status,
            process_id: ObjectId::new(),
            started: Instant::now(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            decoding: Semaphore::new(thread::available_parallelism().map_or(1, NonZero::get)),
            stop: CancellationToken::new(),
        }
    }

    /// How many connections the HTTP side may have, within the limit of all.
    pub fn http_connections_max(&self) -> usize {
        let most = self.options.connections_max / limits::HTTP_CONNECTIONS_SHARE;
        match self.options.http {
            Some(_) => most.clamp(1, limits::HTTP_CONNECTIONS_MAX),
            None => 0,
        }
    }

    /// How many connections clients of the database may have.
    pub fn client_connections_max(&self) -> usize {
        self.options.connections_max.saturating_sub(self.http_connections_max())
    }

    /// The topology changes once, when the server stops.
    pub fn topology_counter(&self) -> i64 {
        i64::from(self.stop.is_cancelled())
    }

    pub fn topology_version(&self) -> RawDocumentBuf {
        rawdoc! { "processId": self.process_id, "counter": self.topology_counter() }
    }

    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.hostname, self.address.port())
    }
}

pub(crate) fn now() -> bson::DateTime {
    bson::DateTime::from_system_time(SystemTime::now())
}
