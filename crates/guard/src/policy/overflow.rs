//! `overflow`: where the elements go that a document does not keep.

use super::array::is_too_long;
use super::reader::Reader;
use super::{Bounds, Keep, OnLimit, Overflow, Policy, Read};
use crate::patterns::place::EMPTY_ARRAY_BYTES;
use command::Namespace;
use error::Result;
use std::sync::Arc;
use value::Path;
use write::limits::DOCUMENT_BYTES_MAX;

/// What the name of the view of all elements has behind that of the pages.
pub const VIEW_SUFFIX: &str = "_all";
/// The weight of what a document keeps of an array, at the most, where the policy does not say.
const HEAD_BYTES: usize = 4 * 1024 * 1024;
/// A page's weight, where the policy does not say.
const PAGE_BYTES: usize = 32 * 1024;
/// The heaviest page that may be asked for: it is written whole by every append.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Elements of a page, where the policy bounds the array by bytes alone.
const PAGE_ELEMENTS: usize = 1_000;

const KEYS: &[&str] =
    &["count", "flag", "into", "keep", "page", "page_bytes", "pages", "parent_key", "read"];

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
    let target = |collection: &str| {
        let target = Namespace::new(&namespace.database, collection)?;
        target.check_write()?;
        Ok(target)
    };
    let refused = |error: error::Error| {
        rule.refuse("overflow.into", &format!("names no collection: {}", error.message()))
    };
    let parent_key = options.text("parent_key")?.unwrap_or("parentId");
    if parent_key.contains('.') || parent_key.starts_with('$') || is_too_long(parent_key) {
        return Err(options.refuse("parent_key", "must be one field name, of at most 1,024 bytes"));
    }
    let counter = |key: &str, default: &str| -> Result<Path> {
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
        Ok(text.map_or_else(|| Path::new(&format!("{path}{default}")), Path::new))
    };
    Ok(Overflow {
        path: path.clone(),
        head,
        into: target(&into).map_err(refused)?,
        view: target(&format!("{into}{VIEW_SUFFIX}")).map_err(refused)?,
        parent_key: parent_key.into(),
        page: options.count("page")?.or(head.max).unwrap_or(PAGE_ELEMENTS),
        page_bytes,
        keep: options
            .word("keep", &[("oldest", Keep::Oldest), ("newest", Keep::Newest)])?
            .unwrap_or(Keep::Oldest),
        read: options
            .word("read", &[("head", Read::Head), ("merged", Read::Merged)])?
            .unwrap_or(Read::Head),
        count: counter("count", "Count")?,
        flag: counter("flag", "HasOverflow")?,
        pages: counter("pages", "OverflowPages")?,
        counted: true,
    })
}
