//! Transactions of the embedded engine: intents (write locks) taken as statements run,
//! writes kept in an overlay, one commit. Until then nothing has left the overlay, so that
//! dropping the transaction is its rollback.
//!
//! A plain transaction is one step of a command: it reads what is newest, waits
//! for others and starts over. A client's transaction (`client`) lasts over
//! several commands under snapshot isolation, and never waits.

mod client;
mod duplicate;
mod entries;
mod events;
mod grow;
pub mod intents;
mod propose;
mod row;
mod warning;
mod write;

pub use propose::Proposal;
pub use row::Row;

#[cfg(test)]
pub use client::TRANSACTION_BYTES_MAX;

use crate::Engine;
use crate::catalog::{ArrayPlaces, Collection};
use crate::growth::Grown;
use crate::operation::{STOP_LOOK_INTERVAL, held_up};
use crate::plan::Interrupt;
use crate::storage::layered::Layered;
use crate::storage::{
    BookEntry, CHANGES_AT_ONCE_MAX, Commit, Overlay, Silent, Tree, TreeChange, View, keys,
};
use client::ClientSnapshot;
use command::Namespace;
use error::{Code, Error, Result};
use fjall::Slice;
use guard::Lease;
use intents::{Intent, IntentOwner, Subject, Taken};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, RwLock, oneshot};

pub struct Transaction {
    engine: Arc<Engine>,
    owner: IntentOwner,
    /// Set in a client's transaction.
    snapshot: Option<Box<ClientSnapshot>>,
    /// What may stop the waiting for others.
    interrupt: Option<Interrupt>,
    /// Collections written to, with the right to rely on their definition.
    entered: Vec<EnteredCollection>,
    /// A collection that was not there when its guard was looked up.
    absent: Option<Absent>,
    base: Fresh,
    changes: Overlay,
    /// What the changes weigh, keys and values.
    bytes: usize,
    /// Index entries added and removed, those of `_id`s aside.
    index_entries: u64,
    /// What the changes take of the budget.
    memory: budget::Held,
    /// What becomes of the documents of each collection.
    grown: Vec<Grown>,
    intents: Vec<Intent>,
    /// What was in the way when a statement failed with a conflict.
    waiting: Option<oneshot::Receiver<Intent>>,
    /// The gate that was shut when a statement failed with a conflict.
    shut: Option<Arc<RwLock<()>>>,
    /// The collection that was missing in the last attempt.
    missing: Option<Namespace>,
    /// Multikey bits this transaction stores: to be marked so with its commit.
    multikey: Vec<(Arc<crate::catalog::Index>, ArrayPlaces)>,
    events: events::TransactionEvents,
    /// What is logged with the commit.
    warnings: Vec<warning::Warning>,
}

struct EnteredCollection {
    collection: Arc<Collection>,
    /// What guards it: that changes only while nobody is in.
    guarded: Option<Lease>,
    /// `None` where a change of definition holds it alone, and the transaction is its own.
    _gate: Option<OwnedRwLockReadGuard<()>>,
}

struct Absent {
    namespace: Namespace,
    /// What was to guard it.
    guarded: Option<Lease>,
}

/// A view, and how many commits had been applied when it was taken.
struct Fresh {
    view: View,
    applied: u64,
}

/// Putting so many bytes of changes in order may take longer than a turn.
const ASIDE_BYTES: usize = 1024 * 1024;
/// And so may letting go of so many intents.
const ASIDE_INTENTS: usize = 4 * 1024;

/// What a commit holds until it is settled; let go in this order.
struct HeldUntilSettled {
    intents: Vec<Intent>,
    _silent: Option<Silent>,
    entered: Vec<EnteredCollection>,
}

impl Drop for HeldUntilSettled {
    fn drop(&mut self) {
        let_go(&mut self.intents);
        for EnteredCollection { collection, .. } in &self.entered {
            if collection.is_capped() {
                collection.state.inserted.notify_waiters();
            }
        }
    }
}

impl Transaction {
    pub fn begin(engine: Arc<Engine>) -> Transaction {
        let owner = engine.intents.owner();
        let events = events::TransactionEvents::begin(engine.store.log());
        let base = Fresh::take(&engine);
        Transaction {
            engine,
            owner,
            snapshot: None,
            interrupt: None,
            entered: Vec::new(),
            absent: None,
            base,
            changes: Overlay::default(),
            bytes: 0,
            index_entries: 0,
            memory: budget::Held::new(budget::Kind::Work),
            grown: Vec::new(),
            intents: Vec::new(),
            waiting: None,
            shut: None,
            missing: None,
            multikey: Vec::new(),
            events,
            warnings: Vec::new(),
        }
    }

