//! The engine behind the server's contract.

use command::{Client, Reply, Request};
use engine::{Engine, Identity};
use error::{Code, Error, Result};
use server::backend::{
    Backend, Commits, Cursors, Figures, Health, Here, Parameter, Setting, Status, Storage,
    Transactions,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How long a cursor may lie idle.
const CURSOR_TIMEOUT: &str = "cursorTimeoutMillis";

/// How far ahead forecasts of growth are logged; nothing is forecast within no time.
const GROWTH_HORIZON: &str = "growthHorizonSeconds";

/// How long a document must have been seen to grow before anything is forecast of it.
const GROWTH_OBSERVED: &str = "growthObservedSeconds";

/// Whether the figures of `growthStats` are kept up.
const GROWTH_STATS: &str = "growthStats";

/// How long a transaction may stay open.
const TRANSACTION_LIFETIME: &str = "transactionLifetimeLimitSeconds";

/// Whether expired documents are looked for.
const TTL_ENABLED: &str = "ttlMonitorEnabled";

/// Seconds between two looks for expired documents.
const TTL_SLEEP: &str = "ttlMonitorSleepSecs";

const PARAMETERS: &[Parameter] = &[
    Parameter::milliseconds(CURSOR_TIMEOUT, 1),
    Parameter::seconds(GROWTH_HORIZON, 0),
    Parameter::seconds(GROWTH_OBSERVED, 1),
    Parameter::switch(GROWTH_STATS),
    Parameter::seconds(TRANSACTION_LIFETIME, 1),
    Parameter::switch(TTL_ENABLED),
    Parameter::seconds(TTL_SLEEP, 1),
];

pub struct Embedded {
    engine: Arc<Engine>,
    data: PathBuf,
}

impl Embedded {
    pub fn new(engine: Arc<Engine>, data: PathBuf) -> Embedded {
        Embedded { engine, data }
    }

    fn number(&self, name: &str) -> Option<&AtomicU32> {
        match name {
            CURSOR_TIMEOUT => Some(&self.engine.cursors.idle_max_millis),
            GROWTH_HORIZON => Some(&self.engine.growth.horizon_seconds),
            GROWTH_OBSERVED => Some(&self.engine.growth.observed_seconds),
            TRANSACTION_LIFETIME => Some(&self.engine.sessions.transaction_lifetime_seconds),
            TTL_SLEEP => Some(&self.engine.ttl.sleep_seconds),
            _ => None,
        }
    }

    fn switch(&self, name: &str) -> Option<&AtomicBool> {
        match name {
            GROWTH_STATS => Some(&self.engine.growth.is_on),
            TTL_ENABLED => Some(&self.engine.ttl.is_on),
            _ => None,
        }
    }
}

impl Backend for Embedded {
    /// Not async by itself: the engine's future is large, and every async function around it
    /// would copy it.
    fn run(
        &self,
        request: Request,
        client: &Arc<Client>,
    ) -> impl Future<Output = Result<Reply>> + Send {
        self.engine.run(request, client)
    }

    fn interrupt_all(&self) {
        self.engine.interrupt_all();
    }

    async fn stop(&self) {
        self.engine.close().await;
    }

    /// A full disk. After any other failure to write, reads go on.
    async fn failed(&self) -> String {
        let mut failure = self.engine.store.failure();
        let full = |failure: &Option<Error>| {
            failure.as_ref().is_some_and(|error| error.code() == Code::OutOfDiskSpace)
        };
        let found = failure.wait_for(full).await.ok().and_then(|failure| failure.clone());
        match found {
            Some(error) => error.message().to_owned(),
            None => std::future::pending().await,
        }
    }
}

impl Status for Embedded {
    fn listening(&self, here: Here<'_>) {
        self.engine.set_identity(Identity {
            host: here.host.to_owned(),
            port: here.port,
            version: here.version,
            git_version: here.git_version,
        });
    }

    fn data(&self) -> Option<&Path> {
        Some(&self.data)
    }

    fn cluster_time(&self) -> Option<bson::Timestamp> {
        Some(self.engine.cluster_time())
    }

    fn health(&self) -> Health {
        Health { well: self.engine.health(), ready: self.engine.readiness() }
    }

    fn figures(&self) -> Figures {
        let store = &self.engine.store;
        let (commits, background) = (store.figures(), store.background());
        let (open, without_timeout) = self.engine.cursors.count();
        let sessions = &self.engine.sessions;
        let transactions = &sessions.figures;
        let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
        Figures {
            cursors: Cursors { open: open as u64, without_timeout: without_timeout as u64 },
            expired_documents: number(&self.engine.ttl.deleted),
            transactions: Transactions {
                retried_commands: number(&transactions.retried_commands),
                retried_statements: number(&transactions.retried_statements),
                open: sessions.open_transactions() as u64,
                started: number(&transactions.started),
                committed: number(&transactions.committed),
                aborted: number(&transactions.aborted),
            },
            storage: Some(Storage {
                commits: Commits {
                    commits: number(&commits.commits),
                    writes: number(&commits.writes),
                    groups: number(&commits.groups),
                    syncs: number(&commits.syncs),
                },
                journaled_bytes: store.journaled_bytes(),
                flushes: background.flushes as u64,
                compactions: background.compactions as u64,
                purges: self.engine.unpurged() as u64,
            }),
        }
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn setting(&self, name: &str) -> Option<Setting> {
        let number = || Some(Setting::Number(self.number(name)?.load(Ordering::Relaxed)));
        let switch = || Some(Setting::Switch(self.switch(name)?.load(Ordering::Relaxed)));
        number().or_else(switch)
    }

    fn set(&self, name: &str, setting: Setting) {
        match setting {
            Setting::Number(number) => {
                if let Some(parameter) = self.number(name) {
                    parameter.store(number, Ordering::Relaxed);
                }
            }
            Setting::Switch(is_on) => {
                if let Some(parameter) = self.switch(name) {
                    parameter.store(is_on, Ordering::Relaxed);
                }
            }
        }
    }
}
