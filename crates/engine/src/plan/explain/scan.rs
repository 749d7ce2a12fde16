//! Index scans: the index, its arrays, the bounds.

use super::count;
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
    match &scan.wildcard {
        None => out.append_document("keyPattern", index.key_pattern()),
        Some(path) => {
            out.begin_document("keyPattern");
            out.append_i32("$_path", 1);
            out.append_i32(path.as_str(), 1);
            out.end();
        }
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
    out.begin_document("indexBounds");
    match &scan.range {
        Some(range) => key_range(scan, range, out),
        None => bounds(scan, out),
    }
    out.end();
}

/// For each field the prefixes of its path at which arrays were met.
fn multikey_paths(scan: &IndexScan, out: &mut DocumentWriter) {
    out.begin_document("multiKeyPaths");
    match &scan.wildcard {
        Some(path) => {
            out.begin_array("$_path");
            out.end();
            out.begin_array(path.as_str());
            if scan.multikey != 0 {
                out.push(RawBsonRef::String(path.as_str()));
            }
            out.end();
        }
        None => {
            for (at, field) in scan.index.fields.iter().enumerate() {
                out.begin_array(field.path.as_str());
                for component in 0..field.path.len() {
                    if multikey::component(&scan.index, scan.multikey, at, component)
                        && let Some(prefix) = field.path.prefix(component + 1)
                    {
                        out.push(RawBsonRef::String(prefix.as_str()));
                    }
                }
                out.end();
            }
        }
    }
    out.end();
}

fn bounds(scan: &IndexScan, out: &mut DocumentWriter) {
    let names: Vec<&str> = match &scan.wildcard {
        Some(path) => vec!["$_path", path.as_str()],
        None => scan.index.fields.iter().map(|field| field.path.as_str()).collect(),
    };
    for ((name, intervals), direction) in names.iter().zip(&scan.bounds).zip(scan.directions()) {
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
