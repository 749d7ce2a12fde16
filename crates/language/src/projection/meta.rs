//! `{$meta: …}`: what the server knows of a document beside its fields.

use bson::RawBsonRef;
use error::{Code, Error};

/// Names that exist in the language and for which there is never a value here,
/// with what the message calls them.
const UNAVAILABLE: &[(&str, &str)] = &[
    ("geoNearDistance", "$geoNear distance"),
    ("geoNearPoint", "$geoNear point"),
    ("randVal", "rand val"),
    ("score", "score"),
    ("scoreDetails", "score details"),
    ("searchHighlights", "$search highlights"),
    ("searchScore", "$search score"),
    ("searchScoreDetails", "$search score details"),
    ("searchSequenceToken", "$search sequence token"),
    ("sortKey", "sortKey"),
    ("textScore", "text score"),
    ("vectorSearchScore", "$vectorSearch score"),
];

/// Names that MongoDB answers and that are refused here.
const REFUSED: &[&str] =
    &["indexKey", "recordId", "timeseriesBucketMaxTime", "timeseriesBucketMinTime"];

/// Why a `$meta` cannot be answered: it never can.
pub fn refuse(argument: RawBsonRef<'_>) -> Error {
    let RawBsonRef::String(name) = argument else {
        return Code::location(17307).error("$meta only supports string arguments");
    };
    if let Some((_, words)) = UNAVAILABLE.iter().find(|(known, _)| *known == name) {
        return Code::location(40218)
            .error(format!("query requires {words} metadata, but it is not available"));
    }
    if REFUSED.contains(&name) {
        return Code::NotImplemented.error(format!("{{$meta: \"{name}\"}} is not supported"));
    }
    Code::location(17308).error(format!("Unsupported argument to $meta: {name}"))
}
