//! The catalog in memory, and its rows in the store.

use super::Collection;
use crate::storage::{Tree, TreeChange, View, Witness, keys};
use arc_swap::ArcSwap;
use budget::{Held, Kind};
use command::Namespace;
use error::Result;
use imbl::OrdMap;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Mutex;

/// Every collection and view, as of one commit. Cheap to clone and to alter.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    collections: OrdMap<Namespace, Entry>,
    /// What all of them take in memory.
    bytes: usize,
    /// What else is defined and changes with them as one. What it is the catalog does not know.
    beside: Option<Arc<dyn Any + Send + Sync>>,
}

#[derive(Debug, Clone)]
struct Entry {
    collection: Arc<Collection>,
    bytes: usize,
}

impl Catalog {
    pub fn get(&self, namespace: &Namespace) -> Option<&Arc<Collection>> {
        self.collections.get(namespace).map(|entry| &entry.collection)
    }

    /// The collections of a database, by name.
    pub fn database<'a>(&'a self, database: &'a str) -> impl Iterator<Item = &'a Arc<Collection>> {
        let first = Namespace { database: database.into(), collection: "".into() };
        self.collections
            .range(first..)
            .map(|(_, entry)| &entry.collection)
            .take_while(move |collection| &*collection.namespace.database == database)
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Collection>> {
        self.collections.values().map(|entry| &entry.collection)
    }

    /// The names of the databases that hold something, in order.
    pub fn databases(&self) -> Vec<Box<str>> {
        let first = |database: &str| Namespace { database: database.into(), collection: "".into() };
        let mut names: Vec<Box<str>> = Vec::new();
        let mut from = first("");
        while let Some((namespace, _)) = self.collections.range(from..).next() {
            // Nothing is between a name and the same name with a zero.
            from = first(&format!("{}\0", namespace.database));
            names.push(namespace.database.clone());
        }
        names
    }

    /// What is defined beside the collections, as of the same commit.
    pub fn beside<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.beside.clone().and_then(|beside| beside.downcast().ok())
    }

    pub fn look_beside<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.beside.as_deref().and_then(|beside| beside.downcast_ref())
    }

    pub fn with_beside(&self, beside: Arc<dyn Any + Send + Sync>) -> Catalog {
        Catalog { beside: Some(beside), ..self.clone() }
    }

    pub fn with(&self, collection: Arc<Collection>) -> Catalog {
        let mut catalog = self.clone();
        let namespace = collection.namespace.clone();
        let entry = Entry { bytes: collection.footprint(), collection };
        catalog.bytes += entry.bytes;
        let before = catalog.collections.insert(namespace, entry);
        catalog.bytes -= before.map_or(0, |before| before.bytes);
        catalog
    }

    pub fn without(&self, namespace: &Namespace) -> Catalog {
        let mut catalog = self.clone();
        catalog.bytes -= catalog.collections.remove(namespace).map_or(0, |entry| entry.bytes);
        catalog
    }
}

/// The current catalog and the right to change it.
pub struct Registry {
    current: Arc<ArcSwap<Catalog>>,
    /// As of the last sync.
    synced: Arc<ArcSwap<Catalog>>,
    /// Held while a definition changes: one change at a time.
    pub changes: Mutex<()>,
    next_id: AtomicU32,
    /// What the catalog takes of the budget.
    memory: parking_lot::Mutex<Held>,
}

impl Registry {
    /// Reads the catalog's rows. What is stored is opened, room or not.
    pub fn load(view: &View) -> Result<Registry> {
        let mut catalog = Catalog::default();
        for row in view.range(Tree::Records, keys::rows(keys::COLLECTION_ROWS)) {
            let (_, row) = row.map_err(crate::storage::failed)?;
            let collection = super::row::read(&row, view)?;
            catalog = catalog.with(Arc::new(collection));
        }
        let next_id = view.get(Tree::Records, &keys::next_id())?;
        let next_id =
            next_id.and_then(|row| row.first_chunk().copied()).map_or(1, u32::from_be_bytes);
        let mut memory = Held::new(Kind::Definitions);
        memory.force(catalog.bytes);
        Ok(Registry {
            memory: parking_lot::Mutex::new(memory),
            current: Arc::new(ArcSwap::from_pointee(catalog.clone())),
            synced: Arc::new(ArcSwap::from_pointee(catalog)),
            changes: Mutex::default(),
            next_id: AtomicU32::new(next_id),
        })
    }

    pub fn current(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Has a look at the current catalog, without a copy of it.
    pub fn look<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        look(&self.current.load())
    }

    /// The catalog as of the last sync, or an older one.
    pub fn synced(&self) -> Arc<Catalog> {
        self.synced.load_full()
    }

    /// What is to be told of syncs, after the view of what is synced can be had.
    pub fn witness(&self) -> Witness {
        let (current, synced) = (self.current.clone(), self.synced.clone());
        Box::new(move || {
            let (catalog, synced) = (current.load_full(), synced.clone());
            Box::new(move || synced.store(catalog))
        })
    }

    pub fn get(&self, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.current.load().get(namespace).cloned()
    }

    /// What is defined beside the collections when the store is opened.
    pub fn open_beside(&self, beside: Arc<dyn Any + Send + Sync>) {
        let catalog = Arc::new(self.current().with_beside(beside));
        self.current.store(catalog.clone());
        self.synced.store(catalog);
    }

    /// Reserves what a new catalog takes more than the current one. Only under `changes`,
    /// before the commit that publishes it.
    pub fn reserve(&self, catalog: &Catalog) -> Result<()> {
        let mut memory = self.memory.lock();
        match catalog.bytes > memory.bytes() as usize {
            true => memory.resize(catalog.bytes),
            false => Ok(()),
        }
    }

    /// Shows everyone a new catalog. Only under `changes`, as part of a commit.
    pub fn publish(&self, catalog: Catalog) {
        self.memory.lock().force(catalog.bytes);
        self.current.store(Arc::new(catalog));
    }

    /// Numbers for new collections and indexes, and the row that records that
    /// they are taken. Only under `changes`.
    pub fn take_ids(&self, count: u32) -> (u32, TreeChange) {
        let first = self.next_id.fetch_add(count, Ordering::Relaxed);
        let value = Some((first + count).to_be_bytes().into());
        (first, TreeChange { tree: Tree::Records, key: keys::next_id(), value })
    }
}
