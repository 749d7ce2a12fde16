//! How far the store has been synced, in a file of its own.
//!
//! ```text
//! 0   number  u64      the last batch that was synced
//! 8   clean   u64      1 if the store was closed in good order, else 0
//! 16  touched 3 × u64  for every tree, the floor of the last batch up to then that
//!                      changed it, or 0 where that is not known, see `stamp`
//! 40  check   u64      XXH3 of the bytes before
//! ```
//!
//! Stores of earlier formats have no `touched`.
//!
//! It is overwritten after each sync and not synced itself: it survives the process,
//! and after a power loss it is behind at worst, never ahead.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const NAME: &str = "SYNCED";
const BYTES: usize = 48;
const EARLIER_BYTES: usize = 24;

/// How far batches have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    pub number: u64,
    /// For every tree, the floor of the last batch that changed it.
    pub touched: [u64; 3],
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// There is none.
    Absent,
    Read {
        reached: Reached,
        clean: bool,
    },
    /// It is there and does not fit its check.
    Unreadable,
}

impl Mark {
    pub fn read(directory: &Path) -> Result<Mark> {
        match std::fs::read(directory.join(NAME)) {
            Ok(bytes) => Ok(parse(&bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Mark::Absent),
            Err(error) => Err(error),
        }
    }

    /// How far the store is known to have been synced.
    pub fn reached(self) -> Reached {
        match self {
            Mark::Read { reached, .. } => reached,
            Mark::Absent | Mark::Unreadable => Reached::default(),
        }
    }
}

pub struct Watermark {
    file: File,
}

impl Watermark {
    pub fn open(directory: &Path) -> Result<Watermark> {
        let path = directory.join(NAME);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        // What is longer was not written by us.
        if file.metadata()?.len() > BYTES as u64 {
            file.set_len(BYTES as u64)?;
        }
        Ok(Watermark { file })
    }

    pub fn write(&self, reached: Reached, clean: bool) -> Result<()> {
        let [records, entries, large] = reached.touched;
        let numbers = [reached.number, u64::from(clean), records, entries, large];
        let mut bytes = [0; BYTES];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        let check = xxh3_64(&bytes[..BYTES - 8]);
        bytes[BYTES - 8..].copy_from_slice(&check.to_be_bytes());
        self.file.write_all_at(&bytes, 0)
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_all()
    }
}

fn parse(bytes: &[u8]) -> Mark {
    // It was made and the process ended before it was written.
    if bytes.is_empty() {
        return Mark::Absent;
    }
    let Some((before, check)) = bytes.split_last_chunk() else { return Mark::Unreadable };
    let is_known = matches!(bytes.len(), BYTES | EARLIER_BYTES);
    if !is_known || u64::from_be_bytes(*check) != xxh3_64(before) {
        return Mark::Unreadable;
    }
    let number = |at: usize| {
        let bytes = before.get(at * 8..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
    };
    let touched = [number(2), number(3), number(4)];
    Mark::Read { reached: Reached { number: number(0), touched }, clean: number(1) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_an_earlier_format_is_read() {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&7_u64.to_be_bytes());
        bytes.extend_from_slice(&1_u64.to_be_bytes());
        bytes.extend_from_slice(&xxh3_64(&bytes).to_be_bytes());
        let reached = Reached { number: 7, touched: [0; 3] };
        assert_eq!(parse(&bytes), Mark::Read { reached, clean: true });
        assert_eq!(parse(&bytes[..23]), Mark::Unreadable);
    }

    #[test]
    fn what_is_written_over_an_earlier_mark_is_read() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(NAME), [1; 100]).unwrap();
        assert_eq!(Mark::read(directory.path()).unwrap(), Mark::Unreadable);
        let reached = Reached { number: 9, touched: [8, 7, 6] };
        Watermark::open(directory.path()).unwrap().write(reached, false).unwrap();
        assert_eq!(Mark::read(directory.path()).unwrap(), Mark::Read { reached, clean: false });
    }
}