    /// The same, its waits and its walks ended by the operation's interrupt.
    pub fn stopped_by(self, interrupt: Interrupt) -> Transaction {
        Transaction { interrupt: Some(interrupt), ..self }
    }

    /// What its writes weigh, keys and values.
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// Index entries added and removed, those of `_id`s aside.
    pub fn index_entries(&self) -> u64 {
        self.index_entries
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The collection as this transaction may rely on it until its commit is
    /// applied; `None` if there is none.
    pub async fn enter(&mut self, namespace: &Namespace) -> Result<Option<Arc<Collection>>> {
        if let Some(entered) = self.entered(namespace) {
            return Ok(Some(entered.collection.clone()));
        }
        if self.snapshot.is_some() {
            return self.enter_snapshot(namespace).await;
        }
        loop {
            let Some(seen) = self.engine.registry.get(namespace) else { return Ok(None) };
            let gate = seen.state.gate.clone();
            let gate = match gate.clone().try_read_owned() {
                Ok(gate) => gate,
                // A change of definition may be waiting for what is entered already.
                Err(_) if !self.entered.is_empty() => {
                    self.shut = Some(gate);
                    return Err(conflict());
                }
                Err(_) => self.wait_for(gate.read_owned()).await?,
            };
            let Some(collection) = self.engine.registry.get(namespace) else { return Ok(None) };
            if Arc::ptr_eq(&collection.state, &seen.state) {
                let guarded = self.engine.policies.get(namespace);
                self.entered.push(EnteredCollection {
                    collection: collection.clone(),
                    guarded,
                    _gate: Some(gate),
                });
                return Ok(Some(collection));
            }
        }
    }

    /// Enters a collection on behalf of a change of definition that holds its gate, and
    /// commits together with the transaction.
    pub fn enter_held(&mut self, collection: Arc<Collection>) {
        let guarded = self.engine.policies.get(&collection.namespace);
        self.entered.push(EnteredCollection { collection, guarded, _gate: None });
    }

    fn entered(&self, namespace: &Namespace) -> Option<&EnteredCollection> {
        self.entered.iter().find(|entered| entered.collection.namespace == *namespace)
    }

    /// Everything applied, with this transaction's own writes on top. Taken
    /// after an intent, it shows whatever the intent's last holder wrote. In a
    /// client's transaction it is the snapshot that the writes are on top of.
    pub fn view(&mut self) -> View {
        let base = match &self.snapshot {
            Some(snapshot) => snapshot.view.clone(),
            None => self.fresh().clone(),
        };
        self.with_changes(base)
    }

    /// The same as it was when it was last taken.
    fn last_view(&self) -> View {
        let base = self.snapshot.as_ref().map_or(&self.base.view, |snapshot| &snapshot.view);
        self.with_changes(base.clone())
    }

    /// Everything applied, and this transaction's own writes.
    fn latest(&mut self) -> View {
        let base = self.fresh().clone();
        self.with_changes(base)
    }

    fn with_changes(&self, base: View) -> View {
        if self.changes.is_empty() {
            return base;
        }
        let changes = self.changes.clone();
        base.layered(|base| Arc::new(Layered { base, changes }))
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
        if self.snapshot.is_some() {
            return Err(conflict());
        }
        if !self.intents.is_empty() {
            self.waiting = Some(wait);
            return Err(conflict());
        }
        self.wait(wait).await?;
        Ok(true)
    }

    /// Waits for an intent that another transaction holds.
    async fn wait(&mut self, wait: oneshot::Receiver<Intent>) -> Result<()> {
        let intent = self.wait_for(wait).await?;
        self.intents.push(intent.map_err(|_| conflict())?);
        Ok(())
    }

    /// Waits for what others hold, unless it is to stop. Seldom, so that its room is its own.
    fn wait_for<'w, F>(
        &'w self,
        what: F,
    ) -> Pin<Box<dyn Future<Output = Result<F::Output>> + Send + 'w>>
    where
        F: Future<Output: Send> + Send + 'w,
    {
        Box::pin(held_up(async move {
            let mut what = pin!(what);
            let Some(interrupt) = &self.interrupt else { return Ok(what.await) };
            loop {
                match tokio::time::timeout(STOP_LOOK_INTERVAL, what.as_mut()).await {
                    Ok(outcome) => return Ok(outcome),
                    Err(_) => interrupt.check()?,
                }
            }
        }))
    }

