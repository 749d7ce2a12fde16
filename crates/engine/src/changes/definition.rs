//! The events of changes of definition.

use super::{Event, EventOperation, is_watched, is_watched_database};
use crate::catalog::{Collection, Index};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use command::Namespace;
use value::element::{elements, get};
use value::{DocumentWriter, Element};

/// An event, where the collection or view is one that streams watch.
fn of(operation: EventOperation, collection: &Collection) -> Option<Event> {
    let event = || match collection.is_view() {
        true => Event::of_view(operation, &collection.namespace),
        false => Event::of(operation, collection),
    };
    is_watched(&collection.namespace).then(event)
}

pub fn created(collection: &Collection) -> Option<Event> {
    let event = of(EventOperation::Create, collection)?;
    let mut description = DocumentWriter::new();
    description.copy_all(&collection.options);
    if let Some(index) = collection.id_index() {
        description.append_document("idIndex", &index.spec);
    }
    Some(event.description(&description.finish()))
}

pub fn dropped(collection: &Collection) -> Option<Event> {
    of(EventOperation::Drop, collection)
}

pub fn database_dropped(database: &str) -> Option<Event> {
    is_watched_database(database)
        .then(|| Event::of_database(EventOperation::DropDatabase, database))
}

pub fn renamed(
    collection: &Collection,
    to: &Namespace,
    target: Option<&Collection>,
) -> Option<Event> {
    let event = of(EventOperation::Rename, collection)?;
    let mut description = DocumentWriter::new();
    description.begin_document("to");
    description.append_str("db", &to.database);
    description.append_str("coll", &to.collection);
    description.end();
    if let Some(target) = target {
        let uuid = RawBson::from(bson::Binary::from(target.uuid));
        description.append("dropTarget", uuid.as_raw_bson_ref());
    }
    Some(event.renamed_to(to).description(&description.finish()))
}

pub fn altered(collection: &Collection, options: &RawDocument) -> Option<Event> {
    let event = of(EventOperation::Modify, collection)?;
    if collection.is_view() {
        return Some(event.description(options));
    }
    let is_new = |option: &Element<'_>| {
        let old = get(&collection.options, option.key);
        old.is_none_or(|old| old.kind != option.kind || old.bytes != option.bytes)
    };
    let mut description = DocumentWriter::new();
    elements(options).filter(is_new).for_each(|option| description.copy(option));
    Some(event.description(&description.finish()).state_before(&state(collection, None)))
}

pub fn indexes_created(collection: &Collection, names: &[&str]) -> Option<Event> {
    let made = collection.indexes.iter().filter(|index| names.contains(&&*index.name));
    Some(of(EventOperation::CreateIndexes, collection)?.indexes(made.map(|index| &index.spec)))
}

/// An index whose build was not finished never was, as far as streams know.
pub fn index_dropped(collection: &Collection, index: &Index) -> Option<Event> {
    let event = of(EventOperation::DropIndexes, collection).filter(|_| index.ready)?;
    Some(event.indexes([&index.spec]))
}

pub fn index_altered(collection: &Collection, name: &str, spec: &RawDocument) -> Option<Event> {
    let event = of(EventOperation::Modify, collection)?;
    let index = collection.index(name)?;
    let mut description = DocumentWriter::new();
    description.begin_document("index");
    description.append_str("name", name);
    let mut before = DocumentWriter::new();
    for option in ["expireAfterSeconds", "hidden", "unique", "prepareUnique"] {
        let (old, new) = (get(&index.spec, option), get(spec, option));
        if old.map(|old| old.bytes) != new.map(|new| new.bytes) {
            new.into_iter().for_each(|new| description.copy(new));
            old.into_iter().for_each(|old| before.copy(old));
        }
    }
    description.end();
    let state = state(collection, Some(before.finish()));
    Some(event.description(&description.finish()).state_before(&state))
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
