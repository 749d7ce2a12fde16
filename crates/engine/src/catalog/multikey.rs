//! Where an index has met arrays.

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The array paths below a wildcard that are known one by one, and how long one may be. They
/// stay in memory as long as their index is there.
pub const ARRAY_PATHS_MAX: usize = 100;
pub const ARRAY_PATH_BYTES_MAX: usize = 128;

/// Which components of the index's paths have met an array: `index::multikey` says which bit is
/// whose. Below a wildcard it is the paths themselves, as long as there are few. Both are known
/// before the entries that need them become visible, and never forgotten.
#[derive(Debug, Default)]
pub struct Multikey {
    seen: AtomicU64,
    /// The bits that a commit has stored.
    stored: AtomicU64,
    /// The array paths below a wildcard, and whether a commit has stored them.
    paths: RwLock<FxHashMap<Box<str>, bool>>,
}

/// Where a document has arrays, as far as an index looks at it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ArrayPlaces {
    pub bits: u64,
    /// Below a wildcard.
    pub paths: Vec<Box<str>>,
    /// The bit that stands for all paths below the wildcard.
    pub anywhere: u64,
}

impl ArrayPlaces {
    pub fn is_empty(&self) -> bool {
        self.bits == 0 && self.paths.is_empty()
    }
}

impl Multikey {
    /// With what the store holds.
    pub fn new(bits: u64, paths: impl IntoIterator<Item = Box<str>>) -> Multikey {
        Multikey {
            seen: AtomicU64::new(bits),
            stored: AtomicU64::new(bits),
            paths: RwLock::new(paths.into_iter().map(|path| (path, true)).collect()),
        }
    }

    pub fn bits(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    pub fn any(&self) -> bool {
        self.bits() != 0 || !self.paths.read().is_empty()
    }

    /// Whether arrays were met at a path below a wildcard.
    pub fn met_at(&self, path: &str) -> bool {
        self.paths.read().contains_key(path)
    }

    pub fn paths(&self) -> Vec<Box<str>> {
        self.paths.read().keys().cloned().collect()
    }

    /// Makes arrays known. Answers with those that no commit has stored yet.
    pub fn set(&self, arrays: &ArrayPlaces) -> ArrayPlaces {
        let mut bits = arrays.bits;
        let mut unstored = self.unstored(arrays);
        if !unstored.is_empty() && !self.add(&unstored) {
            unstored.clear();
            bits |= arrays.anywhere;
        }
        if self.bits() & bits != bits {
            self.seen.fetch_or(bits, Ordering::AcqRel);
        }
        let bits = bits & !self.stored.load(Ordering::Acquire);
        ArrayPlaces { bits, paths: unstored, anywhere: arrays.anywhere }
    }

    fn unstored(&self, arrays: &ArrayPlaces) -> Vec<Box<str>> {
        if arrays.paths.is_empty() {
            return Vec::new();
        }
        let known = self.paths.read();
        let missing = arrays.paths.iter().filter(|path| known.get(*path) != Some(&true));
        missing.cloned().collect()
    }

    /// False if there would be too many.
    fn add(&self, paths: &[Box<str>]) -> bool {
        let mut known = self.paths.write();
        let new = paths.iter().filter(|path| !known.contains_key(*path)).count();
        if known.len() + new > ARRAY_PATHS_MAX {
            return false;
        }
        for path in paths {
            known.entry(path.clone()).or_insert(false);
        }
        true
    }

    /// Marks arrays as stored, in the order of commits.
    pub fn store(&self, arrays: &ArrayPlaces) {
        self.stored.fetch_or(arrays.bits, Ordering::AcqRel);
        if !arrays.paths.is_empty() {
            let mut known = self.paths.write();
            known.extend(arrays.paths.iter().map(|path| (path.clone(), true)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays(paths: impl Iterator<Item = usize>) -> ArrayPlaces {
        let paths = paths.map(|number| format!("p{number}").into()).collect();
        ArrayPlaces { bits: 0, paths, anywhere: 2 }
    }

    #[test]
    fn many_paths_become_one_bit() {
        let index = Multikey::default();
        let few = index.set(&arrays(0..3));
        assert_eq!((few.bits, few.paths.len()), (0, 3));
        assert!(index.met_at("p1") && !index.met_at("p3"));
        // What is not stored yet is stored by the first commit.
        assert_eq!(index.set(&arrays(0..3)).paths.len(), 3);
        index.store(&few);
        assert!(index.set(&arrays(0..3)).is_empty());
        let many = index.set(&arrays(1..ARRAY_PATHS_MAX + 1));
        assert_eq!((many.bits, many.paths.len(), index.bits()), (2, 0, 2));
        assert_eq!(index.paths().len(), 3);
    }
}
