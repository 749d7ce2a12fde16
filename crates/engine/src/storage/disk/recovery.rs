//! What is looked at, and put right, before the storage engine opens its files.
//!
//! Nothing is changed before everything has been looked at: which files there must be, whether
//! they are the ones that were written (`inventory`), and whether every batch that was
//! promised is in the tables or in a journal.
//!
//! After a crash the journal may end in a batch that was not written to its end: it
//! was never promised to anyone, and is cut off. Anything else that does not read is
//! damage, and the store is not opened: what follows it was promised. The two are
//! distinguished by the number of the batch that is missing. If that batch had been
//! synced, by what the watermarks, the inventory or any later batch say, it is damage.

use super::inventory::{self, Inventory};
use super::journal::{self, JournalBatch};
use super::stamp::BatchStamp;
use super::watermark::{self, Reached, StoredMark};
use super::{Fault, manifest};
use crate::storage::trees::Tree;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const VERSION: &str = "version";
const VERSION_BYTES: u64 = 4;
const LOCK: &str = "lock";
pub const TREES: &str = "trees";
pub const KEYSPACES: &str = "keyspaces";

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

/// What a store says about itself beside its trees, by its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Books {
    /// A watermark.
    Mark,
    /// An inventory beside it, unless that was lost: a file that it does not name is read whole.
    Inventory,
    /// Both, and the watermark twice. No trees are made without them, so none are opened.
    Required,
}

/// What is known of a store before it is looked at.
pub struct Known {
    pub books: Books,
    pub marks: [StoredMark; 2],
    pub inventory: Option<Inventory>,
}

impl Known {
    pub fn read(directory: &Path, books: Books) -> std::io::Result<Known> {
        let (marks, inventory) = (StoredMark::read(directory)?, Inventory::read(directory)?);
        Ok(Known { books, marks, inventory })
    }

    pub fn mark(&self) -> StoredMark {
        self.marks[0].join(self.marks[1])
    }

    /// How far the store is known to have been synced.
    fn reached(&self) -> Reached {
        let noted = self.inventory.as_ref().map(|noted| noted.synced).unwrap_or_default();
        let marked = self.mark().known().reached;
        if noted.number > marked.number { noted } else { marked }
    }

    /// The number of the last start.
    pub fn start(&self) -> u64 {
        self.mark().known().start
    }

    fn names_trees(&self) -> bool {
        self.inventory.as_ref().is_some_and(Inventory::names_trees)
    }

    /// Refuses trees without what was written before they were made.
    fn check(&self, directory: &Path) -> Result<(), Fault> {
        if self.books < Books::Required {
            return Ok(());
        }
        let absent = |name: &str| {
            Fault::Damage(format!("{} is missing or empty", directory.join(name).display()))
        };
        let unreadable =
            |name: &str| Fault::Damage(format!("{} does not read", directory.join(name).display()));
        for (name, mark) in watermark::NAMES.into_iter().zip(self.marks) {
            if mark == StoredMark::Absent {
                return Err(absent(name));
            }
        }
        if self.mark() == StoredMark::Unreadable {
            return Err(unreadable(watermark::NAMES[0]));
        }
        match &self.inventory {
            Some(noted) if noted.start > self.start() => Err(Fault::Damage(format!(
                "{} is from an older copy",
                directory.join(watermark::NAMES[0]).display()
            ))),
            Some(_) => Ok(()),
            None if directory.join(inventory::NAME).exists() => Err(unreadable(inventory::NAME)),
            None => Err(absent(inventory::NAME)),
        }
    }
}

/// What a look has found, and is to be put right.
#[derive(Debug)]
pub struct RecoveryPlan {
    pub recovery: Recovery,
    pub inventory: Inventory,
    /// An unfinished batch begins here.
    cut: Option<(PathBuf, u64)>,
    /// A first start did not get as far as to store anything.
    unfinished: Option<PathBuf>,
    lock: PathBuf,
}

