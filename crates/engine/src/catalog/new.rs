//! Collections and views as they are made and altered.

use super::{Catalog, Collection, CollectionKind, CollectionState, Index, options};
use crate::storage::{CollectionId, IndexId};
use bson::{RawDocument, RawDocumentBuf, cstr};
use command::Namespace;
use error::{Code, Result};
use std::sync::Arc;

/// What the names of collections begin with that are only written to be renamed.
pub const TEMPORARY_PREFIX: &str = "tmp.agg_out.";

pub fn is_temporary(namespace: &Namespace) -> bool {
    namespace.collection.starts_with(TEMPORARY_PREFIX)
}

/// A collection or view to be made; `options` are those `listCollections` shows.
pub struct NewCollection<'a> {
    pub namespace: &'a Namespace,
    pub options: &'a RawDocument,
    pub view: bool,
}

/// A new database may not differ from another only in case.
pub fn check_case(catalog: &Catalog, database: &str) -> Result<()> {
    if catalog.database(database).next().is_some() {
        return Ok(());
    }
    match catalog.databases().iter().find(|other| other.eq_ignore_ascii_case(database)) {
        Some(other) => Err(Code::DatabaseDifferCase.error(format!(
            "db already exists with different case already have: [{other}] trying to create \
             [{database}]"
        ))),
        None => Ok(()),
    }
}

pub fn define(new: &NewCollection<'_>, id: CollectionId, id_index: IndexId) -> Result<Collection> {
    let (kind, indexes) = if new.view {
        (options::view_kind(new.options)?, Vec::new())
    } else {
        let index = Index::from_spec(id_index, &id_spec(new.options), true)?;
        (options::kind(new.options)?, vec![Arc::new(index)])
    };
    Ok(Collection {
        namespace: new.namespace.clone(),
        id,
        uuid: bson::Uuid::new(),
        validator: if new.view { None } else { options::validator(new.options)? },
        collator: options::collator(new.options)?,
        kind,
        options: new.options.to_owned(),
        indexes,
        state: Arc::new(CollectionState::default()),
    })
}

/// The `_id` index has the collection's collation.
fn id_spec(options: &RawDocument) -> RawDocumentBuf {
    let mut key = RawDocumentBuf::new();
    key.append(cstr!("_id"), 1);
    let mut spec = RawDocumentBuf::new();
    spec.append(cstr!("v"), 2);
    spec.append(cstr!("key"), key);
    spec.append(cstr!("name"), "_id_");
    if let Some(collation) = value::element::get(options, "collation") {
        spec.append(cstr!("collation"), collation.value());
    }
    spec
}

/// The same collection under a name and options.
pub fn redefine(
    collection: &Collection,
    namespace: &Namespace,
    options: &RawDocument,
) -> Result<Collection> {
    let view = collection.is_view();
    let kind: CollectionKind =
        if view { options::view_kind(options)? } else { options::kind(options)? };
    Ok(Collection {
        namespace: namespace.clone(),
        id: collection.id,
        uuid: collection.uuid,
        kind,
        validator: if view { None } else { options::validator(options)? },
        collator: options::collator(options)?,
        options: options.to_owned(),
        indexes: collection.indexes.clone(),
        state: collection.state.clone(),
    })
}
