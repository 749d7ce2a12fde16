//! `$meta`: metadata of a document. What only searches make is missing; what MongoDB
//! would have and this server does not keep is refused.

use crate::aggregate::expressions::{Node, Parser};
use bson::RawBsonRef;
use error::{Code, Result};

const KNOWN: [&str; 15] = [
    "geoNearDistance",
    "geoNearPoint",
    "indexKey",
    "randVal",
    "recordId",
    "score",
    "scoreDetails",
    "searchHighlights",
    "searchScore",
    "searchScoreDetails",
    "searchSequenceToken",
    "sortKey",
    "stream",
    "textScore",
    "vectorSearchScore",
];

pub fn parse(_: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::String(name) = operand else {
        return Err(Code::location(17307).error("$meta only supports string arguments"));
    };
    if !KNOWN.contains(&name) {
        return Err(Code::location(17308).error(format!("Unsupported argument to $meta: {name}")));
    }
    let needs = match name {
        "textScore" => "a $text query, and text search is not supported",
        "geoNearDistance" | "geoNearPoint" => "$geoNear, which is not supported",
        "recordId" | "sortKey" => "the plan's metadata, which is not kept",
        // Nothing here makes the others, and so they are missing.
        _ => return Ok(Node::Constant(None)),
    };
    Err(Code::location(40218).error(format!(
        "query requires {name} metadata, but it is not available: it needs {needs}"
    )))
}
