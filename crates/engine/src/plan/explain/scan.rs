//! Index scans: the index, its arrays, the bounds.

use super::{count, room};
use crate::catalog::IndexKind;
use crate::index::multikey;
use crate::plan::bounds::{KeyRange, text};
use crate::plan::execute::StatsTree;
use crate::plan::{IdRead, IndexScan, Scan};
use bson::RawBsonRef;
use value::DocumentWriter;
use value::key::{self, Direction};

/// The version of the index format that MongoDB's clients know.
const INDEX_VERSION: i32 = 2;

pub fn id_read(read: &IdRead, done: Option<&StatsTree>, out: &mut DocumentWriter) {
    out.append_str("keyPattern", &value::text::document(read.index.key_pattern()));
    out.append_str("indexName", &read.index.name);
    if let Some(done) = done {
        count(out, "keysExamined", done.stats.keys_examined);
        count(out, "docsExamined", done.stats.documents_examined);
        count(out, "nReturned", done.stats.advanced);
    }
}

pub fn index_scan(scan: &IndexScan, out: &mut DocumentWriter) {
    let index = &scan.index;
    if scan.has_wildcard() {
        out.begin_document("keyPattern");
        names(scan).iter().zip(scan.directions()).for_each(|(name, direction)| {
            out.append_i32(name, if direction == Direction::Ascending { 1 } else { -1 });
        });
        out.end();
    } else {
        out.append_document("keyPattern", index.key_pattern());
    }
    out.append_str("indexName", &index.name);
    if let Some(collator) = &index.collator {
        out.append_document("collation", collator.document());
    }
    out.append_bool("isMultiKey", scan.multikey != 0);
    multikey_paths(scan, out);
    out.append_bool("isUnique", index.unique);
    out.append_bool("isSparse", index.sparse);
    out.append_bool("isPartial", index.partial.is_some());
    out.append_i32("indexVersion", INDEX_VERSION);
    out.append_str("direction", scan.scan.name());
    let mut within = DocumentWriter::new();
    match &scan.range {
        Some(range) => key_range(scan, range, &mut within),
        None => bounds(scan, &mut within),
    }
    room::append_bounds(&within.finish(), out);
}

/// The fields of the key; a wildcard is the path and the value there.
fn names(scan: &IndexScan) -> Vec<&str> {
    let value = scan.wildcard.as_ref().map_or("$_value", |path| path.as_str());
    let fields = scan.index.fields.iter();
    fields
        .flat_map(|field| match field.kind {
            IndexKind::Wildcard => vec!["$_path", value],
            _ => vec![field.path.as_str()],
        })
        .collect()
}

/// For each field the prefixes of its path at which arrays were met.
fn multikey_paths(scan: &IndexScan, out: &mut DocumentWriter) {
    out.begin_document("multiKeyPaths");
    for (at, field) in scan.index.fields.iter().enumerate() {
        let met = |component| multikey::component(&scan.index, scan.multikey, at, component);
        if field.kind == IndexKind::Wildcard {
            out.begin_array("$_path");
            out.end();
            let value = scan.wildcard.as_ref().map_or("$_value", |path| path.as_str());
            out.begin_array(value);
            if met(0) {
                wildcard_prefixes(scan, value, out);
            }
            out.end();
            continue;
        }
        out.begin_array(field.path.as_str());
        for component in (0..field.path.len()).filter(|component| met(*component)) {
            if let Some(prefix) = field.path.prefix(component + 1) {
                out.push(RawBsonRef::String(prefix.as_str()));
            }
        }
        out.end();
    }
    out.end();
}

/// Where there are too many array paths below a wildcard, the path itself stands for them.
fn wildcard_prefixes(scan: &IndexScan, path: &str, out: &mut DocumentWriter) {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let prefixes = ends.filter_map(|end| path.get(..end));
    let met: Vec<&str> = prefixes.filter(|prefix| scan.index.multikey.met_at(prefix)).collect();
    match met.is_empty() {
        true => out.push(RawBsonRef::String(path)),
        false => met.iter().for_each(|prefix| out.push(RawBsonRef::String(prefix))),
    }
}

fn bounds(scan: &IndexScan, out: &mut DocumentWriter) {
    for ((name, intervals), direction) in
        names(scan).iter().zip(&scan.bounds).zip(scan.directions())
    {
        // As they are scanned: a descending field forward, or an ascending one
        // backward, goes from the end.
        let descending = (direction == Direction::Descending) != (scan.scan == Scan::Backward);
        out.begin_array(name);
        for interval in text::intervals(intervals, descending) {
            out.push(RawBsonRef::String(&interval));
        }
        out.end();
    }
}

/// `min` and `max`.
fn key_range(scan: &IndexScan, range: &KeyRange, out: &mut DocumentWriter) {
    let mut write = |name: &str, bytes: &[u8]| {
        out.begin_document(name);
        let values = key::decode(bytes, &[], &scan.directions()).unwrap_or_default();
        for (field, value) in scan.index.fields.iter().zip(&values) {
            out.append(field.path.as_str(), value.as_raw_bson_ref());
        }
        out.end();
    };
    write("startKey", &range.low);
    if let Some(high) = &range.high {
        write("endKey", high);
    }
}
