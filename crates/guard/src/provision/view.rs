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

/// One document an element, in array order: `{<parent_key>, at, item}`. The view reads arrays
/// whole, whatever the policy's `read` is; they are streamed, be they of any length.
pub fn view_options(policy: &Policy, overflow: &Overflow) -> RawDocumentBuf {
    let (path, key) = (overflow.path.as_str(), &*overflow.parent_key);
    let (array, index) = (format!("${path}"), index_field(path, key));
    let mut is_array = DocumentWriter::new();
    // What is no array has no index.
    is_array.append_document(index, &rawdoc! { "$type": "long" });
    let mut item = DocumentWriter::new();
    item.append_i32("_id", 0);
    item.append_str(key, "$_id");
    item.append_str("at", &format!("${index}"));
    item.append_str("item", &array);
    let pipeline = bson::rawbson!([
        { "$unwind": { "path": array, "includeArrayIndex": index } },
        { "$match": is_array.finish() },
        { "$project": item.finish() },
    ]);
    options(policy, pipeline)
}

fn options(policy: &Policy, pipeline: bson::RawBson) -> RawDocumentBuf {
    let mut options = RawDocumentBuf::new();
    options.append(bson::cstr!("viewOn"), &*policy.namespace.collection);
    options.append(bson::cstr!("pipeline"), pipeline);
    options
}

/// The view as earlier versions made it: `{<parent_key>, page, at, item}`, the elements of the
/// documents as page 0, then the pages'. It reads both as they are stored.
pub fn earlier_view_options(policy: &Policy, overflow: &Overflow) -> RawDocumentBuf {
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
    let mut pipeline = bson::RawArrayBuf::new();
    if let bson::RawBson::Array(head) = &head {
        value::element::array_elements(head).for_each(|stage| pipeline.push(stage.value()));
    }
    pipeline.push(union);
    options(policy, bson::RawBson::Array(pipeline))
}
