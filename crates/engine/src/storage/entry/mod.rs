//! Index entries: where they stand in the tree, what they hold, how they are walked.
//!
//! # Long keys
//!
//! A key of the tree has at most 65,535 bytes, an index key as many as a document has. A key
//! of up to [`WHOLE_KEY_BYTES_MAX`] is stored as it is. Of a longer one the tree's key holds
//! the first so many bytes and a hash of all of them, and the value holds the rest:
//!
//! ```text
//! short  key    <index id> <key> [record id]
//!        value  [record id] <types>
//! long   key    <index id> <first WHOLE_KEY_BYTES_MAX bytes> <hash: 32> [record id]
//!        value  [record id] <length of types: u32> <types> <the rest of the key>
//! ```
//!
//! The record id ends the key, or in an index of bare keys begins the value.
//!
//! The length alone tells the two apart: a long form is longer than every short one, so
//! short keys pay one comparison of lengths. Short and long keys are in order among each
//! other, too. The keys of an index are prefix-free (`value::key`), so a short key differs
//! from a longer one within its own length, and that much of the longer one is in the tree's
//! key. That is why as many bytes are kept as fit, and not fewer: with a smaller prefix, short
//! keys would lie between long ones that begin alike.
//!
//! Only long keys that share their first 65,472 bytes are out of order in the tree: they are
//! sorted by hash. [`Entries`] puts such a run in the order of the whole keys before it hands
//! it on, and checks bounds that end within the shared bytes against the whole keys. So
//! everything above (planner, scans, covered reads, sorts by index, `validate`) sees whole keys
//! in order and knows nothing of any of this.
//!
//! The hash is SHA-256. Two keys with one place would be a collision, of which none is
//! known and which takes 2^128 attempts to find, so that a place taken is a key taken, even
//! where an attacker chooses the keys. Reads compare the whole key.

mod entries;
mod run;
#[cfg(test)]
mod tests;

pub use entries::Entries;

use super::view::damaged_key;
use super::{IndexId, RecordId};
use error::Result;
use fjall::Slice;
use sha2::{Digest, Sha256};
use value::key::Key;

/// The longest index key that is stored as it is.
pub const WHOLE_KEY_BYTES_MAX: usize = 64 * 1024 - 64;

/// The index id that an entry's key begins with.
const INDEX_BYTES: usize = 4;
/// The record id that ends the key, or begins the value in an index of bare keys.
const RECORD_BYTES: usize = 8;
const HASH_BYTES: usize = 32;
/// The length of a long key's types.
const LENGTH_BYTES: usize = 4;
/// Hashing more than this takes longer than a thread that serves sockets may be held.
const HASHED_AT_ONCE_BYTES: usize = 512 * 1024;

/// One index entry, with its whole key.
#[derive(Debug, Clone)]
pub struct Entry {
    pub record: RecordId,
    /// Key and value as those of a short key are, whatever its length.
    key: Slice,
    value: Slice,
    bare: bool,
}

impl Entry {
    pub fn read(key: Slice, value: Slice, bare: bool) -> Result<Entry> {
        if is_long(&key, bare) {
            let (key, value) = join(&key, &value, bare).ok_or_else(damaged_key)?;
            return Entry::new(key, value, bare);
        }
        Entry::new(key, value, bare)
    }

    fn new(key: Slice, value: Slice, bare: bool) -> Result<Entry> {
        let record = match bare {
            true => value.first_chunk(),
            false => key.last_chunk().filter(|_| key.len() >= INDEX_BYTES + RECORD_BYTES),
        };
        let record = record.map(|bytes| RecordId(u64::from_be_bytes(*bytes)));
        Ok(Entry { record: record.ok_or_else(damaged_key)?, key, value, bare })
    }

    /// The key's bytes (`value::key`), without the index's prefix and the record id.
    pub fn key(&self) -> &[u8] {
        let end = self.key.len() - if self.bare { 0 } else { RECORD_BYTES };
        &self.key[INDEX_BYTES..end]
    }

    /// What the key's bytes lose, for `value::key::decode`.
    pub fn types(&self) -> &[u8] {
        &self.value[if self.bare { RECORD_BYTES } else { 0 }..]
    }

    /// What it takes in memory.
    pub fn size_bytes(&self) -> usize {
        self.key.len() + self.value.len() + size_of::<Entry>()
    }
}

/// The place of an entry in its tree; without a record in an index of bare keys.
pub fn place(index: IndexId, key: &[u8], record: Option<RecordId>) -> Vec<u8> {
    let (start, hash) = match key.split_at_checked(WHOLE_KEY_BYTES_MAX) {
        Some((start, rest)) if !rest.is_empty() => (start, Some(hash(key))),
        _ => (key, None),
    };
    let hash = hash.as_ref().map_or(&[][..], |hash| &hash[..]);
    let mut bytes = Vec::with_capacity(INDEX_BYTES + start.len() + hash.len() + RECORD_BYTES);
    bytes.extend_from_slice(&index.0.to_be_bytes());
    bytes.extend_from_slice(start);
    bytes.extend_from_slice(hash);
    if let Some(record) = record {
        bytes.extend_from_slice(&record.0.to_be_bytes());
    }
    bytes
}

/// The value of an entry; with its record in an index of bare keys.
pub fn value(key: Key, record: Option<RecordId>) -> Vec<u8> {
    let rest = key.bytes.get(WHOLE_KEY_BYTES_MAX..).unwrap_or_default();
    if record.is_none() && rest.is_empty() {
        return key.types;
    }
    let room = RECORD_BYTES + LENGTH_BYTES + key.types.len() + rest.len();
    let mut value = Vec::with_capacity(room);
    if let Some(record) = record {
        value.extend_from_slice(&record.0.to_be_bytes());
    }
    if !rest.is_empty() {
        value.extend_from_slice(&(key.types.len() as u32).to_be_bytes());
    }
    value.extend_from_slice(&key.types);
    value.extend_from_slice(rest);
    value
}

fn hash(key: &[u8]) -> [u8; HASH_BYTES] {
    match key.len() > HASHED_AT_ONCE_BYTES {
        true => turn::aside(|| Sha256::digest(key)).into(),
        false => Sha256::digest(key).into(),
    }
}

/// Whether a key of the tree is that of a long key.
fn is_long(place: &[u8], bare: bool) -> bool {
    let record = if bare { 0 } else { RECORD_BYTES };
    place.len() > INDEX_BYTES + WHOLE_KEY_BYTES_MAX + record
}

/// What long keys that begin alike have in common: index and first bytes.
fn shared(place: &[u8]) -> &[u8] {
    &place[..place.len().min(INDEX_BYTES + WHOLE_KEY_BYTES_MAX)]
}

/// Key and value of a long key as those of a short one are.
fn join(place: &[u8], value: &[u8], bare: bool) -> Option<(Slice, Slice)> {
    let record_bytes = |wanted: bool| if wanted { RECORD_BYTES } else { 0 };
    let (start, end) = place.split_at_checked(INDEX_BYTES + WHOLE_KEY_BYTES_MAX)?;
    let key_record = end.get(HASH_BYTES..).filter(|rest| rest.len() == record_bytes(!bare))?;
    let (value_record, value) = value.split_at_checked(record_bytes(bare))?;
    let (length, value) = value.split_first_chunk()?;
    let (types, rest) = value.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let key = [start, rest, key_record].concat();
    Some((key.into(), [value_record, types].concat().into()))
}
