//! Who sends a command, as every layer may want to know it.

use bson::RawDocumentBuf;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

#[derive(Debug, Clone)]
pub struct Client {
    /// Counts up from 1 for each connection the server takes.
    pub connection_id: i32,
    pub address: SocketAddr,
    /// `application.name` of the metadata.
    pub application: Option<String>,
    /// What the driver says about itself in its first hello.
    pub metadata: Option<RawDocumentBuf>,
    /// The other end of its connection, where there is one; gone with it.
    pub presence: Option<Weak<dyn Presence>>,
    /// The time of its last commit: a timestamp's second and number. 0 where it has made none.
    pub commit_time: Arc<AtomicU64>,
}

/// What can say whether a client still waits for its answer.
pub trait Presence: std::fmt::Debug + Send + Sync {
    fn is_there(&self) -> bool;
}

impl Client {
    pub fn new(connection_id: i32, address: SocketAddr) -> Client {
        Client {
            connection_id,
            address,
            application: None,
            metadata: None,
            presence: None,
            commit_time: Arc::default(),
        }
    }

    /// Whether it has closed its connection. It costs a look at the socket.
    pub fn is_gone(&self) -> bool {
        let Some(presence) = &self.presence else { return false };
        presence.upgrade().is_none_or(|presence| !presence.is_there())
    }
}
