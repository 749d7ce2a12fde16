//! The frames of fjall's journal, the write-ahead log, read by ourselves.
//!
//! At the first frame that does not read, fjall takes the journal for finished and
//! cuts off the rest, whatever it is. So what it would replay is looked at first. The
//! layout is that of fjall 3.1.13, little-endian throughout; a test holds the two
//! together:
//!
//! ```text
//! batch  start, items, end
//! start  1, count: u32, sequence number: u64
//! item   2, kind: u8, compression: u8, tree: u64, key length: u16, length: u32,
//!        stored length: u32, key, value as stored
//! clear  4, tree: u64
//! end    3, XXH3 of the items' bytes: u64, "FJL" 3
//! ```

use super::stamp::BatchStamp;
use crate::storage::keys;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const EXTENSION: &str = "jnl";
const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const START_BYTES: usize = 1 + 4 + 8;
const MAGIC: &[u8; 4] = b"FJL\x03";
const VALUE: u8 = 0;
const UNCOMPRESSED: u8 = 0;

/// What a batch takes beside its items, and an item beside its key and value.
pub const BATCH_BYTES: usize = START_BYTES + 1 + 8 + MAGIC.len();
pub const ITEM_BYTES: usize = 1 + 1 + 1 + 8 + 2 + 4 + 4;

/// A whole batch that fits its checksum.
#[derive(Debug, PartialEq, Eq)]
pub struct JournalBatch {
    pub sequence: u64,
    pub stamp: Option<BatchStamp>,
    /// Where the next one begins.
    pub end: usize,
}

/// Journals and their numbers, from the oldest to the one that is written to.
pub fn all(trees: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(trees)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|e| e == EXTENSION)) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Where the journal of a number is.
pub fn path(trees: &Path, number: u64) -> PathBuf {
    trees.join(format!("{number}.{EXTENSION}"))
}

/// The bytes of a journal, without the room that is set aside behind them.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = written(&file)?;
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where the last byte ends that was ever written; or the end of the file, where the
/// file system cannot tell.
fn written(file: &File) -> std::io::Result<u64> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let length = file.metadata()?.len();
    let mut end = 0;
    loop {
        let hole =
            seek(file, SeekFrom::Data(end)).and_then(|data| seek(file, SeekFrom::Hole(data)));
        match hole {
            Ok(hole) if hole > end => end = hole,
            Err(Errno::NXIO) => break,
            _ => {
                end = length;
                break;
            }
        }
    }
    seek(file, SeekFrom::Start(0))?;
    Ok(end.min(length))
}

/// The sound batch that begins here, if there is one.
pub fn batch(bytes: &[u8], at: usize) -> Option<JournalBatch> {
    let mut reader = Reader { bytes, at };
    if reader.byte()? != START {
        return None;
    }
    let (count, sequence) = (reader.u32()?, reader.u64()?);
    let items = reader.at;
    let mut stamp = None;
    for _ in 0..count {
        match reader.byte()? {
            ITEM => stamp = reader.item()?.or(stamp),
            CLEAR => reader.skip(8)?,
            _ => return None,
        }
    }
    let sum = xxh3_64(bytes.get(items..reader.at)?);
    let sound = reader.byte()? == END && reader.u64()? == sum && reader.take(4)? == MAGIC;
    sound.then_some(JournalBatch { sequence, stamp, end: reader.at })
}

/// Every sound batch from here on, whatever stands between them.
pub fn batches(bytes: &[u8], mut at: usize) -> impl Iterator<Item = JournalBatch> {
    std::iter::from_fn(move || {
        while at + START_BYTES < bytes.len() {
            // Most places are told by these two bytes alone.
            if bytes[at] == START
                && matches!(bytes[at + START_BYTES], ITEM | CLEAR)
                && let Some(batch) = batch(bytes, at)
            {
                at = batch.end;
                return Some(batch);
            }
            at += 1;
        }
        None
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The rest of an item; its stamp, if that is what it holds.
    fn item(&mut self) -> Option<Option<BatchStamp>> {
        let (kind, compression) = (self.byte()?, self.byte()?);
        self.skip(8)?;
        let key_bytes = usize::from(u16::from_le_bytes(*self.take(2)?.first_chunk()?));
        self.skip(4)?;
        let stored_bytes = self.u32()? as usize;
        let (key, value) = (self.take(key_bytes)?, self.take(stored_bytes)?);
        let stamped = kind == VALUE && compression == UNCOMPRESSED && keys::is_stamp(key);
        Some(if stamped { BatchStamp::read(value) } else { None })
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(|_| ())
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(*self.take(8)?.first_chunk()?))
    }
}
