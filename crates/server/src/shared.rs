//! What all connections of a server share.

use crate::{Options, backend::Status, counters::Counters};
use bson::{RawDocumentBuf, oid::ObjectId, rawdoc};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use tokio_util::sync::CancellationToken;

pub(crate) struct Shared {
    pub options: Options,
    pub address: SocketAddr,
    pub counters: Counters,
    pub status: Arc<dyn Status>,
    /// Names this run of the server in `topologyVersion`.
    pub process_id: ObjectId,
    pub started: Instant,
    pub hostname: String,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
}

impl Shared {
    pub fn new(options: Options, address: SocketAddr, status: Arc<dyn Status>) -> Shared {
        Shared {
            options,
            address,
            counters: Counters::default(),
            status,
            process_id: ObjectId::new(),
            started: Instant::now(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            stop: CancellationToken::new(),
        }
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
