//! Changes of definition: collections, views and indexes made, altered, dropped.
//!
//! One change at a time. A change waits until the writers of the collections it
//! alters are through, and is synced before anyone hears of it.

mod build;
mod capped;
mod changes;
mod collection;
mod database;
mod gates;
mod indexes;
mod purge;

pub(crate) use purge::PurgeQueue;

use crate::Engine;
use crate::catalog::{Catalog, Collection, row};
use crate::changes::Event;
use crate::guarded;
use crate::operation::{self, unless_stopped};
use crate::storage::{CollectionId, Commit, Events, LogChange, Mark, Tree, TreeChange, keys};
use crate::transaction::Transaction;
use changes::RowChanges;
use command::Namespace;
use error::Result;
use fjall::Slice;
use guard::Table;
use std::sync::{Arc, Weak};
use tokio::sync::{MutexGuard, OwnedRwLockWriteGuard};

/// A change of the catalog under way. Dropped without `commit`, it never was.
pub struct Definition<'e> {
    engine: &'e Arc<Engine>,
    pub catalog: Catalog,
    changes: RowChanges,
    retired: Vec<Weak<Collection>>,
    /// Collections whose data go.
    discarded: Vec<CollectionId>,
    /// What change streams are to show, and of which collection.
    events: Vec<(Option<Namespace>, Slice)>,
    begins_log: bool,
    /// The policies from now on, if they change.
    pub policies: Option<Table>,
    gates: Vec<OwnedRwLockWriteGuard<()>>,
    _turn: MutexGuard<'e, ()>,
}

impl<'e> Definition<'e> {
    /// Begins a change that may alter these collections, unless the command is to stop before
    /// their writers are through: nothing has changed then.
    pub async fn begin(engine: &'e Arc<Engine>, alters: &[&Namespace]) -> Result<Definition<'e>> {
        unless_stopped(Definition::begin_uninterruptible(engine, alters)).await
    }

    /// The same, though the command be asked to stop: for what would be left half done without
    /// it. Writers are waited for first, in one order for all, before others are kept waiting.
    pub async fn begin_uninterruptible(
        engine: &'e Arc<Engine>,
        alters: &[&Namespace],
    ) -> Definition<'e> {
        loop {
            let seen = defined(&engine.registry.current(), alters);
            let gates = gates::take(&seen).await;
            let turn = engine.registry.changes.lock().await;
            let catalog = Catalog::clone(&engine.registry.current());
            // Another change may have come in between: then these are others' gates.
            let now = defined(&catalog, alters);
            let states = |of: &[Arc<Collection>]| {
                of.iter().map(|collection| Arc::as_ptr(&collection.state)).collect::<Vec<_>>()
            };
            if states(&now) == states(&seen) {
                return Definition {
                    engine,
                    catalog,
                    changes: RowChanges::default(),
                    retired: Vec::new(),
                    discarded: Vec::new(),
                    events: Vec::new(),
                    begins_log: false,
                    policies: None,
                    gates,
                    _turn: turn,
                };
            }
        }
    }

