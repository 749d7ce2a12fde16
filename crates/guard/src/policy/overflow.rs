//! `overflow`: where the elements go that a document does not keep.

use super::array::is_too_long;
use super::reader::Reader;
use super::{Bounds, Keep, OnLimit, Overflow, Policy, Read, TooLarge};
use crate::patterns::place::EMPTY_ARRAY_BYTES;
use command::Namespace;
use error::Result;
use std::sync::Arc;
use value::Path;
use write::limits::DOCUMENT_BYTES_MAX;

/// The weight of what a document keeps of an array, at the most, where the policy does not say.
const HEAD_BYTES: usize = 4 * 1024 * 1024;
/// A page's weight, where the policy does not say.
const PAGE_BYTES: usize = 32 * 1024;
/// The heaviest page that may be asked for: it is written whole by every append.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Elements of a page, where the policy bounds the array by bytes alone.
const PAGE_ELEMENTS: usize = 1_000;

const KEYS: &[&str] = &[
    "count",
    "elements",
    "flag",
    "into",
    "keep",
    "page",
    "page_bytes",
    "pages",
    "parent_key",
    "read",
    "too_large",
];

/// Bounds the heads that are bounded in number only: elements may be large, and documents must
/// not come near their own bound by what they keep of arrays that have pages to go to.
pub fn bound_heads(policy: &mut Policy) {
    let room = policy.document.max_bytes.unwrap_or(DOCUMENT_BYTES_MAX) / 2;
    let share = room / policy.overflows().count().max(1);
    let most = share.clamp(EMPTY_ARRAY_BYTES, HEAD_BYTES);
    for rule in &mut policy.arrays {
        if let OnLimit::Overflow(overflow) = &mut rule.on_limit {
            rule.bounds.max_bytes.get_or_insert(most);
            Arc::make_mut(overflow).head = rule.bounds;
        }
    }
}

/// Reads the options; `options` is `None` where all are left out.
pub fn read(
    namespace: &Namespace,
    rule: &Reader<'_>,
    options: Option<&Reader<'_>>,
    path: &Path,
    head: Bounds,
) -> Result<Overflow> {
    let nothing = bson::RawDocumentBuf::new();
    let none = Reader::new(&nothing);
    let options = options.unwrap_or(&none);
    options.only(KEYS)?;
    let page_bytes = options.bytes("page_bytes")?.unwrap_or(PAGE_BYTES);
    if page_bytes > PAGE_BYTES_MAX {
        return Err(options.refuse("page_bytes", "must not pass 4MB"));
    }
    let into = match options.text("into")? {
        Some(into) => into.to_owned(),
        None => format!("{}_{}", namespace.collection, path.as_str().replace('.', "_")),
    };
    let target = |key: &str, collection: &str| {
        let target = Namespace::new(&namespace.database, collection);
        let target = target.and_then(|target| target.check_write().map(|()| target));
        target.map_err(|error| {
            let why = format!("names no collection: {}", error.message());
            rule.refuse(&format!("overflow.{key}"), &why)
        })
    };
    let parent_key = options.text("parent_key")?.unwrap_or("parentId");
    if parent_key.contains('.') || parent_key.starts_with('$') || is_too_long(parent_key) {
        return Err(options.refuse("parent_key", "must be one field name, of at most 1,024 bytes"));
    }
    let counter = |key: &str| -> Result<Option<Path>> {
        let text = options.text(key)?;
        if text.is_some_and(|text| {
            text.split('.').any(|name| name.is_empty() || name.starts_with('$'))
        }) {
            return Err(options.refuse(key, "must be a path of field names"));
        }
        if text.is_some_and(is_too_long) {
            let expected = "must be a path of at most 100 names and 1,024 bytes";
            return Err(options.refuse(key, expected));
        }
        Ok(text.map(Path::new))
    };
    let overflow = Overflow {
        path: path.clone(),
        head,
        into: target("into", &into)?,
        view: options.text("elements")?.map(|it| target("elements", it)).transpose()?,
        parent_key: parent_key.into(),
        page: options.count("page")?.or(head.max).unwrap_or(PAGE_ELEMENTS),
        page_bytes,
        keep: options
            .word("keep", &[("oldest", Keep::Oldest), ("newest", Keep::Newest)])?
            .unwrap_or(Keep::Oldest),
        read: options
            .word("read", &[("head", Read::Head), ("merged", Read::Merged)])?
            .unwrap_or(Read::Merged),
        too_large: options
            .word("too_large", &[("head", TooLarge::Head), ("error", TooLarge::Error)])?
            .unwrap_or(TooLarge::Head),
        count: counter("count")?,
        flag: counter("flag")?,
        pages: counter("pages")?,
        counted: true,
    };
    if overflow.read == Read::Head && overflow.count.is_none() && overflow.flag.is_none() {
        let why = "is head, so documents must say where there is more; expected 'count' or 'flag' \
                   to name a field, or read: merged";
        return Err(options.refuse("read", why));
    }
    Ok(overflow)
}
