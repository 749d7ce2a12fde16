//! The view of all elements of an array.

use crate::Policy;
use crate::policy::Overflow;
use bson::{RawDocumentBuf, rawdoc};
use value::DocumentWriter;

/// Where the view keeps an element's number on the way: in no field that it still needs.
fn index_field(path: &str, parent_key: &str) -> &'static str {
    let needed = [path.split('.').next().unwrap_or(path), parent_key];
    ["at", "index", "number"].into_iter().find(|name| !needed.contains(name)).unwrap_or("at")
}

/// One document an element: those of the documents as page 0, then the pages'.
pub fn view_options(policy: &Policy, overflow: &Overflow) -> RawDocumentBuf {
    // A filter by one document uses `_id`, and the index of the pages.
    let elements = |path: &str, parent: &str, page: bson::RawBson| {
        let array = format!("${path}");
        let index = index_field(path, &overflow.parent_key);
        let mut arrays = DocumentWriter::new();
        arrays.append_document(path, &rawdoc! { "$type": "array" });
        let mut item = DocumentWriter::new();
        item.append_i32("_id", 0);
        item.append_str(&overflow.parent_key, parent);
        item.append("page", page.as_raw_bson_ref());
        item.append_str("at", &format!("${index}"));
        item.append_str("item", &array);
        bson::rawbson!([
            { "$match": arrays.finish() },
            { "$unwind": { "path": array, "includeArrayIndex": index } },
            { "$project": item.finish() },
        ])
    };
    let head = elements(overflow.path.as_str(), "$_id", rawdoc! { "$literal": 0 }.into());
    let pages = elements(overflow.name(), &format!("${}", overflow.parent_key), "$page".into());
    let union = rawdoc! {
        "$unionWith": { "coll": &*overflow.into.collection, "pipeline": pages },
    };
    let mut options = RawDocumentBuf::new();
    options.append(bson::cstr!("viewOn"), &*policy.namespace.collection);
    let mut pipeline = bson::RawArrayBuf::new();
    if let bson::RawBson::Array(head) = &head {
        value::element::array_elements(head).for_each(|stage| pipeline.push(stage.value()));
    }
    pipeline.push(union);
    options.append(bson::cstr!("pipeline"), pipeline);
    options
}
