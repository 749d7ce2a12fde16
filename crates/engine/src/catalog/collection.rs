//! A collection or view, as a command sees it: immutable, replaced as a whole.

use super::{Activity, Index, Validator};
use crate::footprint;
use crate::storage::{CollectionId, Record, RecordId, View};
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use tokio::sync::{Mutex, Notify, RwLock};
use value::Collator;
use value::element::{get, get_value};
use value::key::{Direction, Key};

/// What the options and the indexes of one collection or view may take, as BSON.
pub const DEFINITION_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A collection without options or indexes, in memory.
const COLLECTION_BYTES: usize = 2 * 1024;

/// An index without a filter.
const INDEX_BYTES: usize = 1024;

#[derive(Debug, Clone)]
pub struct Collection {
    pub namespace: Namespace,
    /// The prefix of its records' keys; never reused.
    pub id: CollectionId,
    pub uuid: bson::Uuid,
    pub kind: CollectionKind,
    /// The options as given to `create`, for `listCollections`.
    pub options: RawDocumentBuf,
    /// The `_id` index first, then the others in order of creation; none for views.
    pub indexes: Vec<Arc<Index>>,
    pub validator: Option<Arc<Validator>>,
    /// The default collation of its commands and indexes.
    pub collator: Option<Arc<Collator>>,
    /// What outlives a change of definition.
    pub state: Arc<CollectionState>,
}

#[derive(Debug, Clone)]
pub enum CollectionKind {
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
pub struct CollectionState {
    /// Writers hold it shared from their first look at the definition until
    /// their commit is applied; a change of definition holds it alone.
    pub gate: Arc<RwLock<()>>,
    /// The queue of changes of definition that wait for the gate; its first one holds it.
    pub definitions: Mutex<()>,
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
        matches!(self.kind, CollectionKind::View { .. })
    }

    pub fn is_capped(&self) -> bool {
        matches!(self.kind, CollectionKind::Capped { .. })
    }

    pub fn is_clustered(&self) -> bool {
        matches!(self.kind, CollectionKind::Clustered)
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
        Ok(view.unique(index.id, &key.bytes)?.map(|entry| entry.record))
    }

    /// The documents behind this `_id` in a view, in the order of the `_id` index. It seeks:
    /// the cost does not depend on what lies before.
    pub fn records_after<'v>(
        &self,
        after: Option<RawBsonRef<'_>>,
        view: &'v View,
    ) -> impl Iterator<Item = Result<Record>> + use<'v> {
        let id = self.id;
        let entries = self.id_index().map(|index| {
            let low = after.map_or_else(Vec::new, |after| {
                let mut key = Key::default();
                key.push(after, Direction::Ascending, index.collator.as_ref());
                // Nothing comes between a key and the same with a zero byte behind.
                key.bytes.push(0);
                key.bytes.to_vec()
            });
            view.entries(index.id, index.bare_keys, &low, None)
        });
        entries.into_iter().flatten().filter_map(move |entry| match entry {
            Ok(entry) => view.record(id, entry.record).transpose(),
            Err(error) => Some(Err(error)),
        })
    }

    /// The same collection with other indexes.
    pub fn with_indexes(&self, indexes: Vec<Arc<Index>>) -> Collection {
        Collection { indexes, ..self.clone() }
    }

    /// What its definition takes in memory.
    pub fn footprint(&self) -> usize {
        let indexes = self.indexes.iter().map(|index| {
            let partial = get(&index.spec, "partialFilterExpression");
            let partial = partial.and_then(|partial| partial.as_document());
            INDEX_BYTES + index.spec.as_bytes().len() + partial.map_or(0, footprint::of_document)
        });
        let validator = get(&self.options, "validator").and_then(|it| it.as_document());
        // Once as rules, and once for the report of a document that they refuse.
        let rules = validator.map_or(0, |validator| 2 * footprint::of_document(validator));
        let options = 2 * self.options.as_bytes().len();
        COLLECTION_BYTES + options + rules + indexes.sum::<usize>()
    }

    /// Refuses a definition that is longer than any document may be.
    pub fn check_size(&self) -> Result<()> {
        let indexes = self.indexes.iter().map(|index| index.spec.as_bytes().len());
        let bytes = self.options.as_bytes().len() + indexes.sum::<usize>();
        match bytes <= DEFINITION_BYTES_MAX {
            true => Ok(()),
            false => Err(Code::BSONObjectTooLarge.error(format!(
                "the definition of {} takes {bytes} bytes, and the limit is \
                 {DEFINITION_BYTES_MAX}; shorten its validator, its pipeline or the filters of \
                 its indexes",
                self.namespace
            ))),
        }
    }

    pub fn index(&self, name: &str) -> Option<&Arc<Index>> {
        self.indexes.iter().find(|index| index.name == name)
    }
}
