//! What is looked at, and put right, before the storage engine opens its files.
//!
//! After a crash the journal may end in a batch that was not written to its end: it
//! was never promised to anyone, and is cut off. Anything else that does not read is
//! damage, and the store is not opened: what follows it was promised. The two are
//! told apart by the number of the batch that is missing. If that batch had been
//! synced, by what the watermark or any later batch says, it is damage.

use super::journal::{self, Batch};
use super::stamp::Stamp;
use super::watermark::Mark;
use super::{Fault, manifest};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

const VERSION: &str = "version";
const KEYSPACES: &str = "keyspaces";

/// How the store was left, and what a start made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    pub stop: Stop,
    pub journals: usize,
    /// Batches in the journals, and their bytes.
    pub batches: u64,
    pub bytes: u64,
    /// What was cut off: a batch that was not written to its end.
    pub cut_bytes: u64,
    /// The last batch that is known to have been synced.
    pub(super) promised: u64,
}

/// How the last process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// There was none: the store is new.
    None,
    Clean,
    Crash,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stop::None => "none",
            Stop::Clean => "clean",
            Stop::Crash => "crash",
        })
    }
}

/// Checks the files of the trees and cuts off an unfinished batch.
pub fn recover(trees: &Path, mark: Mark) -> Result<Recovery, Fault> {
    let (promised, clean) = match mark {
        Mark::Read { number, clean } => (number, clean),
        Mark::Absent | Mark::Unreadable => (0, false),
    };
    let stop = if clean { Stop::Clean } else { Stop::Crash };
    let mut recovery = Recovery { stop, journals: 0, batches: 0, bytes: 0, cut_bytes: 0, promised };
    if is_new(trees)? {
        recovery.stop = Stop::None;
        return Ok(recovery);
    }
    manifest::check(&trees.join(KEYSPACES))?;
    let mut last = None;
    let mut paths = journal::all(trees)?;
    let active = paths.pop();
    for (_, path) in &paths {
        // It was synced whole before the next one was begun.
        let end = walk(path, &mut last, &mut recovery)?;
        if end.is_torn() {
            return Err(damaged(path, end.at));
        }
    }
    if let Some((_, path)) = active {
        let end = walk(&path, &mut last, &mut recovery)?;
        finish(&path, &end, last, mark, &mut recovery)?;
    }
    Ok(recovery)
}

/// Where a journal stops to read.
struct End {
    at: usize,
    /// The journal, without the zeros behind what was written.
    bytes: Vec<u8>,
}

impl End {
    /// Whether there is more that does not read.
    fn is_torn(&self) -> bool {
        self.at < self.bytes.len()
    }
}

/// The last batch so far.
#[derive(Clone, Copy)]
struct Last {
    sequence: u64,
    stamp: Option<Stamp>,
}

/// Goes from batch to batch as long as each is sound and follows the one before.
fn walk(path: &Path, last: &mut Option<Last>, recovery: &mut Recovery) -> Result<End, Fault> {
    let mut bytes = journal::read(path)?;
    recovery.journals += 1;
    let mut at = 0;
    while let Some(batch) = journal::batch(&bytes, at).filter(|batch| follows(batch, *last)) {
        recovery.batches += 1;
        recovery.bytes += (batch.end - at) as u64;
        at = batch.end;
        *last = Some(Last { sequence: batch.sequence, stamp: batch.stamp });
    }
    let more = bytes[at..].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(at + more);
    Ok(End { at, bytes })
}

fn follows(batch: &Batch, last: Option<Last>) -> bool {
    let allowed = batch.stamp.is_none_or(|stamp| stamp.allows(batch.sequence));
    let Some(last) = last else { return allowed };
    let next = match (last.stamp, batch.stamp) {
        (Some(last), Some(stamp)) => stamp.number == last.number + 1,
        _ => true,
    };
    allowed && next && batch.sequence > last.sequence
}

/// Decides about the end of the last journal: it is cut where it stops to read, unless
/// a batch is missing that was promised.
fn finish(
    path: &Path,
    end: &End,
    last: Option<Last>,
    mark: Mark,
    recovery: &mut Recovery,
) -> Result<(), Fault> {
    let mut present = last.and_then(|last| last.stamp).map(|stamp| stamp.number);
    for stamp in journal::batches(&end.bytes, end.at).filter_map(|batch| batch.stamp) {
        recovery.promised = recovery.promised.max(stamp.synced);
        // At least the one before it is missing.
        present = present.or(Some(stamp.number.saturating_sub(2)));
    }
    let missing = match mark {
        Mark::Unreadable => end.is_torn(),
        // Without a batch to count from, the trees tell, once they are open.
        _ => present.is_some_and(|number| number < recovery.promised),
    };
    if missing {
        return Err(damaged(path, end.at));
    }
    if end.is_torn() {
        recovery.cut_bytes = (end.bytes.len() - end.at) as u64;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(end.at as u64)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Whether there are no trees yet. What a first start left that did not get as far as
/// to store anything is removed: the storage engine would stumble over it.
fn is_new(trees: &Path) -> Result<bool, Fault> {
    let version = trees.join(VERSION);
    match std::fs::metadata(&version) {
        Ok(file) if file.len() > 0 => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    if !trees.exists() {
        return Ok(true);
    }
    let keyspaces = trees.join(KEYSPACES);
    let mut used = keyspaces.exists() && std::fs::read_dir(keyspaces)?.next().is_some();
    for (_, path) in journal::all(trees)? {
        used |= journal::read(&path)?.iter().any(|byte| *byte != 0);
    }
    if used {
        return Err(Fault::Damage(format!("{} is missing or empty", version.display())));
    }
    std::fs::remove_dir_all(trees)?;
    Ok(true)
}

fn damaged(journal: &Path, at: usize) -> Fault {
    Fault::Damage(format!("{} does not read from byte {at} on", journal.display()))
}
