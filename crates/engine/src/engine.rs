//! The engine: a store, its catalog, and what runs on them.

use crate::backups::Backups;
use crate::catalog::{Collection, Registry};
use crate::cursor::Cursors;
use crate::health::Health;
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
use error::{Code, Result};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long a close waits for what runs in the background and has been asked to stop.
const BACKGROUND_WAIT_MAX: Duration = Duration::from_millis(500);

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
    pub(crate) health: Health,
    identity: OnceLock<Identity>,
    /// Where copies of the store may be written, if anywhere.
    backups: OnceLock<Backups>,
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
            health: Health::default(),
            identity: OnceLock::new(),
            backups: OnceLock::new(),
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
            spawn(engine.clone().purge_dropped()),
            spawn(engine.clone().expire_documents()),
            spawn(engine.clone().expire_cursors()),
            spawn(engine.clone().reclaim_cursors()),
            spawn(engine.clone().reap_sessions()),
            spawn(engine.clone().trim_log()),
            spawn(engine.clone().watch_clients()),
            spawn(engine.clone().watch_storage()),
            spawn(engine.clone().reclaim_when_low()),
            spawn(engine.clone().resolve_growth()),
        ]);
        engine.recount_unfinished();
        Ok(engine)
    }

    /// Has something done aside, until the engine closes.
    pub(crate) fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut background = self.background.lock();
        background.retain(|task| !task.is_finished());
        background.push(spawn(work));
    }

    /// How the server around the engine presents itself; the first to say so wins.
    pub fn set_identity(&self, identity: Identity) {
        let _ = self.identity.set(identity);
    }

    pub fn identity(&self) -> &Identity {
        self.identity.get_or_init(Identity::default)
    }

    /// Asks every command under way to stop, since the server stops.
    pub fn interrupt_all(&self) {
        self.operations.stop_all(Code::InterruptedAtShutdown);
    }

    /// Where copies of the store may be written; the first to say so wins.
    pub fn set_backups(&self, backups: Backups) {
        let _ = self.backups.set(backups);
    }

    pub fn backups(&self) -> Option<&Backups> {
        self.backups.get()
    }

    /// Runs one command.
    pub fn run(
        self: &Arc<Self>,
        request: Request,
        client: &Arc<Client>,
    ) -> impl Future<Output = Result<Reply>> + Send {
        run::run(self, request, client)
    }

    /// Finishes what is under way and leaves nothing to replay.
    pub async fn close(self: &Arc<Self>) {
        let background = std::mem::take(&mut *self.background.lock());
        background.iter().for_each(JoinHandle::abort);
        let ended = async {
            for task in background {
                // An aborted task ends with an error that says just that.
                let _ = task.await;
            }
        };
        if tokio::time::timeout(BACKGROUND_WAIT_MAX, ended).await.is_err() {
            tracing::warn!("closed in the middle of work in the background");
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

/// Spawns a task that holds no serving thread for longer than a turn.
fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(turn::fair(work))
}