    /// As `begin` for a client: what policies keep for themselves is not altered. Policies
    /// change in the same turns as the catalog, so what they allow now they still allow at
    /// the commit.
    pub async fn begin_for_client(
        engine: &'e Arc<Engine>,
        alters: &[&Namespace],
    ) -> Result<Definition<'e>> {
        let definition = Definition::begin(engine, alters).await?;
        alters.iter().try_for_each(|namespace| engine.policies.check_definition(namespace))?;
        Ok(definition)
    }

    /// Numbers for new collections and indexes.
    pub fn take_ids(&mut self, count: u32) -> u32 {
        let (first, change) = self.engine.registry.take_ids(count);
        self.change(change);
        first
    }

    /// Adds a collection or puts it in the place of its earlier definition.
    pub fn put(&mut self, collection: Arc<Collection>) -> Result<()> {
        collection.check_size()?;
        self.put_smaller(collection);
        Ok(())
    }

    /// As `put`, for a definition that has lost a part: one that is too large may shrink.
    fn put_smaller(&mut self, collection: Arc<Collection>) {
        self.retire(&collection.namespace);
        self.change(row::write(&collection));
        self.catalog = self.catalog.with(collection);
    }

    /// Takes a collection out of the catalog; its data stay.
    pub fn remove(&mut self, namespace: &Namespace) {
        self.retire(namespace);
        self.change(row::remove(namespace));
        self.catalog = self.catalog.without(namespace);
    }

    /// Remembers a definition that goes: readers may still rely on it.
    fn retire(&mut self, namespace: &Namespace) {
        self.retired.extend(self.catalog.get(namespace).map(Arc::downgrade));
    }

    /// Marks everything under a collection's numbers as dead.
    pub fn discard(&mut self, collection: &Collection) -> Result<()> {
        if collection.is_view() {
            return Ok(());
        }
        for pair in self.engine.store.view().range(Tree::Records, keys::kept_rows(collection.id)) {
            let (key, _) = pair.map_err(crate::storage::failed)?;
            self.change(TreeChange { tree: Tree::Records, key, value: None });
        }
        self.discarded.push(collection.id);
        self.mark_dead(Tree::Records, collection.id.0);
        self.mark_dead(Tree::Large, collection.id.0);
        self.change(TreeChange {
            tree: Tree::Records,
            key: keys::counts(collection.id),
            value: None,
        });
        for index in &collection.indexes {
            self.discard_index(index);
        }
        Ok(())
    }

    pub fn discard_index(&mut self, index: &crate::catalog::Index) {
        self.mark_dead(Tree::Entries, index.id.0);
        for bit in (0..u64::BITS).filter(|bit| index.multikey.bits() & (1 << bit) != 0) {
            let key = keys::multikey(index.id, bit as u8);
            self.change(TreeChange { tree: Tree::Records, key, value: None });
        }
        for path in index.multikey.paths() {
            let key = keys::array_path(index.id, &path);
            self.change(TreeChange { tree: Tree::Records, key, value: None });
        }
    }

    fn mark_dead(&mut self, tree: Tree, id: u32) {
        let key = keys::dropped(tree, id);
        self.change(TreeChange { tree: Tree::Records, key, value: Some(Slice::empty()) });
    }

    fn change(&mut self, change: TreeChange) {
        self.changes.put(change);
    }

    /// Logs an event of the change, for change streams.
    pub fn log_event(&mut self, event: impl FnOnce() -> Option<Event>) {
        self.note_event(None, event);
    }

    /// The same of a collection, unless it is one that clients do not see, such as pages that
    /// they see with their documents.
    pub fn log_event_of(&mut self, namespace: &Namespace, event: impl FnOnce() -> Option<Event>) {
        self.note_event(Some(namespace), event);
    }

    fn note_event(&mut self, of: Option<&Namespace>, event: impl FnOnce() -> Option<Event>) {
        let event = self.engine.store.log().is_logging().then(event).flatten();
        self.events.extend(event.map(|event| (of.cloned(), event.finish())));
    }

    /// What the commit has for the log of changes: by the policies of before and after it.
    fn take_log(&mut self) -> LogChange {
        if self.begins_log {
            return LogChange::Begin;
        }
        let before = self.engine.policies.current();
        let after = self.policies.as_ref().unwrap_or(&before);
        let is_listed =
            |it: &Namespace| guarded::is_listed(&before, it) && guarded::is_listed(after, it);
        let listed = std::mem::take(&mut self.events)
            .into_iter()
            .filter(|(of, _)| of.as_ref().is_none_or(is_listed));
        let events: Vec<Slice> = listed.map(|(_, event)| event).collect();
        match events.is_empty() {
            true => LogChange::None,
            false => LogChange::Append(Events { events, together: false }),
        }
    }

    /// Begins the log of changes with this change.
    pub fn begin_log(&mut self) {
        self.begins_log = true;
    }

    /// A transaction that writes to a collection which this change holds, to be committed
    /// with it. It must not wait at the gate: its holder may be waiting for this change.
    pub fn transaction(&self, namespace: &Namespace) -> Transaction {
        let mut transaction = Transaction::begin(self.engine.clone());
        self.catalog.get(namespace).into_iter().for_each(|it| transaction.enter_held(it.clone()));
        transaction
    }

    /// Makes the change visible and durable, and then lets writers go on.
    pub async fn commit(self) -> Result<()> {
        let nothing = Transaction::begin(self.engine.clone());
        self.commit_with(nothing).await
    }

    /// As `commit`, together with what a transaction has written.
    pub async fn commit_with(mut self, transaction: Transaction) -> Result<()> {
        let engine = self.engine.clone();
        let log = self.take_log();
        engine.registry.reserve(&self.catalog)?;
        self.policies.iter().try_for_each(|table| engine.policies.reserve(table))?;
        let (catalog, policies) = (self.catalog, self.policies);
        let changes = self.changes.into_vec();
        let purge = changes.iter().any(|change| keys::is_dropped_row(&change.key));
        let written = transaction.into_commit();
        let changes = changes.into_iter().chain(written.changes).collect();
        let commit = Commit {
            writes: written.writes,
            entry: written.entry,
            held: Box::new((self.gates, written.held)),
            publish: Some(Box::new(move || {
                written.publish.into_iter().for_each(|publish| publish());
                engine.registry.publish(match policies {
                    Some(table) => catalog.with_beside(engine.policies.taking(table)),
                    None => catalog,
                });
            })),
            // What a definition writes on the way is the server's own business.
            log,
            ..Commit::of(changes)
        };
        if purge {
            self.engine.purge_queue.retire(self.retired);
        }
        let ticket = self.engine.store.commit(commit, Mark::Synced).await?;
        // A change stream from the reply's time on shows the change.
        operation::note_commit(self.engine, ticket);
        self.discarded.iter().for_each(|gone| self.engine.growth.forget(*gone));
        if purge {
            self.engine.purge_queue.purge();
        }
        Ok(())
    }
}

