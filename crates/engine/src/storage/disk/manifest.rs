//! The list of files that each tree of fjall's is made of. fjall notes its checksum
//! and does not compare it, and looks for tables that the list names without asking whether
//! they are the ones that were written.
//!
//! `current` holds the number of the list, u64, its XXH3, u128, and the kind of
//! checksum, 0; the list is `v<number>`, an archive with these sections:
//!
//! ```text
//! tables      levels: u8, each with runs: u8, each with tables: u32, each with
//!             id: u64, kind of checksum: u8, checksum: u128, base sequence number: u64
//! blob_files  count: u32, each with id: u64, kind of checksum: u8, checksum: u128
//! ```
//!
//! All little-endian. A checksum is the XXH3 of a whole file.

use super::Fault;
use std::io::{Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

const CURRENT: &str = "current";
const TABLES: &str = "tables";
const BLOBS: &str = "blobs";
const XXH3: u8 = 0;

/// What a tree is made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Greater with every change.
    pub number: u64,
    pub files: Vec<ListedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    Table,
    Blob,
}

/// A file as the list names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedFile {
    pub kind: FileKind,
    pub id: u64,
    pub sum: u128,
    /// What the sequence numbers of a table are counted from.
    pub base: u64,
}

impl ListedFile {
    pub fn path(&self, tree: &Path) -> PathBuf {
        let folder = match self.kind {
            FileKind::Table => TABLES,
            FileKind::Blob => BLOBS,
        };
        tree.join(folder).join(self.id.to_string())
    }
}

/// The trees, by the numbers that are the names of their directories.
pub fn trees(keyspaces: &Path) -> Result<Vec<(u64, PathBuf)>, Fault> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(keyspaces) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error.into()),
    };
    for entry in entries {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(number) = number.filter(|_| path.is_dir()) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the list of a tree, and compares it with its checksum. `None` for a tree that was
/// being made and has never held anything; fjall removes it.
pub fn read(tree: &Path) -> Result<Option<Manifest>, Fault> {
    let current = tree.join(CURRENT);
    let bytes = match std::fs::read(&current) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound && !has_files(&tree.join(TABLES))? => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::missing(&current)),
        Err(error) => return Err(error.into()),
    };
    let damaged = || Fault::Damage(format!("{} does not read", current.display()));
    let (number, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let (sum, kind) = rest.split_first_chunk().ok_or_else(damaged)?;
    if kind != [XXH3] {
        return Err(damaged());
    }
    let number = u64::from_le_bytes(*number);
    let list = tree.join(format!("v{number}"));
    let bytes = match std::fs::read(&list) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::missing(&list)),
        Err(error) => return Err(error.into()),
    };
    if xxh3_128(&bytes) != u128::from_le_bytes(*sum) {
        return Err(Fault::Damage(format!("{} does not fit its checksum", list.display())));
    }
    let files =
        files(&bytes).ok_or_else(|| Fault::Damage(format!("{} does not read", list.display())))?;
    Ok(Some(Manifest { number, files }))
}

fn has_files(directory: &Path) -> std::io::Result<bool> {
    match std::fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn files(bytes: &[u8]) -> Option<Vec<ListedFile>> {
    let archive = sfa::Reader::from_reader(&mut Cursor::new(bytes)).ok()?;
    let section = |name: &[u8]| {
        let entry = archive.toc().section(name)?;
        let start = usize::try_from(entry.pos()).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(entry.len()).ok()?)?)
    };
    let mut files = Vec::new();
    let mut tables = Reader(section(b"tables")?);
    for _ in 0..tables.u8()? {
        for _ in 0..tables.u8()? {
            for _ in 0..tables.u32()? {
                let (id, sum) = tables.file()?;
                files.push(ListedFile { kind: FileKind::Table, id, sum, base: tables.u64()? });
            }
        }
    }
    let mut blobs = Reader(section(b"blob_files")?);
    for _ in 0..blobs.u32()? {
        let (id, sum) = blobs.file()?;
        files.push(ListedFile { kind: FileKind::Blob, id, sum, base: 0 });
    }
    Some(files)
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// An id and a checksum.
    fn file(&mut self) -> Option<(u64, u128)> {
        let id = self.u64()?;
        let sum = (self.u8()? == XXH3).then(|| self.take().map(u128::from_le_bytes))??;
        Some((id, sum))
    }
}
