//! What change streams are told of changes of definition.

use super::Definition;
use crate::catalog::{Collection, Index};
use crate::changes::{Event, Operation, is_watched, is_watched_database};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use command::Namespace;
use std::sync::Arc;
use value::element::{elements, get};
use value::{DocumentWriter, Element};

/// Views are not told of: they hold nothing that changes.
fn is_told(collection: &Collection) -> bool {
    !collection.is_view() && is_watched(&collection.namespace)
}

pub(crate) fn created(collection: &Collection) -> Event {
    let mut description = DocumentWriter::new();
    description.copy_all(&collection.options);
    if let Some(index) = collection.id_index() {
        description.append_document("idIndex", &index.spec);
    }
    Event::of(Operation::Create, collection).description(&description.finish())
}

pub(crate) fn indexes_created<'a>(
    collection: &Collection,
    made: impl IntoIterator<Item = &'a Arc<Index>>,
) -> Event {
    let specs = made.into_iter().map(|index| &index.spec);
    Event::of(Operation::CreateIndexes, collection).indexes(specs)
}

impl Definition<'_> {
    pub(super) fn tell_created(&mut self, collection: &Collection) {
        if is_told(collection) {
            self.tell(|| created(collection));
        }
    }

    pub(super) fn tell_dropped(&mut self, collection: &Collection) {
        if is_told(collection) {
            self.tell(|| Event::of(Operation::Drop, collection));
        }
    }

    pub(super) fn tell_database_dropped(&mut self, database: &str) {
        if is_watched_database(database) {
            self.tell(|| Event::of_database(Operation::DropDatabase, database));
        }
    }

    pub(super) fn tell_renamed(
        &mut self,
        collection: &Collection,
        to: &Namespace,
        target: Option<&Collection>,
    ) {
        if !is_told(collection) {
            return;
        }
        self.tell(|| {
            let mut description = DocumentWriter::new();
            description.begin_document("to");
            description.append_str("db", &to.database);
            description.append_str("coll", &to.collection);
            description.end();
            if let Some(target) = target {
                let uuid = RawBson::from(bson::Binary::from(target.uuid));
                description.append("dropTarget", uuid.as_raw_bson_ref());
            }
            Event::of(Operation::Rename, collection)
                .renamed_to(to)
                .description(&description.finish())
        });
    }

    pub(super) fn tell_altered(&mut self, collection: &Collection, options: &RawDocument) {
        if !is_told(collection) {
            return;
        }
        self.tell(|| {
            let mut description = DocumentWriter::new();
            let is_new = |option: &Element<'_>| {
                let old = get(&collection.options, option.key);
                old.is_none_or(|old| old.kind != option.kind || old.bytes != option.bytes)
            };
            elements(options).filter(is_new).for_each(|option| description.copy(option));
            Event::of(Operation::Modify, collection)
                .description(&description.finish())
                .state_before(&state(collection, None))
        });
    }

    pub(super) fn tell_indexes_created(&mut self, collection: &Collection, names: &[String]) {
        if is_told(collection) {
            let made = collection.indexes.iter().filter(|index| names.contains(&index.name));
            self.tell(|| indexes_created(collection, made));
        }
    }

    /// An index whose build was not finished never was, as far as streams know.
    pub(super) fn tell_index_dropped(&mut self, collection: &Collection, index: &Index) {
        if index.ready && is_told(collection) {
            self.tell(|| Event::of(Operation::DropIndexes, collection).indexes([&index.spec]));
        }
    }

    pub(super) fn tell_index_altered(
        &mut self,
        collection: &Collection,
        name: &str,
        spec: &RawDocument,
    ) {
        let Some(index) = collection.index(name).filter(|_| is_told(collection)) else { return };
        self.tell(|| {
            let mut description = DocumentWriter::new();
            description.begin_document("index");
            description.append_str("name", name);
            let mut before = DocumentWriter::new();
            for option in ["expireAfterSeconds", "hidden"] {
                let (old, new) = (get(&index.spec, option), get(spec, option));
                if old.map(|old| old.bytes) != new.map(|new| new.bytes) {
                    new.into_iter().for_each(|new| description.copy(new));
                    old.into_iter().for_each(|old| before.copy(old));
                }
            }
            description.end();
            Event::of(Operation::Modify, collection)
                .description(&description.finish())
                .state_before(&state(collection, Some(before.finish())))
        });
    }
}

/// A collection's definition before a change.
fn state(collection: &Collection, index: Option<RawDocumentBuf>) -> RawDocumentBuf {
    let mut state = DocumentWriter::new();
    state.begin_document("collectionOptions");
    let uuid = RawBson::from(bson::Binary::from(collection.uuid));
    state.append("uuid", uuid.as_raw_bson_ref());
    state.copy_all(&collection.options);
    state.end();
    if let Some(index) = index {
        state.append_document("indexOptions", &index);
    }
    state.finish()
}
