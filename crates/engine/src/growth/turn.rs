//! Rows to be written with a group of commits, the last of each key.

use crate::storage::{CollectionId, Tree, TreeChange, keys};
use fjall::Slice;
use rustc_hash::FxHashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a group of commits has in common: the rows it writes and the time it is at.
#[derive(Debug, Default)]
pub struct GroupRows {
    rows: FxHashMap<Slice, Option<Slice>>,
    now_ms: Option<u64>,
}

impl GroupRows {
    pub fn put(&mut self, collection: CollectionId, path: &str, record: u64, value: Vec<u8>) {
        self.rows.insert(keys::kept(collection, path, record), Some(value.into()));
    }

    pub fn remove(&mut self, collection: CollectionId, path: &str, record: u64) {
        self.rows.insert(keys::kept(collection, path, record), None);
    }

    pub fn remove_key(&mut self, key: Slice) {
        self.rows.insert(key, None);
    }

    /// The time in milliseconds since 1970: looked up once, and only if needed.
    pub fn now_ms(&mut self) -> u64 {
        *self.now_ms.get_or_insert_with(now_ms)
    }

    pub fn into_changes(self) -> impl Iterator<Item = TreeChange> {
        self.rows.into_iter().map(|(key, value)| TreeChange { tree: Tree::Records, key, value })
    }
}

pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