impl RecoveryPlan {
    /// Cuts off an unfinished batch, and takes away or makes what the storage engine would
    /// stumble over.
    pub fn put_right(&self) -> Result<(), Fault> {
        if let Some(trees) = &self.unfinished {
            std::fs::remove_dir_all(trees)?;
            return Ok(());
        }
        if let Some((journal, at)) = &self.cut {
            let file = OpenOptions::new().write(true).open(journal)?;
            file.set_len(*at)?;
            file.sync_all()?;
        }
        // It holds nothing. Where there are no trees there is none.
        let made = OpenOptions::new().write(true).create(true).truncate(false).open(&self.lock);
        match made {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Looks at the files of a store's trees, and changes nothing.
pub fn look(directory: &Path, known: &Known) -> Result<RecoveryPlan, Fault> {
    let trees = &directory.join(TREES);
    let promised = known.reached().number;
    let stop = match known.mark() {
        StoredMark::Read(marked) if marked.clean => Stop::Clean,
        _ => Stop::Crash,
    };
    let recovery = Recovery { stop, journals: 0, batches: 0, bytes: 0, cut_bytes: 0, promised };
    let lock = trees.join(LOCK);
    let inventory = Inventory::default();
    let mut found = RecoveryPlan { recovery, inventory, cut: None, unfinished: None, lock };
    if is_new(trees, &mut found)? {
        if promised > 0 || known.names_trees() {
            return Err(Fault::missing(trees));
        }
        found.recovery.stop = Stop::None;
        return Ok(found);
    }
    known.check(directory)?;
    let whole = known.books >= Books::Inventory;
    found.inventory = Inventory::take(&trees.join(KEYSPACES), known.inventory.as_ref(), whole)?;
    look_at_journals(trees, known, &mut found)?;
    // An inventory names the trees before the first batch.
    let is_used = promised > 0 || found.recovery.batches > 0;
    if is_used && known.books == Books::Required && !known.names_trees() {
        let path = directory.join(inventory::NAME);
        return Err(Fault::Damage(format!("{} is from an older copy", path.display())));
    }
    Ok(found)
}

fn look_at_journals(trees: &Path, known: &Known, found: &mut RecoveryPlan) -> Result<(), Fault> {
    let recovery = &mut found.recovery;
    let mut last = None;
    let mut first = None;
    let mut paths = journal::all(trees)?;
    for (one, next) in paths.iter().zip(paths.iter().skip(1)) {
        if one.0 + 1 != next.0 {
            return Err(Fault::missing(&journal::path(trees, one.0 + 1)));
        }
    }
    let oldest = paths.first().map(|(number, _)| *number);
    let Some((_, active)) = paths.pop() else {
        return Err(Fault::Damage(format!("{} has no journal", trees.display())));
    };
    for (_, path) in &paths {
        // It was synced whole before the next one was begun.
        let end = walk(path, &mut last, recovery)?;
        first = first.or(end.first);
        if end.is_torn() {
            return Err(damaged(path, end.at));
        }
    }
    let end = walk(&active, &mut last, recovery)?;
    first = first.or(end.first);
    let last_sequence = last.map(|last| last.sequence);
    found.cut = finish(&active, &end, last, known.mark(), recovery)?;
    // Where a journal begins, the tables hold what came before it.
    let needed = first.map_or(known.reached().touched, |stamp| stamp.previous);
    for tree in Tree::ALL {
        let last = found.inventory.last(tree);
        if last.is_some_and(|last| last < needed[tree as usize]) {
            return Err(Fault::Damage(format!(
                "{} begins too late, or tables of the {} are missing: what was written before it \
                 is in neither",
                journal::path(trees, oldest.unwrap_or(0)).display(),
                tree.name()
            )));
        }
    }
    // What is in a table was synced in a journal before. Earlier formats did not make sure.
    for tree in Tree::ALL.into_iter().filter(|_| known.books == Books::Required) {
        let newest = found.inventory.last(tree).unwrap_or(0);
        if last_sequence.is_some_and(|last| last < newest) {
            return Err(Fault::Damage(format!(
                "{} is from an older copy: tables of the {} hold what was written after it",
                active.display(),
                tree.name()
            )));
        }
    }
    Ok(())
}

/// Where a journal stops to read.
struct End {
    /// The stamp that it begins with.
    first: Option<BatchStamp>,
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
    stamp: Option<BatchStamp>,
}

/// Goes from batch to batch as long as each is sound and follows the one before.
fn walk(path: &Path, last: &mut Option<Last>, recovery: &mut Recovery) -> Result<End, Fault> {
    let mut bytes = journal::read(path)?;
    recovery.journals += 1;
    let mut at = 0;
    let mut first = None;
    while let Some(batch) = journal::batch(&bytes, at).filter(|batch| follows(batch, *last)) {
        recovery.batches += 1;
        recovery.bytes += (batch.end - at) as u64;
        at = batch.end;
        first = first.or(batch.stamp);
        *last = Some(Last { sequence: batch.sequence, stamp: batch.stamp });
    }
    let more = bytes[at..].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(at + more);
    Ok(End { first, at, bytes })
}

fn follows(batch: &JournalBatch, last: Option<Last>) -> bool {
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
    mark: StoredMark,
    recovery: &mut Recovery,
) -> Result<Option<(PathBuf, u64)>, Fault> {
    let mut present = last.and_then(|last| last.stamp).map(|stamp| stamp.number);
    for stamp in journal::batches(&end.bytes, end.at).filter_map(|batch| batch.stamp) {
        recovery.promised = recovery.promised.max(stamp.synced);
        // At least the one before it is missing.
        present = present.or(Some(stamp.number.saturating_sub(2)));
    }
    let missing = match mark {
        StoredMark::Absent | StoredMark::Unreadable => end.is_torn(),
        // Without a batch to count from, the tables tell.
        StoredMark::Read(_) => present.is_some_and(|number| number < recovery.promised),
    };
    if missing {
        return Err(damaged(path, end.at));
    }
    if !end.is_torn() {
        return Ok(None);
    }
    recovery.cut_bytes = (end.bytes.len() - end.at) as u64;
    Ok(Some((path.to_owned(), end.at as u64)))
}

/// Whether there are no trees yet. What a first start left that did not get as far as
/// to store anything is to be removed: the storage engine would stumble over it.
fn is_new(trees: &Path, found: &mut RecoveryPlan) -> Result<bool, Fault> {
    let version = trees.join(VERSION);
    match std::fs::metadata(&version) {
        Ok(file) if file.len() == VERSION_BYTES => return Ok(false),
        Ok(file) if file.len() > 0 => {
            return Err(Fault::Damage(format!("{} has another length", version.display())));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    if !trees.exists() {
        return Ok(true);
    }
    let mut used = !manifest::trees(&trees.join(KEYSPACES))?.is_empty();
    for (_, path) in journal::all(trees)? {
        used |= journal::read(&path)?.iter().any(|byte| *byte != 0);
    }
    if used {
        return Err(Fault::Damage(format!("{} is missing or empty", version.display())));
    }
    found.unfinished = Some(trees.to_owned());
    Ok(true)
}

fn damaged(journal: &Path, at: usize) -> Fault {
    Fault::Damage(format!("{} does not read from byte {at} on", journal.display()))
}
