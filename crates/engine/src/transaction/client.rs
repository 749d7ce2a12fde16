//! What makes a transaction a client's: snapshot isolation. It reads one snapshot, it fails
//! with a conflict instead of waiting for others (the first to write wins), and what it
//! creates is seen by nobody else until it commits.

use super::intents::Subject;
use super::warning::Warning;
use super::{EnteredCollection, Transaction, conflict};
use crate::Engine;
use crate::catalog::{
    Catalog, Collection, Index, IndexesCreated, IndexesFound, NewCollection, check_case, define,
    find_indexes, row,
};
use crate::guarded::WithPolicies;
use crate::operation::held_up;
use crate::storage::{CollectionId, IndexId, Mark, Staged, Ticket, Tree, TreeChange, View};
use bson::RawDocumentBuf;
use command::Namespace;
use error::{Code, Error, Result};
use guard::Lease;
use guard::provision::check_kind;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What the writes of a client's transaction may weigh, keys and values.
pub const TRANSACTION_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How long a client's transaction waits for a change of a collection's definition.
const DEFINITION_WAIT: Duration = Duration::from_millis(5);

/// What a client's transaction sees beneath its own writes.
pub(super) struct ClientSnapshot {
    pub view: View,
    /// How many commits had been applied, at the least.
    applied: u64,
    /// As of the snapshot, and what this transaction created.
    catalog: Catalog,
    created: Vec<Made>,
}

/// A collection that a transaction made.
struct Made {
    namespace: Namespace,
    /// What guarded the first who wrote to it, and is to guard it still at the commit.
    guarded: Option<Lease>,
}

impl ClientSnapshot {
    fn has_made(&self, namespace: &Namespace) -> bool {
        self.created.iter().any(|made| made.namespace == *namespace)
    }
}

impl Transaction {
    /// A client's transaction, as of now.
    pub fn begin_client(engine: Arc<Engine>) -> Transaction {
        let catalog = Catalog::clone(&engine.registry.current());
        let mut transaction = Transaction::begin(engine);
        transaction.snapshot = Some(Box::new(ClientSnapshot {
            view: transaction.base.view.clone(),
            applied: transaction.base.applied,
            catalog,
            created: Vec::new(),
        }));
        transaction.part_from_log();
        transaction
    }

    pub(super) fn is_clients(&self) -> bool {
        self.snapshot.is_some()
    }

    /// The collections as this transaction sees them.
    pub fn catalog(&self) -> Catalog {
        match &self.snapshot {
            Some(snapshot) => snapshot.catalog.clone(),
            None => Catalog::clone(&self.engine.registry.current()),
        }
    }

    /// A collection as this transaction sees it: one that it has entered, or one of its
    /// snapshot.
    pub(super) fn definition(&self, namespace: &Namespace) -> Option<&Arc<Collection>> {
        match &self.snapshot {
            Some(snapshot) => snapshot.catalog.get(namespace),
            None => self.entered(namespace).map(|entered| &entered.collection),
        }
    }

    /// Refuses to grow past what a client's transaction may weigh, and what there is room for.
    pub fn check_size(&mut self) -> Result<()> {
        if self.bytes <= TRANSACTION_BYTES_MAX {
            return self.memory.resize(self.bytes);
        }
        Err(Code::TransactionTooLargeForCache.error(format!(
            "transaction is too large: its writes weigh {} bytes, and the limit is \
             {TRANSACTION_BYTES_MAX}",
            self.bytes
        )))
    }

