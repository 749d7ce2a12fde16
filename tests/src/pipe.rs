//! The short form of an aggregation in scripts: `on c {$match: {a: 1}}, {$limit: 2}` is the
//! pipeline of those stages over `c` (`on 1` over no collection); what follows a last ` | ` are
//! further arguments of the command. Its documents are printed as one array.

use bson::RawDocument;

use crate::{Result, print};

const BATCH: &str = "cursor.firstBatch";

/// The whole command.
pub fn command(collection: &str, text: &str) -> String {
    let (stages, arguments) = match text.rsplit_once(" | ") {
        Some((stages, arguments)) => (stages, format!(", {arguments}")),
        None => (text, String::new()),
    };
    let collection = match collection {
        "1" => collection.to_owned(),
        name => format!("{name:?}"),
    };
    format!("{{aggregate: {collection}, pipeline: [{stages}], cursor: {{}}{arguments}}}")
}

/// The documents of the first batch as one array, or the error.
pub fn shown(reply: &RawDocument, cursors: &[i64]) -> Result<String> {
    if reply.get("cursor")?.is_none() {
        return print::reply(reply, cursors);
    }
    let text = print::selected(reply, &[BATCH], cursors)?;
    Ok(text
        .strip_prefix(BATCH)
        .and_then(|text| text.strip_prefix(": "))
        .unwrap_or(&text)
        .to_owned())
}
