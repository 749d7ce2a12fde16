//! The shortest way: one document by its `_id`.

use crate::catalog::Collection;
use crate::plan::{Hint, IdRead, Purpose, Query, Stage};
use bson::RawBson;
use language::Metadatum;
use language::query::{Node, Predicate};
use std::sync::Arc;
use value::key::{Direction, Key};

/// A direct read, if the filter is an equality on `_id` and nothing else is asked
/// that it could not honour.
pub fn read(collection: &Collection, query: &Query) -> Option<Stage> {
    let value = id(&query.filter.root)?;
    let index = collection.indexes.first()?;
    let [field] = index.fields.as_slice() else { return None };
    let plain = matches!(
        value,
        RawBson::ObjectId(_)
            | RawBson::Int32(_)
            | RawBson::Int64(_)
            | RawBson::Double(_)
            | RawBson::Decimal128(_)
            | RawBson::Boolean(_)
            | RawBson::Binary(_)
            | RawBson::DateTime(_)
    );
    // Strings, and what may hold strings, depend on the collation.
    let text = matches!(value, RawBson::String(_) | RawBson::Document(_));
    let comparable = plain || text && index.collator.is_none() && query.collator.is_none();
    let hinted = match &query.hint {
        None => true,
        Some(Hint::Name(name)) => *name == index.name,
        Some(_) => false,
    };
    let simple = comparable
        && hinted
        && field.path.as_str() == "_id"
        && query.purpose == Purpose::Documents
        && query.min.is_none()
        && query.max.is_none()
        && !query.return_key
        && !query.metadata.has(Metadatum::IndexKey)
        && query.skip == 0
        && query.after.is_none();
    if !simple {
        return None;
    }
    let mut key = Key::default();
    key.push(value.as_raw_bson_ref(), Direction::Ascending, index.collator.as_ref());
    let (index, clustered) = (Arc::clone(index), collection.is_clustered());
    Some(Stage::IdRead(Arc::new(IdRead { index, key: key.bytes, clustered })))
}

fn id(root: &Node) -> Option<&RawBson> {
    match root {
        Node::Field(path, Predicate::Eq(value)) if path.as_str() == "_id" => Some(value),
        Node::And(nodes) => match nodes.as_slice() {
            [one] => id(one),
            _ => None,
        },
        _ => None,
    }
}
