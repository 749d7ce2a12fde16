//! Where commands go that the server does not answer by itself.

use bson::{RawBson, RawBsonRef, RawDocumentBuf, Timestamp, rawdoc};
use command::{Client, Reply, Request};
use error::{Code, Result};
use std::future::Future;
use std::sync::Arc;

/// Runs commands on data: the embedded engine, or a cluster.
pub trait Backend: Status {
    fn run(
        &self,
        request: Request,
        client: &Arc<Client>,
    ) -> impl Future<Output = Result<Reply>> + Send;

    /// Asks the commands in flight to end, since the server stops.
    fn interrupt_all(&self) {}

    /// Called once, when no command is in flight any more, but for those that were cut off.
    fn stop(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Waits for a failure with which there is no use in going on, and says which.
    fn failed(&self) -> impl Future<Output = String> + Send {
        std::future::pending()
    }
}

/// How a backend is. What is not so says why, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// It reads, and what it has taken it writes.
    pub well: std::result::Result<(), String>,
    /// It takes writes.
    pub ready: std::result::Result<(), String>,
}

/// What a backend says about itself.
pub trait Status: Send + Sync + 'static {
    /// Called once, before the first command: where clients find the server.
    fn listening(&self, host: &str, port: u16) {
        let _ = (host, port);
    }

    /// The time of the last commit that has been synced, where replies do not have theirs yet.
    fn cluster_time(&self) -> Option<Timestamp> {
        None
    }

    /// Answered at once: nothing is waited for.
    fn health(&self) -> Health {
        Health { well: Ok(()), ready: Ok(()) }
    }

    /// Sections of `serverStatus`, appended as they are.
    fn server_status(&self) -> RawDocumentBuf {
        rawdoc! {}
    }

    /// The parameters that `setParameter` may change.
    fn parameters(&self) -> &'static [&'static str] {
        &[]
    }

    fn parameter(&self, name: &str) -> Option<RawBson> {
        let _ = name;
        None
    }

    /// Sets one of `parameters`, or says what is wrong with the value.
    fn set_parameter(&self, name: &str, value: RawBsonRef<'_>) -> Result<()> {
        let _ = value;
        Err(Code::InvalidOptions.error(format!("there is no parameter {name}")))
    }
}
