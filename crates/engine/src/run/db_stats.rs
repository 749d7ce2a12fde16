//! `dbStats`.

use super::{Call, reading, sizes};
use command::views::DbStats;
use command::{Reply, ReplyWriter};
use error::Result;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let stats = DbStats::parse(call.request)?;
    let database = call.common.database;
    let catalog = call.engine.registry.current();
    let view = reading::view(call)?;
    let (mut collections, mut views, mut indexes) = (0_i64, 0_i64, 0_i64);
    let (mut objects, mut data, mut storage, mut index_bytes) = (0, 0, 0, 0);
    for collection in catalog.database(database) {
        if collection.is_view() {
            views += 1;
            continue;
        }
        let sizes = sizes::of(&view, collection)?;
        collections += 1;
        indexes += sizes.indexes.len() as i64;
        objects += sizes.counts.documents;
        data += sizes.counts.bytes;
        storage += sizes.storage;
        index_bytes += sizes.indexes_total();
    }
    let scaled = |bytes: u64| bytes as f64 / f64::from(stats.scale.max(1));
    let mut reply = ReplyWriter::new();
    reply.append("db", database);
    reply.append("collections", collections).append("views", views);
    reply.append("objects", objects as i64);
    reply.append("avgObjSize", if objects == 0 { 0.0 } else { data as f64 / objects as f64 });
    reply.append("dataSize", scaled(data)).append("storageSize", scaled(storage));
    if stats.free_storage {
        reply.append("freeStorageSize", 0.0);
    }
    reply.append("indexes", indexes).append("indexSize", scaled(index_bytes));
    if stats.free_storage {
        reply.append("indexFreeStorageSize", 0.0);
    }
    reply.append("totalSize", scaled(storage + index_bytes));
    if stats.free_storage {
        reply.append("totalFreeStorageSize", 0.0);
    }
    reply.append("scaleFactor", i64::from(stats.scale));
    let disk = call.engine.store.file_system().filter(|_| collections > 0).unwrap_or_default();
    reply.append("fsUsedSize", scaled(disk.used_bytes));
    reply.append("fsTotalSize", scaled(disk.total_bytes));
    Ok(reply.finish())
}
