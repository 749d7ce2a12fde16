//! `top`: how much each collection is used.

use super::Call;
use crate::catalog::{Tally, Use};
use command::table::Kind;
use command::{Command, Namespace, Reply, ReplyWriter};
use error::Result;
use std::time::Duration;
use value::DocumentWriter;

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let mut reply = ReplyWriter::new();
    let out = reply.writer();
    out.begin_document("totals");
    out.append_str("note", "all times in microseconds");
    for collection in call.engine.registry.current().all() {
        let activity = &collection.state.activity;
        let (reads, writes) = (&activity.reads, &activity.writes);
        out.begin_document(&collection.namespace.to_string());
        let time = reads.microseconds() + writes.microseconds();
        append(out, "total", time, reads.count() + writes.count());
        append_tally(out, "readLock", reads);
        append_tally(out, "writeLock", writes);
        for (kind, name) in Use::ALL {
            append_tally(out, name, activity.of(kind));
        }
        out.end();
    }
    out.end();
    Ok(reply.finish())
}

fn append_tally(out: &mut DocumentWriter, name: &str, tally: &Tally) {
    append(out, name, tally.microseconds(), tally.count());
}

fn append(out: &mut DocumentWriter, name: &str, time: u64, count: u64) {
    out.begin_document(name);
    out.append_number("time", time as i64);
    out.append_number("count", count as i64);
    out.end();
}

/// Counts a finished command as a use of its collection, if it has one.
pub fn count(call: Call<'_>, command: &Command, took: Duration) {
    let body = call.request.body();
    let name = match command.name {
        "getMore" => value::element::get_value(body, "collection").and_then(|it| it.as_str()),
        _ if command.collection => {
            value::elements(body).next().and_then(|first| first.value().as_str())
        }
        _ => None,
    };
    let Some(name) = name else { return };
    let namespace = Namespace { database: call.common.database.into(), collection: name.into() };
    let Some(collection) = call.engine.registry.get(&namespace) else { return };
    let kind = match command.name {
        "find" => Use::Query,
        "getMore" => Use::GetMore,
        "insert" => Use::Insert,
        "update" => Use::Update,
        "delete" => Use::Remove,
        _ => Use::Command,
    };
    let writes = matches!(command.kind, Kind::Write | Kind::Schema);
    collection.state.activity.add(kind, writes, took);
}
