//! `createIndexes`.

mod wildcard_projection;

use super::create::full_collation;
use super::{Call, lookup};
use crate::catalog::Collection;
use crate::operation::WorkProgress;
use bson::{RawDocument, RawDocumentBuf};
use command::views::{CreateIndexes, IndexSpec};
use command::{Reply, ReplyWriter};
use error::{Code, Result};
use language::query::{Filter, Node, Predicate};
use std::sync::Arc;
use value::DocumentWriter;
use value::element::{get, get_value};
use value::number::Number;

/// The only version of a clustered index.
const CLUSTERED_INDEX_VERSION: i32 = 2;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let create = CreateIndexes::parse(call.request)?;
    let namespace = &create.namespace;
    lookup::check_uuid(call, namespace, create.collection_uuid)?;
    let collection = call.collection(namespace)?;
    if let Some(collection) = &collection {
        lookup::refuse_view(collection)?;
    }
    let specs = create.indexes.iter().map(|spec| complete(spec, collection.as_deref()));
    let specs = specs.collect::<Result<Vec<_>>>()?;
    // Asked again where the indexes are made: before that, no collection is.
    call.engine.policies.check_indexes(namespace, specs.iter().map(|spec| &**spec))?;
    let interrupt = call.operation.interrupt.clone();
    let progress = Arc::new(WorkProgress { interrupt, ..WorkProgress::default() });
    // `currentOp` shows it, and `killOp` stops it.
    let _ = call.operation.progress.set(progress.clone());
    let created = match call.statement() {
        // They are mirrored once it commits: it may be in the pages itself.
        Some(statement) => {
            let mut transaction = statement.take()?;
            let created = transaction.create_indexes(namespace, &specs).await?;
            statement.give_back(transaction)?;
            created
        }
        None => call.engine.create_mirrored_indexes(namespace, &specs, &progress).await?,
    };
    let mut reply = ReplyWriter::new();
    reply.append("numIndexesBefore", created.before as i32);
    reply.append("numIndexesAfter", created.after as i32);
    let all_there = created.before == created.after;
    if created.created_collection || !all_there {
        reply.append("createdCollectionAutomatically", created.created_collection);
    }
    if all_there {
        reply.append("note", "all indexes already exist");
    }
    Ok(lookup::finish(call, reply))
}

/// The specification as it is kept: with its collation spelled out, or the
/// collection's.
fn complete(spec: &IndexSpec<'_>, collection: Option<&Collection>) -> Result<RawDocumentBuf> {
    if let Some(filter) = spec.partial_filter {
        let context = super::context::context(None, spec.collation, None)?;
        check_partial(&Filter::parse(filter, &context)?.root, true)?;
    }
    spec.wildcard_projection.map_or(Ok(()), wildcard_projection::check)?;
    let inherited = collection.and_then(|collection| get(&collection.options, "collation"));
    let collation = match (spec.collation, inherited) {
        (Some(own), _) => full_collation(Some(own))?,
        (None, Some(inherited)) => inherited.as_document().map(ToOwned::to_owned),
        (None, None) => None,
    };
    let normalized = plain(spec, collection)?.normalized();
    if collation.is_none() && spec.collation.is_none() {
        return Ok(normalized);
    }
    let mut writer = DocumentWriter::new();
    let options = value::elements(&normalized);
    options.filter(|option| option.key != "collation").for_each(|option| writer.copy(option));
    if let Some(collation) = collation {
        writer.append_document("collation", &collation);
    }
    Ok(writer.finish())
}

/// The specification as it is kept. What asks for the order that a clustered collection is
/// kept in names the index that is there.
fn plain<'a>(spec: &IndexSpec<'a>, collection: Option<&'a Collection>) -> Result<IndexSpec<'a>> {
    let refuse = |code: i32, words: &str| Err(Code::location(code).error(words));
    let clustered = collection.and_then(Collection::clustered_index);
    let same_key = clustered.is_some() && is_cluster_key(spec.key);
    if !same_key {
        if spec.clustered {
            return refuse(
                6243700,
                "Cannot create index with option 'clustered' that does not match an existing \
                 clustered index",
            );
        }
        let name = clustered.and_then(|options| get_value(options, "name"));
        return match name.and_then(|name| name.as_str()) == Some(spec.name) {
            true => refuse(
                6100906,
                "Cannot create an index where the name matches the clusteredIndex but the key \
                 does not",
            ),
            false => Ok(spec.clone()),
        };
    }
    if spec.version != CLUSTERED_INDEX_VERSION {
        return refuse(
            6100908,
            "Cannot create an index with the same key pattern as the collection's clusteredIndex \
             but a different 'v' field",
        );
    }
    if get(spec.spec, "unique").is_some() && !spec.unique {
        return refuse(
            6100909,
            "Cannot create an index with the same key pattern as the collection's clusteredIndex \
             but a different 'unique' field",
        );
    }
    let key = clustered.and_then(|options| get_value(options, "key"));
    let key = key.and_then(|key| key.as_document()).unwrap_or(spec.key);
    Ok(IndexSpec { key, clustered: false, unique: false, ..spec.clone() })
}

/// Whether a key is that of a clustered index: `_id` alone, up or down.
fn is_cluster_key(key: &RawDocument) -> bool {
    let mut fields = value::elements(key);
    match (fields.next(), fields.next()) {
        (Some(field), None) => field.key == "_id" && Number::from_value(field.value()).is_some(),
        _ => false,
    }
}

/// A partial index may only ask for what follows from a query's own conditions.
fn check_partial(node: &Node, top: bool) -> Result<()> {
    match node {
        Node::And(nodes) | Node::Or(nodes) => {
            nodes.iter().try_for_each(|node| check_partial(node, false))
        }
        Node::True if top => Ok(()),
        Node::Field(
            _,
            Predicate::Eq(_)
            | Predicate::Gt(_)
            | Predicate::Gte(_)
            | Predicate::Lt(_)
            | Predicate::Lte(_)
            | Predicate::In(_)
            | Predicate::Type(_)
            | Predicate::Exists(true),
        ) => Ok(()),
        _ => Err(Code::CannotCreateIndex.error(format!(
            "Expression not supported in partial index: {}",
            value::text::document(&node.to_document())
        ))),
    }
}
