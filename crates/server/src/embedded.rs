//! The embedded engine as the server's backend.

use crate::backend::{Backend, Health, Status};
use crate::run::{GIT_VERSION, VERSION};
use bson::{RawBson, RawBsonRef, RawDocumentBuf, Timestamp, rawdoc};
use budget::Kind;
use command::{Client, Reply, Request};
use engine::{Engine, Identity};
use error::{Code, Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Seconds between two looks for expired documents.
const TTL_SLEEP: &str = "ttlMonitorSleepSecs";

/// How long a transaction may stay open.
const TRANSACTION_LIFETIME: &str = "transactionLifetimeLimitSeconds";

/// How far ahead forecasts of growth are logged.
const GROWTH_HORIZON: &str = "growthHorizonSeconds";

/// How long a document must have been seen to grow before anything is forecast of it.
const GROWTH_OBSERVED: &str = "growthObservedSeconds";

/// Whether the figures of `growthStats` are kept up.
const GROWTH_STATS: &str = "growthStats";

/// The most seconds of a parameter, which is shown as an int.
const SECONDS_MAX: u32 = i32::MAX as u32;

pub struct Embedded(pub Arc<Engine>);

impl Embedded {
    /// A parameter that is a number of seconds, and the least it takes.
    fn seconds(&self, name: &str) -> Option<(&AtomicU32, u32)> {
        match name {
            TRANSACTION_LIFETIME => Some((&self.0.sessions.transaction_lifetime_seconds, 1)),
            // Nothing is forecast within no time.
            GROWTH_HORIZON => Some((&self.0.store.growth().horizon_seconds, 0)),
            GROWTH_OBSERVED => Some((&self.0.store.growth().observed_seconds, 1)),
            TTL_SLEEP => Some((&self.0.ttl_sleep_seconds, 1)),
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
        self.0.run(request, client)
    }

    fn interrupt_all(&self) {
        self.0.interrupt_all();
    }

    async fn stop(&self) {
        self.0.close().await;
    }

    /// A full disk. After any other failure to write, reads go on.
    async fn failed(&self) -> String {
        let mut failure = self.0.store.failure();
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
    fn listening(&self, host: &str, port: u16) {
        self.0.set_identity(Identity {
            host: host.to_owned(),
            port,
            version: VERSION,
            git_version: GIT_VERSION,
        });
    }

    fn cluster_time(&self) -> Option<Timestamp> {
        Some(self.0.cluster_time())
    }

    fn health(&self) -> Health {
        Health { well: self.0.health(), ready: self.0.readiness() }
    }

    fn server_status(&self) -> RawDocumentBuf {
        let figures = self.0.store.figures();
        let number = |of: &std::sync::atomic::AtomicU64| of.load(Ordering::Relaxed) as i64;
        let background = self.0.store.background();
        let (open, without_timeout) = self.0.cursors.count();
        let sessions = &self.0.sessions;
        let transactions = &sessions.figures;
        let memory = budget::process();
        rawdoc! {
            "storageEngine": { "name": "freeboard", "supportsCommittedReads": true, "persistent": true },
            "metrics": {
                "cursor": { "open": { "total": open as i64, "noTimeout": without_timeout as i64 } },
                "ttl": { "deletedDocuments": self.0.usage.expired_documents() as i64 },
            },
            "transactions": {
                "retriedCommandsCount": number(&transactions.retried_commands),
                "retriedStatementsCount": number(&transactions.retried_statements),
                "currentOpen": sessions.open_transactions() as i64,
                "totalStarted": number(&transactions.started),
                "totalCommitted": number(&transactions.committed),
                "totalAborted": number(&transactions.aborted),
            },
            "freeboard": {
                "commits": {
                    "commits": number(&figures.commits),
                    "writes": number(&figures.writes),
                    "groups": number(&figures.groups),
                    "fsyncs": number(&figures.syncs),
                },
                "memory": {
                    "budgetBytes": memory.memory_bytes() as i64,
                    "requestsBytes": memory.limit_bytes() as i64,
                    "trafficBytes": memory.held_bytes(Kind::Traffic) as i64,
                    "workBytes": memory.held_bytes(Kind::Work) as i64,
                    "definitionsBytes": memory.held_bytes(Kind::Definitions) as i64,
                },
                "journal": { "bytes": self.0.store.journaled_bytes() as i64 },
                "background": {
                    "flushes": background.flushes as i64,
                    "compactions": background.compactions as i64,
                    "purges": self.0.dropped() as i64,
                },
            },
        }
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[GROWTH_HORIZON, GROWTH_OBSERVED, GROWTH_STATS, TRANSACTION_LIFETIME, TTL_SLEEP]
    }

    fn parameter(&self, name: &str) -> Option<RawBson> {
        if name == GROWTH_STATS {
            let is_on = self.0.store.growth().is_on.load(Ordering::Relaxed);
            return Some(RawBson::Boolean(is_on));
        }
        let seconds = self.seconds(name)?.0.load(Ordering::Relaxed);
        Some(RawBson::Int32(seconds.try_into().unwrap_or(i32::MAX)))
    }

    fn set_parameter(&self, name: &str, value: RawBsonRef<'_>) -> Result<()> {
        if name == GROWTH_STATS {
            let is_on = command::fields::is_true(value);
            self.0.store.growth().is_on.store(is_on, Ordering::Relaxed);
            return Ok(());
        }
        let known = self.seconds(name);
        let (parameter, least) =
            known.ok_or_else(|| Code::InvalidOptions.error(format!("no parameter {name}")))?;
        let number = command::fields::safe_i64(value).and_then(|number| u32::try_from(number).ok());
        match number.filter(|seconds| (least..=SECONDS_MAX).contains(seconds)) {
            Some(seconds) => {
                parameter.store(seconds, Ordering::Relaxed);
                Ok(())
            }
            None => Err(Code::BadValue.error(format!(
                "Invalid value for parameter {name}: it takes a number of seconds from {least} to \
                 {SECONDS_MAX}"
            ))),
        }
    }
}