    /// As `enter`. What changed since the snapshot cannot be written to.
    pub(super) async fn enter_snapshot(
        &mut self,
        namespace: &Namespace,
    ) -> Result<Option<Arc<Collection>>> {
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        let Some(seen) = snapshot.catalog.get(namespace).cloned() else {
            return match self.engine.registry.get(namespace) {
                Some(_) => Err(conflict()),
                None => Ok(None),
            };
        };
        if snapshot.has_made(namespace) || seen.is_view() {
            return Ok(Some(seen));
        }
        if seen.state.definitions_waiting.load(Ordering::Relaxed) > 0 {
            return Err(locked(namespace));
        }
        let gate = seen.state.gate.clone();
        let gate = match gate.clone().try_read_owned() {
            Ok(gate) => gate,
            Err(_) => held_up(tokio::time::timeout(DEFINITION_WAIT, gate.read_owned()))
                .await
                .map_err(|_| locked(namespace))?,
        };
        let current = self.engine.registry.get(namespace);
        let guarded = self.engine.policies.get(namespace);
        let is_same = current.is_some_and(|current| Arc::ptr_eq(&current, &seen))
            && Lease::is_same(snapshot.catalog.roles(namespace), guarded.as_ref());
        if !is_same {
            return Err(changed(namespace));
        }
        self.entered.push(EnteredCollection {
            collection: seen.clone(),
            guarded,
            _gate: Some(gate),
        });
        Ok(Some(seen))
    }

    /// After an intent was taken: fails if what it is on has changed since the
    /// snapshot of a client's transaction.
    pub(super) fn check_unchanged(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        if snapshot.applied == self.engine.store.applied() {
            return Ok(());
        }
        let then = snapshot.view.get(tree, key)?;
        let now = self.fresh().get(tree, key)?;
        if then == now { Ok(()) } else { Err(conflict()) }
    }

