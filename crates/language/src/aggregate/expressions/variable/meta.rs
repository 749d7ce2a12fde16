//! `$meta`: metadata of a document. What only searches make is missing, or refused where
//! MongoDB refuses it without a search.

use crate::Metadatum;
use crate::aggregate::expressions::{FieldPath, Node, Parser};
use bson::RawBsonRef;
use error::{Code, Error, Result};

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

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let RawBsonRef::String(name) = operand else {
        return Err(Code::location(17307).error("$meta only supports string arguments"));
    };
    if !KNOWN.contains(&name) {
        return Err(Code::location(17308).error(format!("Unsupported argument to $meta: {name}")));
    }
    let metadatum = match name {
        "indexKey" => Metadatum::IndexKey,
        "recordId" => Metadatum::RecordId,
        "sortKey" => Metadatum::SortKey,
        "textScore" => return Err(unavailable("text score")),
        "geoNearDistance" => return Err(unavailable("$geoNear distance")),
        "geoNearPoint" => return Err(unavailable("$geoNear point")),
        // Nothing here makes the others, and so they are missing.
        _ => return Ok(Node::Constant(None)),
    };
    parser.context.asked.note(metadatum);
    Ok(Node::Field(FieldPath::of_metadatum(metadatum)))
}

fn unavailable(what: &str) -> Error {
    Code::location(40218).error(format!("query requires {what} metadata, but it is not available"))
}
