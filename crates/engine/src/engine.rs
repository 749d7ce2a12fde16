//! The engine: a store, its catalog, and what runs on them.

use crate::background::Background;
use crate::backups::Backups;
use crate::catalog::Registry;
use crate::cursor::Cursors;
use crate::define::PurgeQueue;
use crate::growth::Growth;
use crate::health::Health;
use crate::identity::Identity;
use crate::moment::Moments;
use crate::operation::Operations;
use crate::policies::Policies;
use crate::run;
use crate::run::profile::Profiles;
use crate::session::Sessions;
use crate::storage::trees::Trees;
use crate::storage::{OpenError, Store};
use crate::transaction::intents::Intents;
use crate::ttl::Ttl;
use command::{Client, Reply, Request};
use error::{Code, Result};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

pub struct Engine {
    pub store: Store,
    /// How the documents of collections grow: the books of the store's commits.
    pub growth: Arc<Growth>,
    pub cursors: Cursors,
    pub sessions: Sessions,
    pub operations: Operations,
    pub ttl: Ttl,
    pub(crate) registry: Arc<Registry>,
    pub(crate) policies: Policies,
    pub(crate) intents: Arc<Intents>,
    pub(crate) moments: Moments,
    pub(crate) profiles: Profiles,
    pub(crate) health: Health,
    pub(crate) purge_queue: PurgeQueue,
    pub(crate) background: Background,
    identity: OnceLock<Identity>,
    /// Where copies of the store may be written, if anywhere.
    backups: OnceLock<Backups>,
}

impl Engine {
    /// Opens the store in a directory, creating it if there is none.
    pub async fn open(directory: &Path) -> std::result::Result<Arc<Engine>, OpenError> {
        let started = Instant::now();
        let growth = Arc::new(Growth::default());
        let (path, bookkeeper) = (directory.to_owned(), growth.clone());
        let opened = tokio::task::spawn_blocking(move || Store::open(&path, bookkeeper)).await;
        // The storage engine panics where it meets what it never wrote.
        let store = opened.map_err(|error| OpenError::damaged(directory, &error))??;
        let engine = Engine::start(store, growth).await;
        let engine = engine.map_err(|error| OpenError::new(directory, &error))?;
        engine.report_start(directory, started);
        Ok(engine)
    }

    /// Logs how the store was left and what opening it took, in one line.
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

    /// An engine over any trees.
    pub async fn with_trees(trees: Arc<dyn Trees>) -> Result<Arc<Engine>> {
        let growth = Arc::new(Growth::default());
        Engine::start(Store::with_trees(trees, growth.clone())?, growth).await
    }

    /// An engine over an open store, whose books `growth` keeps.
    async fn start(store: Store, growth: Arc<Growth>) -> Result<Arc<Engine>> {
        let registry = Arc::new(Registry::load(&store.view())?);
        let policies = Policies::load(&store.view(), registry.clone())?;
        let engine = Arc::new(Engine {
            store,
            growth,
            registry,
            policies,
            intents: Intents::new(),
            cursors: Cursors::default(),
            sessions: Sessions::default(),
            moments: Moments::default(),
            operations: Operations::default(),
            profiles: Profiles::default(),
            ttl: Ttl::default(),
            health: Health::default(),
            purge_queue: PurgeQueue::default(),
            background: Background::default(),
            identity: OnceLock::new(),
            backups: OnceLock::new(),
        });
        engine.store.on_sync(engine.registry.witness());
        engine.drop_unfinished_indexes().await?;
        engine.drop_temporary_collections().await?;
        let background = &engine.background;
        background.spawn(engine.clone().purge_dropped());
        background.spawn(engine.clone().expire_documents());
        background.spawn(engine.clone().expire_cursors());
        background.spawn(engine.clone().reclaim_cursors());
        background.spawn(engine.clone().reap_sessions());
        background.spawn(engine.clone().trim_log());
        background.spawn(engine.clone().watch_clients());
        background.spawn(engine.clone().watch_storage());
        background.spawn(engine.clone().reclaim_when_low());
        background.spawn(engine.clone().resolve_growth());
        engine.recount_unfinished();
        Ok(engine)
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
        self.background.stop().await;
        self.kill_sessions(None);
        self.moments.clear();
        self.cursors.clear();
        let engine = self.clone();
        if tokio::task::spawn_blocking(move || engine.store.close()).await.is_err() {
            tracing::error!("closing the store panicked");
        }
    }
}
