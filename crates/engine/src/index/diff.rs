//! What a write changes in an index.

use super::{Keys, keys};
use crate::catalog::{ArrayPlaces, Index, IndexKind};
use bson::RawDocument;
use error::Result;
use language::Needs;
use value::key::Key;

/// The entries to add and to remove; both empty if the index is not touched.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub add: Vec<Key>,
    pub remove: Vec<Key>,
    /// What the index's `Multikey` must know before `add` is visible.
    pub arrays: ArrayPlaces,
}

/// Compares a document before and after a write. An index none of whose fields
/// changed is passed over without making a key.
pub fn diff(index: &Index, before: &RawDocument, after: &RawDocument) -> Result<Diff> {
    if untouched(index, before, after) {
        return Ok(Diff::default());
    }
    Ok(difference(keys(index, before)?, keys(index, after)?))
}

/// Both lists are sorted: one pass. A key whose value only changed its type
/// (1 to 1.0) has equal bytes and other types: it is written again.
fn difference(before: Keys, after: Keys) -> Diff {
    let mut diff = Diff { arrays: after.arrays, ..Diff::default() };
    let mut old = before.keys.into_iter().peekable();
    for key in after.keys {
        while let Some(gone) = old.next_if(|old| old.bytes < key.bytes) {
            diff.remove.push(gone);
        }
        match old.next_if(|old| old.bytes == key.bytes) {
            Some(same) if same.types == key.types => {}
            _ => diff.add.push(key),
        }
    }
    diff.remove.extend(old);
    diff
}

/// Whether the top-level fields an index looks at are the same bytes in both, so
/// that no key changes. Also holds for documents whose large values are stubs.
pub fn untouched(index: &Index, before: &RawDocument, after: &RawDocument) -> bool {
    let fields = index.fields.iter().all(|field| {
        let top = field.path.first();
        match field.kind {
            IndexKind::Wildcard if top.is_empty() => before.as_bytes() == after.as_bytes(),
            _ => same(top, before, after),
        }
    });
    fields
        && index.partial.as_ref().is_none_or(|partial| {
            let mut needs = Needs::none();
            partial.depends_on(&mut needs);
            match needs {
                Needs::Paths(paths) => paths.iter().all(|path| same(path.first(), before, after)),
                Needs::All | Needs::Except(_) => before.as_bytes() == after.as_bytes(),
            }
        })
}

fn same(field: &str, before: &RawDocument, after: &RawDocument) -> bool {
    match (value::element::get(before, field), value::element::get(after, field)) {
        (None, None) => true,
        (Some(a), Some(b)) => a.kind == b.kind && a.bytes == b.bytes,
        _ => false,
    }
}
