//! `listDatabases`.

use super::context::context;
use super::sizes;
use super::{Call, reading};
use bson::RawBsonRef;
use command::views::ListDatabases;
use command::{Reply, ReplyWriter};
use error::Result;
use language::query::Filter;
use value::{ArrayWriter, DocumentWriter};

/// Databases that every server has, if they hold nothing.
const OWN_DATABASES: [&str; 3] = ["admin", "config", "local"];

const MEGABYTE: i64 = 1024 * 1024;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let list = ListDatabases::parse(call.request)?;
    let context = context(None, None, None)?;
    let filter = list.filter.map(|filter| Filter::parse(filter, &context)).transpose()?;
    let catalog = call.engine.registry.current();
    let view = reading::view(call)?;
    let mut databases = ArrayWriter::new();
    let mut total = 0;
    let mut names = catalog.databases();
    names.extend(OWN_DATABASES.map(Box::from));
    names.sort_unstable();
    names.dedup();
    for name in names {
        let mut database = DocumentWriter::new();
        database.append_str("name", &name);
        let mut size = 0;
        if !list.name_only {
            for collection in catalog.database(&name) {
                size += sizes::of(&view, collection)?.total() as i64;
            }
            database.append_i64("sizeOnDisk", size);
            database.append_bool("empty", catalog.database(&name).next().is_none());
        }
        let database = database.finish();
        if filter.as_ref().map_or(Ok(true), |filter| filter.matches(&database))? {
            databases.push(RawBsonRef::Document(&database));
            total += size;
        }
    }
    let mut reply = ReplyWriter::new();
    databases.finish_into(reply.writer(), "databases");
    if !list.name_only {
        reply.append("totalSize", total).append("totalSizeMb", total / MEGABYTE);
    }
    Ok(reply.finish())
}
