//! The list of files that each tree of fjall's is made of. fjall notes its checksum
//! and does not compare it.
//!
//! `current` holds the number of the list, u64, its XXH3, u128, and the kind of
//! checksum, 0; the list is `v<number>`. All little-endian.

use super::Fault;
use std::io::ErrorKind;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

const CURRENT: &str = "current";
const TABLES: &str = "tables";

/// Compares the lists of all trees with their checksums.
pub fn check(keyspaces: &Path) -> Result<(), Fault> {
    if !keyspaces.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(keyspaces)? {
        let tree = entry?.path();
        if tree.is_dir() {
            check_tree(&tree)?;
        }
    }
    Ok(())
}

fn check_tree(tree: &Path) -> Result<(), Fault> {
    let current = tree.join(CURRENT);
    let bytes = match std::fs::read(&current) {
        Ok(bytes) => bytes,
        // A tree that was being made; it has never held anything. fjall removes it.
        Err(error) if error.kind() == ErrorKind::NotFound && !has_files(&tree.join(TABLES))? => {
            return Ok(());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Fault::Damage(format!("{} is missing", current.display())));
        }
        Err(error) => return Err(error.into()),
    };
    let damaged = || Fault::Damage(format!("{} does not read", current.display()));
    let (number, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let (sum, kind) = rest.split_first_chunk().ok_or_else(damaged)?;
    if kind != [0] {
        return Err(damaged());
    }
    let list = tree.join(format!("v{}", u64::from_le_bytes(*number)));
    let fits = match std::fs::read(&list) {
        Ok(bytes) => xxh3_128(&bytes) == u128::from_le_bytes(*sum),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error.into()),
    };
    if fits {
        return Ok(());
    }
    Err(Fault::Damage(format!("{} does not fit its checksum", list.display())))
}

fn has_files(directory: &Path) -> std::io::Result<bool> {
    match std::fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
