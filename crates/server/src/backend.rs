//! Where commands go that the server does not answer by itself, and what the server asks of it.

use bson::Timestamp;
use command::{Client, Reply, Request};
use error::Result;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

/// Runs commands on data: the embedded engine, or a cluster.
pub trait Backend: Status {
    /// Runs a command that the server has no row for. One that the backend does not know either
    /// it refuses by itself, or passes on.
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

/// What a backend says about itself, to clients and over HTTP. All of it is answered at once.
pub trait Status: Send + Sync + 'static {
    /// Called once, before the first command.
    fn listening(&self, here: Here<'_>) {
        let _ = here;
    }

    /// The directory of the data, where it is on this machine.
    fn data(&self) -> Option<&Path> {
        None
    }

    /// The time of the last commit that has been synced, where replies do not have theirs yet.
    fn cluster_time(&self) -> Option<Timestamp> {
        None
    }

    fn health(&self) -> Health {
        Health { well: Ok(()), ready: Ok(()) }
    }

    /// What it has counted, for `serverStatus`.
    fn figures(&self) -> Figures {
        Figures::default()
    }

    /// The parameters that `setParameter` may change, by name.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// What one of `parameters` is set to.
    fn setting(&self, name: &str) -> Option<Setting> {
        let _ = name;
        None
    }

    /// Sets one of `parameters`, to what its kind allows.
    fn set(&self, name: &str, setting: Setting) {
        let _ = (name, setting);
    }
}

/// Where clients find the server, and as what.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    pub host: &'a str,
    pub port: u16,
    pub version: &'static str,
    pub git_version: &'static str,
}

/// How a backend is. What is not so says why, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// It reads, and what it has taken it writes.
    pub well: std::result::Result<(), String>,
    /// It takes writes.
    pub ready: std::result::Result<(), String>,
}

/// What a backend has counted since it started.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub cursors: Cursors,
    /// Documents that TTL indexes have removed.
    pub expired_documents: u64,
    pub transactions: Transactions,
    /// Of a store of its own.
    pub storage: Option<Storage>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Cursors {
    pub open: u64,
    pub without_timeout: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Transactions {
    pub retried_commands: u64,
    pub retried_statements: u64,
    pub open: u64,
    pub started: u64,
    pub committed: u64,
    pub aborted: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Storage {
    pub commits: Commits,
    pub journaled_bytes: u64,
    pub flushes: u64,
    pub compactions: u64,
    /// Dropped collections and indexes whose space is still to be given back.
    pub purges: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Commits {
    pub commits: u64,
    pub writes: u64,
    /// Group commits: batches that shared a sync.
    pub groups: u64,
    pub syncs: u64,
}

/// A parameter of a backend.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: ParameterKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A number of seconds, milliseconds …, from `least` on.
    Number {
        least: u32,
        unit: &'static str,
    },
    Switch,
}

/// What a parameter is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Number(u32),
    Switch(bool),
}

impl Parameter {
    pub const fn seconds(name: &'static str, least: u32) -> Parameter {
        Parameter { name, kind: ParameterKind::Number { least, unit: "seconds" } }
    }

    pub const fn milliseconds(name: &'static str, least: u32) -> Parameter {
        Parameter { name, kind: ParameterKind::Number { least, unit: "milliseconds" } }
    }

    pub const fn switch(name: &'static str) -> Parameter {
        Parameter { name, kind: ParameterKind::Switch }
    }
}