    /// Forgets everything written, waits for what was in the way, and may then
    /// be used again.
    pub async fn start_over(&mut self) -> Result<()> {
        self.changes = Overlay::default();
        self.bytes = 0;
        self.index_entries = 0;
        self.memory.clear();
        self.grown.clear();
        let_go(&mut self.intents);
        self.multikey.clear();
        self.events.forget();
        self.warnings.clear();
        self.absent = None;
        if let Some(shut) = self.shut.take() {
            self.entered.clear();
            drop(self.wait_for(shut.read()).await?);
        }
        if let Some(missing) = self.missing.take() {
            self.entered.clear();
            self.engine.clone().ensure(&missing).await?;
        }
        match self.waiting.take() {
            Some(wait) => self.wait(wait).await,
            None => Ok(()),
        }
    }

    pub(crate) fn put(&mut self, tree: Tree, key: impl Into<Slice>, value: impl Into<Slice>) {
        self.change(tree, key.into(), Some(value.into()));
    }

    fn remove(&mut self, tree: Tree, key: impl Into<Slice>) {
        self.change(tree, key.into(), None);
    }

    fn change(&mut self, tree: Tree, key: Slice, value: Option<Slice>) {
        let weight = |value: &Option<Slice>| value.as_ref().map_or(0, |value| value.len());
        let key_bytes = key.len();
        self.bytes += weight(&value);
        match self.changes.insert(tree, key, value) {
            Some(earlier) => self.bytes -= weight(&earlier),
            None => self.bytes += key_bytes,
        }
    }

    /// Stores with this commit where an index has met arrays, unless an earlier one has.
    fn set_multikey(&mut self, index: &Arc<crate::catalog::Index>, arrays: &ArrayPlaces) {
        if arrays.is_empty() {
            return;
        }
        let unstored = index.multikey.set(arrays);
        if unstored.is_empty() {
            return;
        }
        for bit in (0..u64::BITS).filter(|bit| unstored.bits & (1 << bit) != 0) {
            self.put(Tree::Records, keys::multikey(index.id, bit as u8), Slice::empty());
        }
        for path in &unstored.paths {
            self.put(Tree::Records, keys::array_path(index.id, path), Slice::empty());
        }
        self.multikey.push((index.clone(), unstored));
    }

    /// The commit of everything written; intents are let go once it is applied.
    pub fn into_commit(mut self) -> Commit {
        self.hand_guards_over();
        self.log_warnings();
        // It is there, room or not, until it is applied.
        self.memory.force(self.bytes);
        let changes = std::mem::take(&mut self.changes);
        let changes = match self.bytes < ASIDE_BYTES {
            true => changes.into_changes(),
            false => turn::aside(|| changes.into_changes()),
        };
        if changes.len() > CHANGES_AT_ONCE_MAX {
            turn::aside(|| self.hold_inserted(&changes));
        }
        let multikey = self.multikey;
        let publish = (!multikey.is_empty()).then(|| {
            Box::new(move || {
                multikey.iter().for_each(|(index, arrays)| index.multikey.store(arrays))
            }) as Box<dyn FnOnce() + Send>
        });
        let held = HeldUntilSettled {
            intents: self.intents,
            _silent: self.events.silent(),
            entered: self.entered,
        };
        let log = self.events.into_log();
        let writes = self.grown.iter().map(Grown::writes).sum();
        let entry = (!self.grown.is_empty()).then(|| Box::new(self.grown) as BookEntry);
        let (held, memory) = (Box::new(held), self.memory);
        Commit { writes, entry, held, memory, publish, log, ..Commit::of(changes) }
    }
}

impl Transaction {
    /// A large commit is seen before all of it is in the trees. Until then it holds the records
    /// that it has inserted, too: what others wrote to them would be overwritten. Nobody holds
    /// them yet, since nobody has seen them.
    fn hold_inserted(&mut self, changes: &[TreeChange]) {
        let stored = changes.iter().filter(|it| it.tree == Tree::Records && it.value.is_some());
        for (collection, record) in stored.filter_map(|it| keys::record_of(&it.key)) {
            let subject = Subject::record(collection, record);
            if let Taken::New(intent) = self.engine.intents.take(self.owner, subject) {
                self.intents.push(intent);
            }
        }
    }
}

impl Fresh {
    /// The count is read first: a view may be newer than it says, never older.
    fn take(engine: &Engine) -> Fresh {
        let applied = engine.store.applied();
        Fresh { applied, view: engine.store.view() }
    }
}

/// The last taken goes first: a transaction that waits for the first, a document, finds
/// those behind it, its pages, free.
fn let_go(intents: &mut Vec<Intent>) {
    if intents.len() >= ASIDE_INTENTS {
        return turn::aside(|| let_go_here(intents));
    }
    let_go_here(intents);
}

fn let_go_here(intents: &mut Vec<Intent>) {
    while intents.pop().is_some() {}
}

fn conflict() -> Error {
    Code::WriteConflict.error(
        "Caused by :: Write conflict during plan execution and yielding is disabled. :: \
         Please retry your operation or multi-document transaction.",
    )
}
