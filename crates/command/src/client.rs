//! Who sends a command, as every layer may want to know it.

use bson::RawDocumentBuf;
use std::net::SocketAddr;

#[derive(Debug, Clone)]
pub struct Client {
    /// Counts up from 1 for each connection the server takes.
    pub connection_id: i32,
    pub address: SocketAddr,
    /// `application.name` of the metadata.
    pub application: Option<String>,
    /// What the driver says about itself in its first hello.
    pub metadata: Option<RawDocumentBuf>,
}

impl Client {
    pub fn new(connection_id: i32, address: SocketAddr) -> Client {
        Client { connection_id, address, application: None, metadata: None }
    }
}
