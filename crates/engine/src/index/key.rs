//! All keys of a document for one index.

use super::{extract, hashed, multikey, wildcard};
use crate::catalog::{Index, IndexField, IndexKind};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use language::interrupt;
use value::Path;
use value::key::{Direction, Key};

/// The longest key the store can hold beside its prefix and record id.
pub const KEY_BYTES_MAX: usize = 64 * 1024 - 64;

/// Sorted, without duplicates.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub keys: Vec<Key>,
    /// The bits to set in the index's `Multikey` before these keys are visible.
    pub multikey: u64,
}

impl IndexField {
    /// The order of the field's values in the key.
    pub fn direction(&self) -> Direction {
        match self.kind {
            IndexKind::Descending => Direction::Descending,
            IndexKind::Ascending | IndexKind::Hashed | IndexKind::Wildcard => Direction::Ascending,
        }
    }
}

/// The keys of a document. None if the index does not hold the document: it is
/// sparse and the document has none of its fields, or partial and it does not match.
pub fn keys(index: &Index, document: &RawDocument) -> Result<Keys> {
    if let Some(filter) = &index.partial
        && !filter.matches(document)?
    {
        return Ok(Keys::default());
    }
    let wildcard = index.fields.iter().position(|field| field.kind == IndexKind::Wildcard);
    let keys = match wildcard {
        Some(at) => wildcard_keys(index, at, document)?,
        None => match plain(index, document) {
            Some(keys) => keys,
            None => expanded(index, document)?,
        },
    };
    match keys.keys.iter().find(|key| key.bytes.len() > KEY_BYTES_MAX) {
        Some(key) => Err(too_long(index, key)),
        None => Ok(keys),
    }
}

/// The common case: no array anywhere on the paths, so exactly one key.
fn plain(index: &Index, document: &RawDocument) -> Option<Keys> {
    let mut key = Key::default();
    let mut missing = 0;
    for field in &index.fields {
        let found = extract::single(&field.path, document).ok()?;
        missing += usize::from(found.is_none());
        push(&mut key, index, field, found);
    }
    let keys = if index.sparse && missing == index.fields.len() { Vec::new() } else { vec![key] };
    Some(Keys { keys, multikey: 0 })
}

fn expanded(index: &Index, document: &RawDocument) -> Result<Keys> {
    let paths: Vec<&Path> = index.fields.iter().map(|field| &field.path).collect();
    let mut bits = 0;
    let mut hashed_array = None;
    let mut keys = Vec::new();
    extract::tuples(
        &paths,
        document,
        &mut |field, component| {
            bits |= multikey::bit(&index.fields, field, component);
            if index.fields[field].kind == IndexKind::Hashed {
                hashed_array = Some(field);
            }
        },
        &mut |values| {
            if index.sparse && values.iter().all(Option::is_none) {
                return Ok(());
            }
            let mut key = Key::default();
            for (field, found) in index.fields.iter().zip(values) {
                push(&mut key, index, field, *found);
            }
            keys.push(key);
            Ok(())
        },
    )?;
    if let Some(field) = hashed_array {
        return Err(Code::location(16766).error(format!(
            "hashed indexes do not currently support array values. Found array at path: {}",
            index.fields[field].path.as_str()
        )));
    }
    Ok(Keys { keys: sorted(keys)?, multikey: bits })
}

/// The leaves below the wildcard, each combined with the values of the other
/// fields. Beside other fields, a document without leaves has a key all the same,
/// so that the other fields can be searched.
fn wildcard_keys(index: &Index, at: usize, document: &RawDocument) -> Result<Keys> {
    let mut leaves = Vec::new();
    let root = &index.fields[at].path;
    let arrays = wildcard::leaves(index, root, document, &mut |path, leaf| {
        interrupt::check_sized(path.len())?;
        let mut key = Key::default();
        key.push(RawBsonRef::String(path), Direction::Ascending, None);
        leaves.push((key, leaf));
        Ok(())
    })?;
    let (before, after) = (&index.fields[..at], &index.fields[at + 1..]);
    if leaves.is_empty() && index.fields.len() > 1 {
        leaves.push((Key::of(RawBsonRef::MinKey), RawBsonRef::MinKey));
    }
    let mut bits = if arrays { multikey::bit(&index.fields, at, 0) } else { 0 };
    let others: Vec<&Path> = before.iter().chain(after).map(|field| &field.path).collect();
    let mut keys = Vec::new();
    extract::tuples(
        &others,
        document,
        &mut |field, component| {
            let field = if field < at { field } else { field + 1 };
            bits |= multikey::bit(&index.fields, field, component);
        },
        &mut |values| {
            for (path, leaf) in &leaves {
                interrupt::check_sized(path.bytes.len())?;
                let mut key = Key::default();
                for (field, found) in before.iter().zip(values) {
                    push(&mut key, index, field, *found);
                }
                key.bytes.extend_from_slice(&path.bytes);
                key.push(*leaf, Direction::Ascending, index.collator.as_ref());
                for (field, found) in after.iter().zip(&values[at..]) {
                    push(&mut key, index, field, *found);
                }
                keys.push(key);
            }
            Ok(())
        },
    )?;
    Ok(Keys { keys: sorted(keys)?, multikey: bits })
}

fn push(key: &mut Key, index: &Index, field: &IndexField, found: Option<RawBsonRef<'_>>) {
    let found = found.unwrap_or(RawBsonRef::Null);
    let collator = index.collator.as_ref();
    match field.kind {
        IndexKind::Hashed => {
            let hash = RawBsonRef::Int64(hashed::hash(found, collator));
            key.push(hash, Direction::Ascending, None);
        }
        _ => key.push(found, field.direction(), collator),
    }
}

/// Of keys with equal bytes (1 and 1.0 in one array) the first stays.
fn sorted(keys: Vec<Key>) -> Result<Vec<Key>> {
    let mut keys = interrupt::sort(keys, |a, b| a.bytes.cmp(&b.bytes))?;
    keys.dedup_by(|b, a| a.bytes == b.bytes);
    Ok(keys)
}

fn too_long(index: &Index, key: &Key) -> error::Error {
    Code::KeyTooLong.error(format!(
        "index key of {} bytes for index '{}' is longer than {KEY_BYTES_MAX} bytes",
        key.bytes.len(),
        index.name
    ))
}
