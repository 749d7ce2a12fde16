//! A copy of a store in another directory, made while the store is in use.
//!
//! The copy is what one snapshot shows, written through the same trees. Its marker
//! comes last: a directory without one is no store and is not opened.

use super::disk::{Books, Disk};
use super::store::write_marker;
use super::trees::{TreeChange, TreeSnapshot, Trees};
use super::{Space, Store, Tree, failed, keys, private};
use error::{Code, Error, Result};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

/// What is written at once.
const BATCH_KEYS_MAX: usize = 1_024;
const BATCH_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Says to people what a directory without a marker is.
pub(super) const UNFINISHED: &str = "UNFINISHED-BACKUP";

impl Store {
    /// Copies everything applied so far, and says how many bytes that were. After
    /// each batch `advance` hears of its size and may put an end to it; then, or
    /// after a failure, nothing of the copy is left.
    pub fn copy_to(
        &self,
        directory: &Path,
        mut advance: impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let made = claim(directory)?;
        let snapshot = self.view();
        let reserve_bytes = self.space().reserve_bytes();
        let copied = copy(snapshot.snapshot(), directory, reserve_bytes, &mut advance);
        if copied.is_err() {
            clear(directory, made);
        }
        copied
    }
}

/// Makes sure that the directory is there and empty; true if it was not there.
fn claim(directory: &Path) -> Result<bool> {
    let shown = directory.display();
    let made = !directory.exists();
    private::create(directory).map_err(|error| broken(directory, &error))?;
    let mut entries = std::fs::read_dir(directory).map_err(|error| broken(directory, &error))?;
    if entries.next().is_some() {
        return Err(Code::BadValue.error(format!(
            "{shown} is not empty; choose a directory for the backup that is empty or not there"
        )));
    }
    let note = "A backup is being written here, or was cut off: this is no whole store.\n";
    let noted = std::fs::write(directory.join(UNFINISHED), note);
    noted.map_err(|error| broken(directory, &error))?;
    Ok(made)
}

fn copy(
    snapshot: &dyn TreeSnapshot,
    directory: &Path,
    reserve_bytes: u64,
    advance: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<u64> {
    let disk = Disk::open(directory, Books::Required).map_err(|fault| broken(directory, &fault))?;
    let disk = Arc::new(disk);
    // The copy leaves room where it is written, as the store does.
    let space = Space::new(disk.clone());
    space.set_reserve(reserve_bytes);
    let mut total = 0;
    for tree in Tree::ALL {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for pair in snapshot.range(tree, (Bound::Unbounded, Bound::Unbounded)) {
            let (key, value) = pair.map_err(failed)?;
            // The copy stamps its own batches.
            if keys::is_stamp(&key) {
                continue;
            }
            bytes += (key.len() + value.len()) as u64;
            batch.push(TreeChange { tree, key, value: Some(value) });
            if batch.len() >= BATCH_KEYS_MAX || bytes >= BATCH_BYTES_MAX {
                space.check()?;
                disk.apply(std::mem::take(&mut batch)).map_err(failed)?;
                total += bytes;
                advance(std::mem::take(&mut bytes))?;
            }
        }
        disk.apply(batch).map_err(failed)?;
        total += bytes;
        advance(bytes)?;
    }
    disk.flush(None).map_err(failed)?;
    drop((space, disk));
    finish(directory).map_err(|error| broken(directory, &error))?;
    Ok(total)
}

/// Makes the directory a store.
fn finish(directory: &Path) -> std::io::Result<()> {
    std::fs::remove_file(directory.join(UNFINISHED))?;
    write_marker(directory)?;
    private::tighten(directory)?;
    match directory.parent() {
        Some(parent) => std::fs::File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Takes away what was written: the directory was empty before.
fn clear(directory: &Path, made: bool) {
    let cleared = (|| {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => std::fs::remove_dir_all(entry.path())?,
                false => std::fs::remove_file(entry.path())?,
            }
        }
        if made { std::fs::remove_dir(directory) } else { Ok(()) }
    })();
    if let Err(error) = cleared {
        let directory = directory.display();
        tracing::warn!(%directory, %error, "an unfinished backup stays behind");
    }
}

fn broken(directory: &Path, why: &dyn std::fmt::Display) -> Error {
    Code::OperationFailed.error(format!("cannot write to {}: {why}", directory.display()))
}
