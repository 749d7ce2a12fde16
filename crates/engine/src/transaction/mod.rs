//! Transactions of the embedded engine: intents taken as statements run, writes
//! kept in an overlay, one commit.

mod duplicate;
mod entries;
pub mod intents;
mod row;
mod tell;
mod write;

pub use row::Row;

use crate::Engine;
use crate::catalog::Collection;
use crate::storage::layered::{Changes, Layered};
use crate::storage::{Change, CollectionId, Commit, Delta, Tree, View, keys};
use command::Namespace;
use error::{Code, Error, Result};
use fjall::Slice;
use intents::{Intent, Owner, Subject, Taken};
use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, oneshot};

pub struct Transaction {
    engine: Arc<Engine>,
    owner: Owner,
    /// Collections written to, with the right to rely on their definition.
    entered: Vec<Entered>,
    base: Fresh,
    changes: Arc<Changes>,
    counts: Vec<(CollectionId, Delta)>,
    intents: Vec<Intent>,
    /// What was in the way when a statement failed with a conflict.
    waiting: Option<oneshot::Receiver<Intent>>,
    /// Multikey bits this transaction stores: to be marked so with its commit.
    multikey: Vec<(Arc<crate::catalog::Index>, u64)>,
    told: tell::Told,
}

struct Entered {
    collection: Arc<Collection>,
    _gate: OwnedRwLockReadGuard<()>,
}

/// A view, and how many commits had been applied when it was taken.
struct Fresh {
    view: View,
    applied: u64,
}

/// What a commit holds until it is applied; dropped in this order.
struct Held {
    _intents: Vec<Intent>,
    entered: Vec<Entered>,
}

impl Drop for Held {
    fn drop(&mut self) {
        for Entered { collection, .. } in &self.entered {
            if collection.is_capped() {
                collection.state.inserted.notify_waiters();
            }
        }
    }
}

impl Transaction {
    pub fn begin(engine: Arc<Engine>) -> Transaction {
        let owner = engine.intents.owner();
        let base = Fresh::take(&engine);
        Transaction {
            engine,
            owner,
            entered: Vec::new(),
            base,
            changes: Arc::default(),
            counts: Vec::new(),
            intents: Vec::new(),
            waiting: None,
            multikey: Vec::new(),
            told: tell::Told::default(),
        }
    }

    /// The collection as this transaction may rely on it until its commit is
    /// applied; `None` if there is none.
    pub async fn enter(&mut self, namespace: &Namespace) -> Result<Option<Arc<Collection>>> {
        if let Some(entered) = self.entered.iter().find(|e| e.collection.namespace == *namespace) {
            return Ok(Some(entered.collection.clone()));
        }
        loop {
            let Some(seen) = self.engine.registry.get(namespace) else { return Ok(None) };
            let gate = seen.state.gate.clone();
            let gate = match gate.clone().try_read_owned() {
                Ok(gate) => gate,
                Err(_) => gate.read_owned().await,
            };
            let Some(collection) = self.engine.registry.get(namespace) else { return Ok(None) };
            if Arc::ptr_eq(&collection.state, &seen.state) {
                self.entered.push(Entered { collection: collection.clone(), _gate: gate });
                return Ok(Some(collection));
            }
        }
    }

    /// Everything applied, with this transaction's own writes on top. Taken
    /// after an intent, it shows whatever the intent's last holder wrote.
    pub fn view(&mut self) -> View {
        self.fresh();
        if self.changes.is_empty() {
            return self.base.view.clone();
        }
        let changes = self.changes.clone();
        self.base.view.layered(|base| Arc::new(Layered { base, changes }))
    }

    /// Everything applied, without this transaction's own writes.
    fn fresh(&mut self) -> &View {
        if self.base.applied != self.engine.store.applied() {
            self.base = Fresh::take(&self.engine);
        }
        &self.base.view
    }

    /// Takes an intent, and says whether it is new. With nothing held it waits its
    /// turn; otherwise it fails, since waiting while others may wait for us could
    /// last for ever.
    async fn take(&mut self, subject: Subject) -> Result<bool> {
        let wait = match self.engine.intents.take(self.owner, subject) {
            Taken::New(intent) => {
                self.intents.push(intent);
                return Ok(true);
            }
            Taken::Mine => return Ok(false),
            Taken::Busy(wait) => wait,
        };
        if !self.intents.is_empty() {
            self.waiting = Some(wait);
            return Err(conflict());
        }
        let intent = wait.await.map_err(|_| conflict())?;
        self.intents.push(intent);
        Ok(true)
    }

    /// Forgets everything written, waits for what was in the way, and may then
    /// be used anew.
    pub async fn start_over(&mut self) {
        self.changes = Arc::default();
        self.counts.clear();
        self.intents.clear();
        self.multikey.clear();
        self.told.forget();
        if let Some(wait) = self.waiting.take()
            && let Ok(intent) = wait.await
        {
            self.intents.push(intent);
        }
    }

    fn put(&mut self, tree: Tree, key: impl Into<Slice>, value: impl Into<Slice>) {
        Arc::make_mut(&mut self.changes).insert((tree, key.into()), Some(value.into()));
    }

    fn remove(&mut self, tree: Tree, key: impl Into<Slice>) {
        Arc::make_mut(&mut self.changes).insert((tree, key.into()), None);
    }

    fn count(&mut self, collection: CollectionId, documents: i64, bytes: i64) {
        match self.counts.iter_mut().find(|(id, _)| *id == collection) {
            Some((_, delta)) => {
                delta.documents += documents;
                delta.bytes += bytes;
            }
            None => self.counts.push((collection, Delta { documents, bytes })),
        }
    }

    /// Stores multikey bits with this commit, unless an earlier one has.
    fn set_multikey(&mut self, index: &Arc<crate::catalog::Index>, bits: u64) {
        index.multikey.set(bits);
        let missing = bits & !index.multikey.stored();
        if missing == 0 {
            return;
        }
        for bit in (0..u64::BITS).filter(|bit| missing & (1 << bit) != 0) {
            self.put(Tree::Records, keys::multikey(index.id, bit as u8), Slice::empty());
        }
        self.multikey.push((index.clone(), missing));
    }

    /// The commit of everything written; intents are let go once it is applied.
    pub fn into_commit(self) -> Commit {
        let changes = Arc::unwrap_or_clone(self.changes);
        let changes =
            changes.into_iter().map(|((tree, key), value)| Change { tree, key, value }).collect();
        let multikey = self.multikey;
        let publish = (!multikey.is_empty()).then(|| {
            Box::new(move || multikey.iter().for_each(|(index, bits)| index.multikey.store(*bits)))
                as Box<dyn FnOnce() + Send>
        });
        let held = Box::new(Held { _intents: self.intents, entered: self.entered });
        let log = self.told.into_log();
        Commit { changes, counts: self.counts, held, publish, log }
    }
}

impl Fresh {
    /// The count is read first: a view may be newer than it says, never older.
    fn take(engine: &Engine) -> Fresh {
        let applied = engine.store.applied();
        Fresh { applied, view: engine.store.view() }
    }
}

fn conflict() -> Error {
    Code::WriteConflict.error(
        "Caused by :: Write conflict during plan execution and yielding is disabled. :: \
         Please retry your operation or multi-document transaction.",
    )
}
