//! How entries are packed into rows, each read by itself. An entry is
//!
//! ```text
//! key length    u32
//! value length  u32, or the greatest for a removal
//! key, value
//! ```

use super::Entry;
use crate::storage::trees::{Damage, Failure};
use fjall::Slice;

/// How large a row becomes before the next begins: a value that the tree keeps apart.
const ROW_BYTES: usize = 256 * 1024;
/// The value length of a removal: no value is so long.
const REMOVED: u32 = u32::MAX;

pub fn rows(entries: &[Entry]) -> Vec<Slice> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    for (key, value) in entries {
        let length = value.as_ref().map_or(REMOVED, |value| value.len() as u32);
        row.extend_from_slice(&(key.len() as u32).to_be_bytes());
        row.extend_from_slice(&length.to_be_bytes());
        row.extend_from_slice(key);
        row.extend_from_slice(value.as_deref().unwrap_or_default());
        if row.len() >= ROW_BYTES {
            rows.push(std::mem::take(&mut row).into());
        }
    }
    if !row.is_empty() {
        rows.push(row.into());
    }
    rows
}

/// Adds what a row holds; `None` if it is damaged.
pub fn read(mut row: &[u8], entries: &mut Vec<Entry>) -> Option<()> {
    while !row.is_empty() {
        let (key_bytes, rest) = row.split_first_chunk()?;
        let (value_bytes, rest) = rest.split_first_chunk()?;
        let (key, rest) = rest.split_at_checked(u32::from_be_bytes(*key_bytes) as usize)?;
        let (value, rest) = match u32::from_be_bytes(*value_bytes) {
            REMOVED => (None, rest),
            length => rest.split_at_checked(length as usize).map(|(it, rest)| (Some(it), rest))?,
        };
        entries.push((key.into(), value.map(Slice::from)));
        row = rest;
    }
    Some(())
}

pub fn damaged() -> Failure {
    Box::new(Damage("index entries of a commit are not readable".to_owned()))
}
