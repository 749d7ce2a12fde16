//! A collection or view, as a command sees it: immutable, replaced as a whole.

use super::{Activity, Index, Validator};
use crate::index::KEY_BYTES_MAX;
use crate::storage::{CollectionId, RecordId, View};
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use tokio::sync::{Mutex, Notify, RwLock};
use value::Collator;
use value::element::{get, get_value};
use value::key::{Direction, Key};

#[derive(Debug, Clone)]
pub struct Collection {
    pub namespace: Namespace,
    /// The prefix of its records' keys; never reused.
    pub id: CollectionId,
    pub uuid: bson::Uuid,
    pub kind: Kind,
    /// The options as given to `create`, for `listCollections`.
    pub options: RawDocumentBuf,
    /// The `_id` index first, then the others in order of creation; none for views.
    pub indexes: Vec<Arc<Index>>,
    pub validator: Option<Arc<Validator>>,
    /// The default collation of its commands and indexes.
    pub collator: Option<Arc<Collator>>,
    /// What outlives a change of definition.
    pub state: Arc<State>,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Ordinary,
    /// Bounded; the oldest documents go when new ones come.
    Capped {
        bytes_max: u64,
        documents_max: Option<u64>,
    },
    /// Natural order is the order of `_id`. Records are kept as in any other
    /// collection; a scan goes by the `_id` index.
    Clustered,
    View {
        on: Box<str>,
        pipeline: RawArrayBuf,
    },
}

/// The live part of a collection, shared by its successive definitions.
#[derive(Debug, Default)]
pub struct State {
    /// Writers hold it shared from their first look at the definition until
    /// their commit is applied; a change of definition holds it alone.
    pub gate: Arc<RwLock<()>>,
    /// Changes of definition that have waited for the gate in vain so far.
    pub definitions_waiting: AtomicUsize,
    /// The next record id, or 0 until the first insert has looked it up.
    pub next_record: AtomicU64,
    /// Rings when something was inserted, for tailable cursors.
    pub inserted: Notify,
    /// Rings when the build of indexes has ended, well or not.
    pub build_ended: Notify,
    /// Held while indexes are made together with their mirrors on the pages.
    pub mirroring: Mutex<()>,
    pub activity: Activity,
}

impl Collection {
    pub fn is_view(&self) -> bool {
        matches!(self.kind, Kind::View { .. })
    }

    pub fn is_capped(&self) -> bool {
        matches!(self.kind, Kind::Capped { .. })
    }

    pub fn is_clustered(&self) -> bool {
        matches!(self.kind, Kind::Clustered)
    }

    /// The key that a clustered collection is kept by, as it was asked for.
    pub fn clustered_index(&self) -> Option<&RawDocument> {
        get(&self.options, "clusteredIndex")?.as_document()
    }

    /// The name that clients know an index by: a clustered collection is its own index on
    /// `_id`, under a name of its own.
    pub fn index_name<'c>(&'c self, index: &'c Index) -> &'c str {
        let clustered = self.clustered_index().filter(|_| index.is_id());
        let own = clustered.and_then(|clustered| get_value(clustered, "name"));
        own.and_then(|name| name.as_str()).unwrap_or(&index.name)
    }

    /// The index on `_id`; every collection that is not a view has one.
    pub fn id_index(&self) -> Option<&Arc<Index>> {
        self.indexes.first()
    }

    /// The record of the document with this `_id`, in a view.
    pub fn record_of(&self, id: RawBsonRef<'_>, view: &View) -> Result<Option<RecordId>> {
        let Some(index) = self.id_index() else { return Ok(None) };
        let mut key = Key::default();
        key.push(id, Direction::Ascending, index.collator.as_ref());
        // No longer key is stored, and the trees take none to look for.
        if key.bytes.len() > KEY_BYTES_MAX {
            return Ok(None);
        }
        Ok(view.unique(index.id, &key.bytes)?.map(|entry| entry.record))
    }

    /// The same collection with other indexes.
    pub fn with_indexes(&self, indexes: Vec<Arc<Index>>) -> Collection {
        Collection { indexes, ..self.clone() }
    }

    pub fn index(&self, name: &str) -> Option<&Arc<Index>> {
        self.indexes.iter().find(|index| index.name == name)
    }
}
