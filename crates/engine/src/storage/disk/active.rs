//! The journal that is written to, opened once more to be synced.
//!
//! The storage engine holds a lock through a sync of its journal, for which every
//! commit would wait. So it only hands the journal to the operating system, and the
//! sync goes past that lock. Before a journal is begun, the one before it is synced
//! whole: nothing but the newest can hold what is not synced.

use super::journal;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

pub struct ActiveJournal {
    trees: PathBuf,
    /// The newest that is known. It stays open: a failure to write is told once to
    /// each who has the file open.
    newest: Mutex<Journal>,
}

struct Journal {
    number: u64,
    file: File,
}

impl ActiveJournal {
    pub fn open(trees: &Path) -> Result<ActiveJournal> {
        let Some((number, path)) = journal::all(trees)?.pop() else {
            return Err(std::io::Error::new(ErrorKind::NotFound, "there is no journal"));
        };
        let newest = Journal { number, file: File::open(path)? };
        Ok(ActiveJournal { trees: trees.to_owned(), newest: Mutex::new(newest) })
    }

    /// Syncs what has been handed to the operating system; `None` if the newest journal
    /// cannot be opened, as when too many files are.
    pub fn sync(&self) -> Option<Result<()>> {
        let mut newest = self.newest.lock();
        loop {
            let number = newest.number + 1;
            let path = journal::path(&self.trees, number);
            // Asked first, since that takes no descriptor.
            if matches!(path.try_exists(), Ok(false)) {
                return Some(newest.file.sync_data());
            }
            *newest = Journal { number, file: File::open(path).ok()? };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_journal_is_the_one_that_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let begin = |number| File::create_new(journal::path(directory.path(), number)).unwrap();
        begin(8);
        begin(9);
        let journal = ActiveJournal::open(directory.path()).unwrap();
        journal.sync().unwrap().unwrap();
        assert_eq!(journal.newest.lock().number, 9);
        begin(10);
        begin(11);
        // Journals whose batches are in the trees are deleted.
        std::fs::remove_file(journal::path(directory.path(), 9)).unwrap();
        journal.sync().unwrap().unwrap();
        assert_eq!(journal.newest.lock().number, 11);
        // There is one that does not open.
        let path = journal::path(directory.path(), 12);
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert!(journal.sync().is_none());
        std::fs::remove_file(path).unwrap();
        journal.sync().unwrap().unwrap();
    }
}
