//! The collection of an array's pages.

use super::{index, mirror};
use crate::policy::Overflow;
use bson::{RawDocument, RawDocumentBuf};
use value::DocumentWriter;

/// The indexes that the pages of an array have, where its collection has these. Two of those
/// may have one mirror: fields that pages do not have are left out of it.
pub fn page_indexes<'a>(
    overflow: &Overflow,
    indexes: impl Iterator<Item = &'a RawDocument>,
) -> Vec<RawDocumentBuf> {
    let mut specs = vec![page_index(overflow)];
    let mirrored = indexes.filter_map(|spec| mirror::mirrored(overflow, spec));
    mirrored.for_each(|spec| index::share(&mut specs, spec));
    specs
}

/// The index that finds pages and counts their elements without reading them.
fn page_index(overflow: &Overflow) -> RawDocumentBuf {
    let mut spec = DocumentWriter::new();
    spec.append_i32("v", 2);
    spec.begin_document("key");
    for field in [&*overflow.parent_key, "page", "count"] {
        spec.append_i32(field, 1);
    }
    spec.end();
    spec.append_str("name", &format!("{}_1_page_1_count_1", overflow.parent_key));
    spec.finish()
}
