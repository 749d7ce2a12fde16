//! Scripts that move what makes documents large into documents of its own, for servers that
//! do not do it by themselves.

use crate::audit::census::Node;
use crate::audit::detectors::Subject;
use crate::report::{Cure, member, name};
use bson::spec::ElementType;
use serde_json::Value;

/// Characters or bytes of a part of a long value.
const PART: u32 = 200_000;

/// Moves what is behind the first elements of an array, one document an element. An array
/// that changed in between is left as it is, for the next run.
pub fn move_elements(subject: &Subject<'_>, path: &str, head: u64) -> Cure {
    let (from, into) = places(subject, path);
    let (field, array) = (name(path), Value::from(format!("${path}")));
    let over = name(&format!("{path}.{head}"));
    let command = format!(
        "// What is behind the first {head} elements goes to {into}, an element a document;\n\
         // the application reads it there. Run it again as often as arrays grow.\n\
         for (const one of db.getCollection({from}).aggregate([\n  \
         {{$match: {{{over}: {{$exists: true}}}}}}, {{$project: {{n: {{$size: {array}}}}}}}\n\
         ]).toArray()) {{\n  \
         db.getCollection({from}).aggregate([\n    \
         {{$match: {{_id: one._id}}}},\n    \
         {{$project: {{item: {{$slice: [{array}, {head}, {{$size: {array}}}]}}}}}},\n    \
         {{$unwind: {{path: \"$item\", includeArrayIndex: \"at\"}}}},\n    \
         {{$project: {{_id: {{of: \"$_id\", at: {{$add: [\"$at\", {head}]}}}}, item: 1}}}},\n    \
         {{$merge: {{into: {into}, whenMatched: \"replace\"}}}}\n  \
         ]);\n  \
         db.getCollection({from}).updateOne({{_id: one._id, {field}: {{$size: one.n}}}}, \
         {{$push: {{{field}: {{$each: [], $slice: {head}}}}}}});\n}}"
    );
    Cure::command("outlier", command)
}

/// Moves a large field into documents of its own: a document by its keys, a long text or
/// binary value in parts.
pub fn split_field(subject: &Subject<'_>, path: &str, node: &Node, from_bytes: u64) -> Cure {
    let large = format!("{{$expr: {{$gte: [{{$bsonSize: \"$$ROOT\"}}, {from_bytes}]}}}}");
    let command = match node.is_of(&[ElementType::EmbeddedDocument]) {
        true => by_keys(subject, path, &large),
        false => in_parts(subject, path, &large),
    };
    Cure::command("subset", command)
}

/// Moves the keys of a document, each into a document of its own.
pub fn split_keys(subject: &Subject<'_>, path: &str) -> Cure {
    let filter = format!("{{{}: {{$type: \"object\"}}}}", name(path));
    Cure::command("attribute", by_keys(subject, path, &filter))
}

fn by_keys(subject: &Subject<'_>, path: &str, large: &str) -> String {
    let (from, into) = places(subject, path);
    let (field, value) = (name(path), Value::from(format!("${path}")));
    format!(
        "db.getCollection({from}).aggregate([\n  \
         {{$match: {large}}}, {{$project: {{item: {{$objectToArray: {value}}}}}}}, {{$unwind: \"$item\"}},\n  \
         {{$project: {{_id: {{of: \"$_id\", key: \"$item.k\"}}, value: \"$item.v\"}}}},\n  \
         {{$merge: {{into: {into}, whenMatched: \"replace\"}}}}\n\
         ]);\n\
         // and when the application reads and writes it there:\n\
         db.getCollection({from}).updateMany({large}, {{$unset: {{{field}: \"\"}}}})"
    )
}

fn in_parts(subject: &Subject<'_>, path: &str, large: &str) -> String {
    let (from, into) = places(subject, path);
    let (field, value) = (name(path), member("one", path));
    format!(
        "// A value in parts, as GridFS keeps files; the application puts them together by n.\n\
         for (const one of db.getCollection({from}).find({large}, {{{field}: 1}})) {{\n  \
         const value = {value}, text = typeof value === \"string\";\n  \
         const bytes = text ? value.length : value.length();\n  \
         for (let n = 0; n * {PART} < bytes; n++) {{\n    \
         const part = text ? value.slice(n * {PART}, (n + 1) * {PART}) : \
         new Binary(value.buffer.subarray(n * {PART}, (n + 1) * {PART}), value.sub_type);\n    \
         db.getCollection({into}).replaceOne({{_id: {{of: one._id, n}}}}, {{part}}, {{upsert: true}});\n  \
         }}\n}}\n\
         // and when the application reads and writes it there:\n\
         db.getCollection({from}).updateMany({large}, {{$unset: {{{field}: \"\"}}}})"
    )
}

/// The collection, and the one beside it, as the shell writes them.
fn places(subject: &Subject<'_>, path: &str) -> (Value, Value) {
    let collection = &*subject.collection.namespace.collection;
    let last = path.rsplit('.').next().unwrap_or(path);
    (Value::from(collection), Value::from(subject.free_name(&format!("{collection}_{last}"))))
}