impl Engine {
    /// Begins the log of changes, if there is none yet. Writers that leave no events are
    /// waited for, so that none of them commits after the beginning.
    pub async fn begin_log(self: &Arc<Self>) -> Result<()> {
        if self.store.log().is_on() {
            return Ok(());
        }
        self.store.log().start_logging().await;
        // Nor does a change of definition.
        let mut definition = Definition::begin(self, &[]).await?;
        definition.begin_log();
        definition.commit().await
    }

    /// What `look` finds of a collection while nobody writes to it; `None` if there is none.
    pub(crate) async fn at_rest<T>(
        self: &Arc<Self>,
        namespace: &Namespace,
        look: impl FnOnce(&Arc<Collection>) -> Result<T>,
    ) -> Result<Option<T>> {
        let definition = Definition::begin(self, &[namespace]).await?;
        definition.catalog.get(namespace).map(look).transpose()
    }

    /// Numbers for what a client's transaction creates. They are taken even if it
    /// is aborted: then nothing ever has them.
    pub(crate) async fn reserve_ids(&self, count: u32) -> Result<u32> {
        let _turn = self.registry.changes.lock().await;
        let (first, change) = self.registry.take_ids(count);
        self.store.submit(Commit::of(vec![change]))?;
        Ok(first)
    }
}

/// Those of the collections that exist, in the order in which gates are taken.
fn defined(catalog: &Catalog, namespaces: &[&Namespace]) -> Vec<Arc<Collection>> {
    let mut found: Vec<_> =
        namespaces.iter().filter_map(|namespace| catalog.get(namespace).cloned()).collect();
    found.sort_by_key(|collection| collection.id);
    found.dedup_by_key(|collection| collection.id);
    found
}
