//! How far the store has been synced, in two files of the same content: one that is lost, or
//! taken from an older copy, is contradicted by the other.
//!
//! ```text
//! 0   number  u64      the last batch that was synced
//! 8   clean   u64      1 if the store was closed in good order, else 0
//! 16  touched 3 × u64  for every tree, the floor of the last batch up to then that
//!                      changed it, or 0 where that is not known, see `stamp`
//! 40  start   u64      the number of the start that wrote it
//! 48  check   u64      XXH3 of the bytes before
//! ```
//!
//! Stores of earlier formats have no `start`, and those before them no `touched`.
//!
//! They are overwritten after each sync and not synced themselves: they survive the process,
//! and after a power loss they are behind at worst, never ahead.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

pub const NAMES: [&str; 2] = ["SYNCED", "SYNCED.2"];
const BYTES: usize = 56;
const EARLIER_BYTES: [usize; 2] = [24, 48];

/// How far batches have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reached {
    pub number: u64,
    /// For every tree, the floor of the last batch that changed it.
    pub touched: [u64; 3],
}

/// What a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredMark {
    /// There is none, or nothing in it.
    Absent,
    Read(Marked),
    /// It is there and does not fit its check.
    Unreadable,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marked {
    pub reached: Reached,
    /// Whether the store was closed in good order.
    pub clean: bool,
    /// Starts of the store are numbered.
    pub start: u64,
}

impl StoredMark {
    pub fn read(directory: &Path) -> Result<[StoredMark; 2]> {
        let [one, other] = NAMES.map(|name| match std::fs::read(directory.join(name)) {
            Ok(bytes) => Ok(parse(&bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(StoredMark::Absent),
            Err(error) => Err(error),
        });
        Ok([one?, other?])
    }

    /// What two files say together: the one that is ahead is right.
    pub fn join(self, other: StoredMark) -> StoredMark {
        let (one, two) = match (self, other) {
            (StoredMark::Read(one), StoredMark::Read(two)) => (one, two),
            (StoredMark::Read(_), _) | (StoredMark::Unreadable, StoredMark::Absent) => return self,
            _ => return other,
        };
        let ahead = if one.reached.number > two.reached.number { one } else { two };
        let clean = match one.reached.number == two.reached.number {
            true => one.clean && two.clean,
            false => ahead.clean,
        };
        StoredMark::Read(Marked { clean, start: one.start.max(two.start), ..ahead })
    }

    /// What is known.
    pub fn known(self) -> Marked {
        match self {
            StoredMark::Read(marked) => marked,
            StoredMark::Absent | StoredMark::Unreadable => Marked::default(),
        }
    }
}

pub struct Watermark {
    files: [File; 2],
    start: u64,
}

impl Watermark {
    /// To be written by the start of this number.
    pub fn open(directory: &Path, start: u64) -> Result<Watermark> {
        let [one, other] = NAMES.map(|name| {
            let path = directory.join(name);
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            // What is longer was not written by us.
            if file.metadata()?.len() > BYTES as u64 {
                file.set_len(BYTES as u64)?;
            }
            Ok::<File, std::io::Error>(file)
        });
        Ok(Watermark { files: [one?, other?], start })
    }

    pub fn write(&self, reached: Reached, clean: bool) -> Result<()> {
        let [records, entries, large] = reached.touched;
        let numbers = [reached.number, u64::from(clean), records, entries, large, self.start];
        let mut bytes = [0; BYTES];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        let check = xxh3_64(&bytes[..BYTES - 8]);
        bytes[BYTES - 8..].copy_from_slice(&check.to_be_bytes());
        self.files.iter().try_for_each(|file| file.write_all_at(&bytes, 0))
    }

    pub fn sync(&self) -> Result<()> {
        self.files.iter().try_for_each(File::sync_all)
    }
}

fn parse(bytes: &[u8]) -> StoredMark {
    // It was made and the process ended before it was written.
    if bytes.is_empty() {
        return StoredMark::Absent;
    }
    let Some((before, check)) = bytes.split_last_chunk() else { return StoredMark::Unreadable };
    let is_known = bytes.len() == BYTES || EARLIER_BYTES.contains(&bytes.len());
    if !is_known || u64::from_be_bytes(*check) != xxh3_64(before) {
        return StoredMark::Unreadable;
    }
    let number = |at: usize| {
        let bytes = before.get(at * 8..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
    };
    let touched = [number(2), number(3), number(4)];
    let reached = Reached { number: number(0), touched };
    StoredMark::Read(Marked { reached, clean: number(1) == 1, start: number(5) })
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
        assert_eq!(parse(&bytes), StoredMark::Read(Marked { reached, clean: true, start: 0 }));
        assert_eq!(parse(&bytes[..23]), StoredMark::Unreadable);
    }

    #[test]
    fn what_is_written_over_an_earlier_mark_is_read() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(NAMES[0]), [1; 100]).unwrap();
        assert_eq!(
            StoredMark::read(directory.path()).unwrap(),
            [StoredMark::Unreadable, StoredMark::Absent]
        );
        let reached = Reached { number: 9, touched: [8, 7, 6] };
        Watermark::open(directory.path(), 3).unwrap().write(reached, false).unwrap();
        let written = StoredMark::Read(Marked { reached, clean: false, start: 3 });
        assert_eq!(StoredMark::read(directory.path()).unwrap(), [written; 2]);
    }

    #[test]
    fn the_mark_that_is_ahead_is_right() {
        let mark = |number, clean| {
            let reached = Reached { number, touched: [0; 3] };
            StoredMark::Read(Marked { reached, clean, start: 1 })
        };
        for (one, other, both) in [
            (mark(7, true), mark(9, false), mark(9, false)),
            (mark(7, false), mark(9, true), mark(9, true)),
            (mark(9, true), mark(9, false), mark(9, false)),
            (mark(9, true), mark(9, true), mark(9, true)),
            (mark(9, true), StoredMark::Absent, mark(9, true)),
            (mark(9, true), StoredMark::Unreadable, mark(9, true)),
            (StoredMark::Absent, StoredMark::Unreadable, StoredMark::Unreadable),
            (StoredMark::Absent, StoredMark::Absent, StoredMark::Absent),
        ] {
            assert_eq!(one.join(other), both);
            assert_eq!(other.join(one), both);
        }
    }
}
