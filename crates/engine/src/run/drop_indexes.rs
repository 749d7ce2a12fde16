//! `dropIndexes`.

use super::{Call, lookup};
use crate::catalog::Collection;
use bson::{RawBsonRef, RawDocument};
use command::views::{DropIndexes, Selection};
use command::{Reply, ReplyWriter};
use error::{Code, Error, Result};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let drop = DropIndexes::parse(call.request)?;
    let namespace = &drop.namespace;
    lookup::check_uuid(call, namespace, drop.collection_uuid)?;
    let collection = call
        .engine
        .registry
        .get(namespace)
        .ok_or_else(|| Code::NamespaceNotFound.error(format!("ns not found {namespace}")))?;
    lookup::refuse_view(&collection)?;
    let names = select(&collection, &drop.selection)?;
    call.engine.drop_indexes(namespace, &names).await?;
    let removed: Vec<_> =
        collection.indexes.iter().filter(|it| names.contains(&it.name)).cloned().collect();
    call.engine.remove_mirrored_indexes(namespace, &removed).await?;
    let mut reply = ReplyWriter::new();
    // A clustered collection is its own index.
    let listed = collection.indexes.iter().skip(usize::from(collection.is_clustered()));
    reply.append("nIndexesWas", listed.count() as i32);
    if drop.selection == Selection::All {
        reply.append("msg", "non-_id indexes dropped for collection");
    }
    Ok(lookup::finish(call, reply))
}

fn select(collection: &Collection, selection: &Selection<'_>) -> Result<Vec<String>> {
    match selection {
        Selection::All => {
            Ok(collection.indexes.iter().skip(1).map(|index| index.name.clone()).collect())
        }
        Selection::Name(name) => by_name(collection, name).map(|name| vec![name]),
        Selection::Names(names) => names.iter().map(|name| by_name(collection, name)).collect(),
        Selection::Key(key) => by_key(collection, key).map(|name| vec![name]),
    }
}

fn by_name(collection: &Collection, name: &str) -> Result<String> {
    if collection.is_clustered() {
        let own = collection.id_index().map(|index| collection.index_name(index));
        if own == Some(name) {
            return Err(clustered_index());
        }
    }
    match collection.indexes.iter().position(|index| index.name == name) {
        Some(0) => Err(id_index(collection)),
        Some(_) => Ok(name.to_owned()),
        None => Err(Code::IndexNotFound.error(format!("index not found with name [{name}]"))),
    }
}

fn by_key(collection: &Collection, key: &RawDocument) -> Result<String> {
    let found = collection.indexes.iter().enumerate();
    let found: Vec<_> = found.filter(|(_, index)| same_key(index.key_pattern(), key)).collect();
    match found[..] {
        [] => Err(Code::IndexNotFound
            .error(format!("can't find index with key: {}", value::text::document(key)))),
        [(0, _)] => Err(id_index(collection)),
        [(_, index)] => Ok(index.name.clone()),
        _ => {
            let names: Vec<_> = found.iter().map(|(_, index)| &*index.name).collect();
            Err(Code::AmbiguousIndexKeyPattern.error(format!(
                "{} indexes found for key: {}, identify by name instead. Conflicting indexes: {}",
                names.len(),
                value::text::document(key),
                names.join(", ")
            )))
        }
    }
}

/// Whether two key patterns are the same: names, order and, by value, directions.
pub fn same_key(one: &RawDocument, other: &RawDocument) -> bool {
    value::order::compare(RawBsonRef::Document(one), RawBsonRef::Document(other)).is_eq()
}

fn id_index(collection: &Collection) -> Error {
    if collection.is_clustered() {
        return clustered_index();
    }
    Code::InvalidOptions.error("cannot drop _id index")
}

fn clustered_index() -> Error {
    Code::location(5979800).error("cannot drop the clustered index")
}
