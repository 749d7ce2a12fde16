//! A collection's row in the store: one BSON document.
//!
//! `{db, name, id, uuid, type, options, indexes: [{id, ready, spec}]}`; an index that was made
//! unique after it was built has `madeUnique: true`.

use super::{Collection, CollectionKind, CollectionState, Index, Multikey, options};
use crate::storage::{CollectionId, IndexId, Tree, TreeChange, View, keys};
use bson::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use command::Namespace;
use error::{Code, Error, Result};
use std::sync::Arc;

/// The change that writes a collection's row.
pub fn write(collection: &Collection) -> TreeChange {
    let mut row = RawDocumentBuf::new();
    row.append(cstr!("db"), &*collection.namespace.database);
    row.append(cstr!("name"), &*collection.namespace.collection);
    row.append(cstr!("id"), i64::from(collection.id.0));
    row.append(cstr!("uuid"), bson::Binary::from(collection.uuid));
    row.append(cstr!("type"), if collection.is_view() { "view" } else { "collection" });
    row.append(cstr!("options"), collection.options.clone());
    let mut indexes = RawArrayBuf::new();
    for index in &collection.indexes {
        let mut entry = RawDocumentBuf::new();
        entry.append(cstr!("id"), i64::from(index.id.0));
        entry.append(cstr!("ready"), index.ready);
        entry.append(cstr!("spec"), index.spec.clone());
        if index.unique && !index.bare_keys {
            entry.append(cstr!("madeUnique"), true);
        }
        indexes.push(entry);
    }
    row.append(cstr!("indexes"), indexes);
    let key = keys::collection(&collection.namespace);
    TreeChange { tree: Tree::Records, key, value: Some(row.into_bytes().into()) }
}

pub fn remove(namespace: &Namespace) -> TreeChange {
    TreeChange { tree: Tree::Records, key: keys::collection(namespace), value: None }
}

pub fn read(row: &[u8], view: &View) -> Result<Collection> {
    let row = RawDocument::from_bytes(row).map_err(|_| damaged())?;
    let options = row.get_document("options").map_err(|_| damaged())?;
    let namespace = Namespace {
        database: row.get_str("db").map_err(|_| damaged())?.into(),
        collection: row.get_str("name").map_err(|_| damaged())?.into(),
    };
    let uuid = match row.get("uuid") {
        Ok(Some(RawBsonRef::Binary(binary))) => {
            bson::Uuid::from_bytes(binary.bytes.try_into().map_err(|_| damaged())?)
        }
        _ => return Err(damaged()),
    };
    let mut indexes = Vec::new();
    for entry in row.get_array("indexes").map_err(|_| damaged())? {
        let Ok(RawBsonRef::Document(entry)) = entry else { return Err(damaged()) };
        indexes.push(Arc::new(index(entry, view)?));
    }
    let kind = match row.get_str("type") {
        Ok("view") => options::view_kind(options)?,
        _ => options::kind(options)?,
    };
    Ok(Collection {
        namespace,
        id: CollectionId(number(row)?),
        uuid,
        validator: match kind {
            CollectionKind::View { .. } => None,
            _ => options::validator(options)?,
        },
        collator: options::collator(options)?,
        kind,
        options: options.to_owned(),
        indexes,
        state: Arc::new(CollectionState::default()),
    })
}

fn index(entry: &RawDocument, view: &View) -> Result<Index> {
    let id = IndexId(number(entry)?);
    let spec = entry.get_document("spec").map_err(|_| damaged())?;
    let ready = entry.get_bool("ready").map_err(|_| damaged())?;
    let index = Index::from_spec(id, spec, ready)?;
    let bare_keys = index.bare_keys && !entry.get_bool("madeUnique").unwrap_or(false);
    Ok(Index { bare_keys, multikey: Arc::new(multikey(id, view)?), ..index })
}

fn multikey(id: IndexId, view: &View) -> Result<Multikey> {
    let mut bits = 0;
    for row in view.range(Tree::Records, keys::multikey_rows(id)) {
        let (key, _) = row.map_err(crate::storage::failed)?;
        bits |= key.last().map_or(0, |bit| 1u64.checked_shl(u32::from(*bit)).unwrap_or(0));
    }
    let mut paths = Vec::new();
    for row in view.range(Tree::Records, keys::array_path_rows(id)) {
        let (key, _) = row.map_err(crate::storage::failed)?;
        paths.push(keys::array_path_of(&key).ok_or_else(damaged)?.into());
    }
    Ok(Multikey::new(bits, paths))
}

fn number(document: &RawDocument) -> Result<u32> {
    let id = document.get_i64("id").map_err(|_| damaged())?;
    u32::try_from(id).map_err(|_| damaged())
}

fn damaged() -> Error {
    Code::DataCorruptionDetected
        .error("a row of the catalog is damaged; restore the store from a backup")
}
