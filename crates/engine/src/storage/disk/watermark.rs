//! How far the store has been synced, in a file of its own.
//!
//! ```text
//! 0   number  u64   the last batch that was synced
//! 8   clean   u64   1 if the store was closed in good order, else 0
//! 16  check   u64   XXH3 of the bytes before
//! ```
//!
//! It is overwritten after each sync and not synced itself: it survives the process,
//! and after a power loss it is behind at worst, never ahead.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const NAME: &str = "SYNCED";
const BYTES: usize = 24;

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// There is none.
    Absent,
    Read {
        number: u64,
        clean: bool,
    },
    /// It is there and does not fit its check.
    Unreadable,
}

pub struct Watermark {
    file: File,
}

impl Watermark {
    pub fn open(directory: &Path) -> Result<(Watermark, Mark)> {
        let path = directory.join(NAME);
        let mark = match std::fs::read(&path) {
            Ok(bytes) => read(&bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Mark::Absent,
            Err(error) => return Err(error),
        };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        Ok((Watermark { file }, mark))
    }

    pub fn write(&self, number: u64, clean: bool) -> Result<()> {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        bytes[8..16].copy_from_slice(&u64::from(clean).to_be_bytes());
        let check = xxh3_64(&bytes[..16]);
        bytes[16..].copy_from_slice(&check.to_be_bytes());
        self.file.write_all_at(&bytes, 0)
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync_all()
    }
}

fn read(bytes: &[u8]) -> Mark {
    // It was made and the process ended before it was written.
    if bytes.is_empty() {
        return Mark::Absent;
    }
    let number = |at: usize| Some(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    match (number(0), number(8), number(16)) {
        (Some(synced), Some(clean), Some(check))
            if bytes.len() == BYTES && check == xxh3_64(&bytes[..16]) =>
        {
            Mark::Read { number: synced, clean: clean == 1 }
        }
        _ => Mark::Unreadable,
    }
}
