//! How much space a collection and its indexes take.
//!
//! The number of documents and their bytes are exact: they are part of each
//! commit. The rest are estimates, since collections share their trees: what is
//! stored is taken to be as large as its keys and values before compression, in
//! whole blocks, and an index to have entries like its first ones, as many for
//! each document as those have.

use crate::catalog::{Catalog, Collection, Index};
use crate::storage::{Counts, View};
use error::Result;
use std::collections::BTreeSet;

/// What space is counted in.
const BLOCK_BYTES: u64 = 4096;
/// What a record takes beside its document: its key.
const RECORD_OVERHEAD_BYTES: u64 = 12;
/// What an entry takes beside its key and types: index and record.
const ENTRY_OVERHEAD_BYTES: u64 = 12;
/// Entries that an index is judged by; a smaller one is measured.
const SAMPLE_ENTRIES: usize = 64;

#[derive(Debug, Default)]
pub struct Sizes {
    pub counts: Counts,
    pub storage: u64,
    /// The name and size of each index.
    pub indexes: Vec<(String, u64)>,
}

impl Sizes {
    pub fn indexes_total(&self) -> u64 {
        self.indexes.iter().map(|(_, size)| size).sum()
    }

    pub fn total(&self) -> u64 {
        self.storage + self.indexes_total()
    }
}

/// A view takes no space.
pub fn of(view: &View, collection: &Collection) -> Result<Sizes> {
    if collection.is_view() {
        return Ok(Sizes::default());
    }
    let counts = view.counts(collection.id)?;
    let storage = blocks(counts.bytes + counts.documents * RECORD_OVERHEAD_BYTES);
    // A clustered collection is its own index.
    let listed = collection.indexes.iter().skip(usize::from(collection.is_clustered()));
    let indexes = listed.map(|index| {
        let size = of_index(view, index, counts.documents)?;
        Ok((index.name.clone(), size))
    });
    Ok(Sizes { counts, storage, indexes: indexes.collect::<Result<_>>()? })
}

/// What a copy of all collections and indexes would write: their keys and values, without
/// what is only waiting to be purged.
pub fn copied_bytes(view: &View, catalog: &Catalog) -> Result<u64> {
    let mut bytes = 0;
    for collection in catalog.all().filter(|collection| !collection.is_view()) {
        let counts = view.counts(collection.id)?;
        bytes += counts.bytes + counts.documents * RECORD_OVERHEAD_BYTES;
        for index in &collection.indexes {
            bytes += entry_bytes(view, index, counts.documents)?;
        }
    }
    Ok(bytes)
}

fn of_index(view: &View, index: &Index, documents: u64) -> Result<u64> {
    entry_bytes(view, index, documents).map(blocks)
}

/// The bytes of an index's entries, judged by the first of them.
fn entry_bytes(view: &View, index: &Index, documents: u64) -> Result<u64> {
    let entries = view.all_entries(index.id, index.bare_keys);
    let (mut count, mut bytes) = (0, 0);
    let mut records = BTreeSet::new();
    for entry in entries.take(SAMPLE_ENTRIES) {
        let entry = entry?;
        count += 1;
        bytes += (entry.key().len() + entry.types().len()) as u64 + ENTRY_OVERHEAD_BYTES;
        records.insert(entry.record);
    }
    if count == SAMPLE_ENTRIES {
        bytes = bytes * documents / (records.len() as u64).max(1);
    }
    Ok(bytes)
}

/// Even nothing takes a block.
fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK_BYTES).max(1) * BLOCK_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_comes_in_blocks() {
        assert_eq!([0, 1, 4096, 4097].map(blocks), [4096, 4096, 4096, 8192]);
    }
}
