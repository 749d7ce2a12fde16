//! The engine: a store, its catalog, and what runs on them.

use crate::catalog::{Collection, Registry};
use crate::cursor::Cursors;
use crate::identity::Identity;
use crate::moment::Moments;
use crate::operation::Operations;
use crate::policies::Policies;
use crate::run;
use crate::run::profile::Profiles;
use crate::run::top::Usage;
use crate::session::Sessions;
use crate::storage::{OpenError, Store};
use crate::transaction::intents::Intents;
use crate::ttl;
use command::{Client, Reply, Request};
use error::Result;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Between two looks at whether the storage engine still works.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);

pub struct Engine {
    pub store: Store,
    pub registry: Registry,
    pub policies: Policies,
    pub intents: Arc<Intents>,
    pub cursors: Cursors,
    pub sessions: Sessions,
    pub moments: Moments,
    pub operations: Operations,
    pub profiles: Profiles,
    pub usage: Usage,
    identity: OnceLock<Identity>,
    /// The parameter `ttlMonitorSleepSecs`.
    pub ttl_sleep_seconds: AtomicU32,
    /// Rings when something was dropped.
    pub purge: Notify,
    /// Definitions that are no more, as long as readers rely on them: what they
    /// name is not purged.
    pub retired: Mutex<Vec<Weak<Collection>>>,
    /// Held while a collection is counted anew.
    pub(crate) recounts: tokio::sync::Mutex<()>,
    background: Mutex<Vec<JoinHandle<()>>>,
}

impl Engine {
    /// Opens the store in a directory, creating it if there is none.
    pub async fn open(directory: &Path) -> std::result::Result<Arc<Engine>, OpenError> {
        let started = Instant::now();
        let path = directory.to_owned();
        let opened = tokio::task::spawn_blocking(move || Store::open(&path)).await;
        // The storage engine panics where it meets what it never wrote.
        let store = opened.map_err(|error| OpenError::damaged(directory, &error))??;
        let engine =
            Engine::with_store(store).await.map_err(|error| OpenError::new(directory, &error))?;
        engine.report_start(directory, started);
        Ok(engine)
    }

    /// Tells how the store was left and what opening it took, in one line.
    fn report_start(&self, directory: &Path, started: Instant) {
        let Some(recovery) = self.store.recovery() else { return };
        tracing::info!(
            directory = %directory.display(),
            collections = self.registry.current().all().count(),
            last_stop = %recovery.stop,
            journals = recovery.journals,
            journal_batches = recovery.batches,
            journal_bytes = recovery.bytes,
            cut_bytes = recovery.cut_bytes,
            milliseconds = started.elapsed().as_millis() as u64,
            "store open"
        );
    }

    /// An engine over an open store.
    pub async fn with_store(store: Store) -> Result<Arc<Engine>> {
        let registry = Registry::load(&store.view())?;
        let policies = Policies::load(&store.view(), &registry)?;
        let engine = Arc::new(Engine {
            store,
            registry,
            policies,
            intents: Intents::new(),
            cursors: Cursors::default(),
            sessions: Sessions::default(),
            moments: Moments::default(),
            operations: Operations::default(),
            profiles: Profiles::default(),
            usage: Usage::default(),
            identity: OnceLock::new(),
            ttl_sleep_seconds: AtomicU32::new(ttl::SWEEP_SECONDS),
            purge: Notify::new(),
            retired: Mutex::default(),
            recounts: tokio::sync::Mutex::default(),
            background: Mutex::default(),
        });
        engine.store.on_sync(engine.registry.witness());
        engine.drop_unfinished_indexes().await?;
        engine.drop_temporary_collections().await?;
        engine.background.lock().extend([
            tokio::spawn(engine.clone().purge_dropped()),
            tokio::spawn(engine.clone().expire_documents()),
            tokio::spawn(engine.clone().expire_cursors()),
            tokio::spawn(engine.clone().reap_sessions()),
            tokio::spawn(engine.clone().trim_log()),
            tokio::spawn(engine.clone().watch_clients()),
            tokio::spawn(engine.clone().watch_storage()),
            tokio::spawn(engine.clone().resolve_growth()),
        ]);
        engine.recount_unfinished();
        Ok(engine)
    }

    /// Has something done aside, until the engine closes.
    pub(crate) fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = self.background.lock();
        background.retain(|task| !task.is_finished());
        background.push(tokio::spawn(work));
    }

    /// Notices failures of the storage engine while nobody writes.
    async fn watch_storage(self: Arc<Self>) {
        let failure = self.store.failure();
        while failure.borrow().is_none() {
            tokio::time::sleep(HEALTH_INTERVAL).await;
            let engine = self.clone();
            if tokio::task::spawn_blocking(move || engine.store.check_health()).await.is_err() {
                return;
            }
        }
    }

    /// How the server around the engine presents itself; the first to say so wins.
    pub fn set_identity(&self, identity: Identity) {
        let _ = self.identity.set(identity);
    }

    pub fn identity(&self) -> &Identity {
        self.identity.get_or_init(Identity::default)
    }

    /// Runs one command.
    pub async fn run(self: &Arc<Self>, request: Request, client: &Arc<Client>) -> Result<Reply> {
        run::run(self, request, client).await
    }

    /// Finishes what is under way and leaves nothing to replay.
    pub async fn close(self: &Arc<Self>) {
        let background = std::mem::take(&mut *self.background.lock());
        background.iter().for_each(JoinHandle::abort);
        for task in background {
            // An aborted task ends with an error that says just that.
            let _ = task.await;
        }
        self.kill_sessions(None);
        self.moments.clear();
        self.cursors.clear();
        let engine = self.clone();
        if tokio::task::spawn_blocking(move || engine.store.close()).await.is_err() {
            tracing::error!("closing the store panicked");
        }
    }
}