    /// Makes a collection, for this transaction's eyes only until it commits.
    pub async fn create(&mut self, new: NewCollection<'_>) -> Result<Arc<Collection>> {
        let catalog = self.catalog();
        if catalog.get(new.namespace).is_some() {
            return Err(Code::NamespaceExists
                .error(format!("Collection {} already exists.", new.namespace)));
        }
        check_case(&catalog, &new.namespace.database)?;
        self.take(Subject::namespace(new.namespace)).await?;
        if self.engine.registry.get(new.namespace).is_some() {
            return Err(conflict());
        }
        let first = self.engine.reserve_ids(2).await?;
        let collection = Arc::new(define(&new, CollectionId(first), IndexId(first + 1))?);
        let guarded = match self.absent.take_if(|absent| absent.namespace == *new.namespace) {
            Some(absent) => absent.guarded,
            None => self.engine.policies.get(new.namespace),
        };
        check_kind(guarded.as_deref(), &*collection)?;
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.created.push(Made { namespace: new.namespace.clone(), guarded });
        }
        self.log_created(&collection);
        self.redefine(collection.clone())?;
        Ok(collection)
    }

    /// Makes indexes on a collection that this transaction made and that holds
    /// nothing yet.
    pub async fn create_indexes(
        &mut self,
        namespace: &Namespace,
        specs: &[RawDocumentBuf],
    ) -> Result<IndexesCreated> {
        let found = self.definition(namespace).cloned();
        let created_collection = found.is_none();
        let collection = match found {
            Some(collection) => collection,
            None => {
                let options = RawDocumentBuf::new();
                self.create(NewCollection { namespace, options: &options, view: false }).await?
            }
        };
        let before = collection.indexes.len();
        let missing = match find_indexes(&collection, specs)? {
            IndexesFound::All => {
                let made = Vec::new();
                return Ok(IndexesCreated { before, after: before, created_collection, made });
            }
            IndexesFound::Missing(missing) => missing,
            // Nobody else builds in what this transaction made, so this is refused.
            IndexesFound::Building(_) => Vec::new(),
        };
        self.check_buildable(&collection)?;
        let first = self.engine.reserve_ids(missing.len() as u32).await?;
        let mut indexes = collection.indexes.clone();
        for (spec, id) in missing.iter().zip(first..) {
            indexes.push(Arc::new(Index::from_spec(IndexId(id), spec, true)?));
        }
        let after = indexes.len();
        let collection = Arc::new(collection.with_indexes(indexes));
        let names: Vec<_> = collection.indexes[before..].iter().map(|it| &*it.name).collect();
        self.log_indexes_created(&collection, &names);
        let made = collection.indexes[before..].iter().map(|index| index.id).collect();
        self.redefine(collection)?;
        Ok(IndexesCreated { before, after, created_collection, made })
    }

    fn check_buildable(&mut self, collection: &Collection) -> Result<()> {
        let namespace = &collection.namespace;
        let refused = |what: &str| {
            Err(Code::OperationNotSupportedInTransaction.error(format!(
                "Cannot create new indexes on {what} collection {namespace} in a multi-document \
                 transaction."
            )))
        };
        if !self.snapshot.as_ref().is_some_and(|snapshot| snapshot.has_made(namespace)) {
            return refused("existing");
        }
        let all = (Bound::Unbounded, Bound::Unbounded);
        match self.view().records(collection.id, all).next() {
            Some(_) => refused("non-empty"),
            None => Ok(()),
        }
    }

    /// The collections that this transaction made.
    pub fn made(&self) -> Vec<Namespace> {
        let made = self.snapshot.iter().flat_map(|snapshot| &snapshot.created);
        made.map(|made| made.namespace.clone()).collect()
    }

    /// Puts a definition into this transaction's catalog and among its writes.
    fn redefine(&mut self, collection: Arc<Collection>) -> Result<()> {
        collection.check_size()?;
        let TreeChange { tree, key, value } = row::write(&collection);
        self.change(tree, key, value);
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.catalog = snapshot.catalog.with(collection);
        }
        Ok(())
    }

    /// Commits a client's transaction, and shows everyone what it created.
    pub async fn commit_client(mut self) -> Result<Option<Ticket>> {
        if self.is_empty() {
            return Ok(None);
        }
        if !self.meet_log() {
            return Err(conflict());
        }
        let engine = self.engine.clone();
        let Some(snapshot) = self.snapshot.take().filter(|it| !it.created.is_empty()) else {
            let commit = self.into_commit().deferring();
            return engine.store.submit_with_others(commit).await.map(Some);
        };
        self.enter_made(&snapshot);
        // Logged only once the commit is certain.
        let warnings = std::mem::take(&mut self.warnings);
        let mut commit = self.into_commit().deferring();
        let staged = engine.store.stage(&mut commit).await?;
        let turn = engine.registry.changes.lock().await;
        let mut catalog = Catalog::clone(&engine.registry.current());
        for Made { namespace, guarded } in &snapshot.created {
            // Policies change in the same turns as the catalog.
            let same_guard =
                Lease::is_same(guarded.as_ref(), engine.policies.get(namespace).as_ref());
            if catalog.get(namespace).is_some() || !same_guard {
                return Err(conflict());
            }
            check_case(&catalog, &namespace.database)?;
            if let Some(collection) = snapshot.catalog.get(namespace) {
                catalog = catalog.with(collection.clone());
            }
        }
        engine.registry.reserve(&catalog)?;
        warnings.iter().for_each(Warning::log);
        let first = commit.publish.take();
        let shown = engine.clone();
        commit.publish = Some(Box::new(move || {
            first.into_iter().for_each(|publish| publish());
            shown.registry.publish(catalog);
        }));
        staged.into_iter().for_each(Staged::keep);
        let ticket = engine.store.commit(commit, Mark::Applied).await?;
        drop(turn);
        engine.store.settle(ticket).await;
        Ok(Some(ticket))
    }

    /// Holds the gates of what was made until all of it is in the trees, so that nobody drops
    /// it before: they are free, since nobody else knows of them yet.
    fn enter_made(&mut self, snapshot: &ClientSnapshot) {
        for Made { namespace, guarded } in &snapshot.created {
            let Some(collection) = snapshot.catalog.get(namespace).cloned() else { continue };
            let _gate = collection.state.gate.clone().try_read_owned().ok();
            self.entered.push(EnteredCollection { collection, guarded: guarded.clone(), _gate });
        }
    }
}

fn locked(namespace: &Namespace) -> Error {
    Code::LockTimeout.error(format!(
        "Unable to acquire IX lock on '{namespace}' within {}ms.",
        DEFINITION_WAIT.as_millis()
    ))
}

fn changed(namespace: &Namespace) -> Error {
    Code::SnapshotUnavailable.error(format!(
        "Unable to read from a snapshot due to pending collection catalog changes to collection \
         '{namespace}'; please retry the operation."
    ))
}
