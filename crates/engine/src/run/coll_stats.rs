//! `collStats`, and the figures of storage that `$collStats` has too.

use super::{Call, lookup, reading, sizes};
use crate::catalog::{Collection, CollectionKind};
use bson::RawBsonRef;
use command::views::CollStats;
use command::{Namespace, Reply, ReplyWriter};
use error::Result;
use value::DocumentWriter;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let stats = CollStats::parse(call.request)?;
    let mut reply = ReplyWriter::new();
    reply.append("ns", &*stats.namespace.to_string());
    storage(call, &stats.namespace, stats.scale, reply.writer())?;
    Ok(reply.finish())
}

/// Writes the size, the count and the indexes of a collection, sizes divided by
/// `scale`. One that is not there has none of anything.
pub fn storage(
    call: Call<'_>,
    namespace: &Namespace,
    scale: i32,
    out: &mut DocumentWriter,
) -> Result<()> {
    match call.engine.registry.get(namespace) {
        Some(collection) => {
            lookup::refuse_view(&collection)?;
            of_collection(call, &collection, scale, out)
        }
        None => {
            of_nothing(scale, out);
            Ok(())
        }
    }
}

fn of_collection(
    call: Call<'_>,
    collection: &Collection,
    scale: i32,
    out: &mut DocumentWriter,
) -> Result<()> {
    let sizes = sizes::of(&reading::view(call)?, collection)?;
    let counts = sizes.counts;
    let scaled = |bytes: u64| bytes as i64 / i64::from(scale.max(1));
    out.append_number("size", scaled(counts.bytes));
    out.append_number("count", counts.documents as i64);
    if let Some(average) = counts.bytes.checked_div(counts.documents) {
        out.append_number("avgObjSize", average as i64);
    }
    out.append_number("numOrphanDocs", 0);
    out.append_number("storageSize", scaled(sizes.storage));
    out.append_number("freeStorageSize", 0);
    out.append_bool("capped", collection.is_capped());
    if let CollectionKind::Capped { bytes_max, documents_max } = collection.kind {
        out.append_number("max", documents_max.unwrap_or(0) as i64);
        out.append_number("maxSize", scaled(bytes_max));
    }
    out.append_i32("nindexes", sizes.indexes.len() as i32);
    out.begin_document("indexDetails");
    for (name, _) in &sizes.indexes {
        out.begin_document(name);
        out.end();
    }
    out.end();
    out.begin_array("indexBuilds");
    for index in collection.indexes.iter().filter(|index| !index.ready) {
        out.push(RawBsonRef::String(&index.name));
    }
    out.end();
    out.append_number("totalIndexSize", scaled(sizes.indexes_total()));
    out.append_number("totalSize", scaled(sizes.total()));
    out.begin_document("indexSizes");
    for (name, size) in &sizes.indexes {
        out.append_number(name, scaled(*size));
    }
    out.end();
    out.append_i32("scaleFactor", scale);
    Ok(())
}

fn of_nothing(scale: i32, out: &mut DocumentWriter) {
    for name in ["size", "count", "numOrphanDocs", "storageSize", "totalSize", "nindexes"] {
        out.append_i32(name, 0);
    }
    out.append_i32("totalIndexSize", 0);
    for name in ["indexDetails", "indexSizes"] {
        out.begin_document(name);
        out.end();
    }
    out.append_i32("scaleFactor", scale);
}
