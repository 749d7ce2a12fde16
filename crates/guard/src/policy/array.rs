//! `arrays`: what may become of the arrays at each path.

use super::reader::Reader;
use super::{ArrayRule, Bounds, OnLimit, Policy, overflow};
use crate::patterns::place::EMPTY_ARRAY_BYTES;
use error::Result;
use std::sync::Arc;
use value::Path;
use write::limits::DOCUMENT_BYTES_MAX;

/// Arrays that a policy may name: a write may have to look at each of them.
const ARRAYS_MAX: usize = 500;
/// Names of a path, and its bytes: documents nest no deeper for most clients, and the `_id` of
/// a page, which is a key of an index, holds the path.
const PATH_NAMES_MAX: usize = 100;
const PATH_BYTES_MAX: usize = 1_024;

const KEYS: &[&str] = &["max", "max_bytes", "on_limit", "overflow"];

pub fn read(policy: &mut Policy, reader: &Reader<'_>, key: &str) -> Result<()> {
    let Some(arrays) = reader.document(key)? else { return Ok(()) };
    let count = arrays.elements().count();
    if count > ARRAYS_MAX {
        let why = format!("names {count} arrays; expected at most {ARRAYS_MAX}");
        return Err(reader.refuse(key, &why));
    }
    for (at, element) in arrays.elements().enumerate() {
        arrays.check_new(element.key, at)?;
        check_path(&arrays, element.key)?;
        let Some(rule) = arrays.document(element.key)? else { continue };
        let rule = read_rule(policy, &rule, Path::new(element.key))?;
        policy.arrays.push(rule);
    }
    Ok(())
}

fn read_rule(policy: &Policy, rule: &Reader<'_>, path: Path) -> Result<ArrayRule> {
    rule.only(KEYS)?;
    let bounds = Bounds { max: rule.count("max")?, max_bytes: rule.bytes("max_bytes")? };
    if bounds.max.is_none() && bounds.max_bytes.is_none() {
        return Err(rule.refuse("max", "is missing; expected max, max_bytes or both"));
    }
    if let Some(bytes) = bounds.max_bytes.filter(|bytes| *bytes < EMPTY_ARRAY_BYTES) {
        let why = format!(
            "must be at least {EMPTY_ARRAY_BYTES}, which an array takes that holds nothing, but \
             is {bytes}"
        );
        return Err(rule.refuse("max_bytes", &why));
    }
    if bounds.max_bytes.is_some_and(|bytes| bytes > DOCUMENT_BYTES_MAX) {
        return Err(rule.refuse("max_bytes", "must not pass 16MB, which no document does"));
    }
    let words = [("reject", 0), ("drop_oldest", 1), ("drop_newest", 2), ("overflow", 3)];
    let options = rule.document("overflow")?;
    let on_limit = rule.word("on_limit", &words)?;
    let on_limit = match on_limit {
        None if options.is_some() => {
            return Err(rule.refuse(
                "on_limit",
                "is missing; expected overflow, since \
                'overflow' is given",
            ));
        }
        None | Some(0) => OnLimit::Reject,
        Some(1) => OnLimit::DropOldest,
        Some(2) => OnLimit::DropNewest,
        Some(_) => {
            let overflow =
                overflow::read(&policy.namespace, rule, options.as_ref(), &path, bounds)?;
            OnLimit::Overflow(Arc::new(overflow))
        }
    };
    if options.is_some() && !matches!(on_limit, OnLimit::Overflow(_)) {
        return Err(rule.refuse("overflow", "needs on_limit: overflow"));
    }
    Ok(ArrayRule { path, bounds, on_limit })
}

fn check_path(arrays: &Reader<'_>, path: &str) -> Result<()> {
    path_fault(path).map_or(Ok(()), |why| Err(arrays.refuse(shortened(path), why)))
}

/// As much of a path as an error shows.
fn shortened(path: &str) -> &str {
    &path[..path.floor_char_boundary(PATH_BYTES_MAX)]
}

pub fn is_too_long(path: &str) -> bool {
    path.len() > PATH_BYTES_MAX || path.split('.').count() > PATH_NAMES_MAX
}

/// What keeps a path from being declared: it is one of plain field names.
pub fn path_fault(path: &str) -> Option<&'static str> {
    if is_too_long(path) {
        return Some("is too long; expected a path of at most 100 names and 1,024 bytes");
    }
    if path.split('.').any(str::is_empty) {
        return Some("is no path; expected field names joined by dots");
    }
    if path.split('.').any(|name| name.starts_with('$')) {
        return Some("names a field that begins with '$'; expected field names");
    }
    if path.split('.').any(|name| value::path::array_index(name).is_some()) {
        return Some("names an element of an array by number; expected field names");
    }
    if path.split('.').next() == Some("_id") {
        return Some("is in '_id', which holds no array that grows");
    }
    None
}
