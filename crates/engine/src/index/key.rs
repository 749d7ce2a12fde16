//! All keys of a document for one index.

use super::{extract, hashed, multikey, wildcard};
use crate::catalog::{ArrayPlaces, Index, IndexField, IndexKind};
use crate::storage::entry::WHOLE_KEY_BYTES_MAX;
use bson::{RawBsonRef, RawDocument};
use budget::{Held, Kind};
use error::{Code, Result};
use language::interrupt;
use value::Path;
use value::key::{Direction, Key};

/// What the long keys of one document may take in one index. A key may be as long as its
/// document, and an array beside a long value makes one of each element.
pub const LONG_KEYS_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Sorted, without duplicates.
#[derive(Debug)]
pub struct Keys {
    pub keys: Vec<Key>,
    /// What the index's `Multikey` must know before these keys are visible.
    pub arrays: ArrayPlaces,
    /// What the keys take of the budget.
    _memory: Held,
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
        return Ok(Keys::none());
    }
    let wildcard = index.fields.iter().position(|field| field.kind == IndexKind::Wildcard);
    match wildcard {
        Some(at) => wildcard_keys(index, at, document),
        None => match plain(index, document) {
            Some(key) => Ok(Keys { keys: key.into_iter().collect(), ..Keys::none() }),
            None => expanded(index, document),
        },
    }
}

impl Keys {
    fn none() -> Keys {
        Keys { keys: Vec::new(), arrays: ArrayPlaces::default(), _memory: Held::new(Kind::Work) }
    }
}

/// Keys as they come.
struct Gathered<'a> {
    index: &'a Index,
    keys: Vec<Key>,
    bytes: usize,
    long_bytes: usize,
    memory: Held,
}

impl Gathered<'_> {
    fn of(index: &Index) -> Gathered<'_> {
        let memory = Held::new(Kind::Work);
        Gathered { index, keys: Vec::new(), bytes: 0, long_bytes: 0, memory }
    }

    fn add(&mut self, key: Key) -> Result<()> {
        let bytes = key.bytes.len() + key.types.len();
        self.bytes += bytes;
        if key.bytes.len() > WHOLE_KEY_BYTES_MAX {
            self.long_bytes += bytes;
            if self.long_bytes > LONG_KEYS_BYTES_MAX {
                return Err(too_long(self.index));
            }
            interrupt::check_sized(bytes)?;
        }
        self.memory.resize(self.bytes)?;
        self.keys.push(key);
        Ok(())
    }

    /// Of keys with equal bytes (1 and 1.0 in one array) the first stays.
    fn sorted(self, arrays: ArrayPlaces) -> Result<Keys> {
        let mut keys = interrupt::sort(self.keys, |a, b| a.bytes.cmp(&b.bytes))?;
        keys.dedup_by(|b, a| a.bytes == b.bytes);
        Ok(Keys { keys, arrays, _memory: self.memory })
    }
}

/// The common case: no array anywhere on the paths, so one key, or none in a sparse index.
fn plain(index: &Index, document: &RawDocument) -> Option<Option<Key>> {
    let mut key = Key::default();
    let mut missing = 0;
    for field in &index.fields {
        let found = extract::single(&field.path, document).ok()?;
        missing += usize::from(found.is_none());
        push(&mut key, index, field, found);
    }
    Some((!index.sparse || missing < index.fields.len()).then_some(key))
}

fn expanded(index: &Index, document: &RawDocument) -> Result<Keys> {
    let paths: Vec<&Path> = index.fields.iter().map(|field| &field.path).collect();
    let mut bits = 0;
    let mut hashed_array = None;
    let mut keys = Gathered::of(index);
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
            keys.add(key)
        },
    )?;
    if let Some(field) = hashed_array {
        return Err(Code::location(16766).error(format!(
            "hashed indexes do not currently support array values. Found array at path: {}",
            index.fields[field].path.as_str()
        )));
    }
    keys.sorted(ArrayPlaces { bits, ..ArrayPlaces::default() })
}

/// The leaves below the wildcard, each combined with the values of the other
/// fields. Beside other fields, a document without leaves has a key all the same,
/// so that the other fields can be searched.
fn wildcard_keys(index: &Index, at: usize, document: &RawDocument) -> Result<Keys> {
    let mut leaves = Vec::new();
    let root = &index.fields[at].path;
    let met = wildcard::leaves(index, root, document, &mut |path, leaf| {
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
    let anywhere = multikey::bit(&index.fields, at, 0);
    let mut bits = if met.too_many { anywhere } else { 0 };
    let others: Vec<&Path> = before.iter().chain(after).map(|field| &field.path).collect();
    let mut keys = Gathered::of(index);
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
                keys.add(key)?;
            }
            Ok(())
        },
    )?;
    keys.sorted(ArrayPlaces { bits, paths: met.paths.into_iter().collect(), anywhere })
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

fn too_long(index: &Index) -> error::Error {
    Code::KeyTooLong.error(format!(
        "the long keys of a document in index '{}' take more than {LONG_KEYS_BYTES_MAX} bytes",
        index.name
    ))
}
