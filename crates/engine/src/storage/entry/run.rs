//! Long keys that begin alike, put in order.
//!
//! The tree has them by their hashes. All of the run is read, and as many of its next entries
//! as fit in [`RUN_BYTES_MAX`] are kept and handed on in order; where there are more, the run is
//! read again for those that come after. So memory is bounded whatever the run's length, and
//! a run that fits, as nearly all do, is read once.

use super::entries::Limits;
use super::{Entry, HASH_BYTES, RECORD_BYTES, WHOLE_KEY_BYTES_MAX, shared};
use crate::storage::failed;
use crate::storage::trees::{Failure, Tree, TreeSnapshot};
use budget::{Held, Kind};
use error::Result;
use fjall::Slice;
use language::interrupt;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Bound;

/// What the entries of a run may take that are kept at once; one is kept whatever its size.
const RUN_BYTES_MAX: usize = 32 * 1024 * 1024;

type Pair = (Slice, Slice);

pub(super) struct EntryRun {
    /// How the tree's keys of the run begin.
    shared: Slice,
    bare: bool,
    backward: bool,
    /// The next entries, the first of all last.
    next: Vec<Ranked>,
    /// The last entry that was handed on, where there are more than are kept.
    last: Option<Ranked>,
    /// Whether there are more than are kept.
    more: bool,
    /// What comes behind the run in the tree.
    after: Option<Pair>,
    memory: Held,
}

/// An entry in the order of the scan.
#[derive(Clone)]
struct Ranked {
    entry: Entry,
    backward: bool,
}

impl EntryRun {
    /// That of a long key.
    pub fn new(key: &[u8], bare: bool, backward: bool) -> EntryRun {
        EntryRun {
            shared: shared(key).into(),
            bare,
            backward,
            next: Vec::new(),
            last: None,
            more: false,
            after: None,
            memory: Held::new(Kind::Work),
        }
    }

    /// The next entry; it is looked for in the tree again where not all have been kept.
    pub fn next(
        &mut self,
        snapshot: &dyn TreeSnapshot,
        limits: Option<&Limits>,
    ) -> Result<Option<Entry>> {
        if self.next.is_empty() && self.more {
            let mut pairs = snapshot.range(Tree::Entries, self.range());
            self.fill(None, &mut pairs, limits)?;
        }
        let Some(found) = self.next.pop() else { return Ok(None) };
        if self.next.is_empty() && self.more {
            self.last = Some(found.clone());
        }
        Ok(Some(found.entry))
    }

    /// What comes behind the run, for when it is through.
    pub fn into_after(self) -> Option<Pair> {
        self.after
    }

    /// Reads the run and keeps its next entries.
    pub fn fill(
        &mut self,
        first: Option<Pair>,
        pairs: &mut dyn Iterator<Item = Result<Pair, Failure>>,
        limits: Option<&Limits>,
    ) -> Result<()> {
        let mut kept = Kept { heap: BinaryHeap::new(), bytes: 0, dropped: false };
        for pair in first.map(Ok).into_iter().chain(pairs) {
            let (key, value) = match pair {
                Ok(pair) => pair,
                Err(error) => return Err(failed(error)),
            };
            if !key.starts_with(&self.shared) {
                self.after = Some((key, value));
                break;
            }
            interrupt::check_sized(key.len() + value.len())?;
            let entry = Entry::read(key, value, self.bare)?;
            if limits.is_some_and(|limits| !limits.contain(entry.key())) {
                continue;
            }
            let ranked = Ranked { entry, backward: self.backward };
            if self.last.as_ref().is_none_or(|last| ranked > *last) {
                kept.add(ranked, &mut self.memory)?;
            }
        }
        self.more = kept.dropped;
        self.next = kept.heap.into_sorted_vec();
        self.next.reverse();
        Ok(())
    }

    fn range(&self) -> (Bound<Slice>, Bound<Slice>) {
        let mut end = self.shared.to_vec();
        end.resize(end.len() + HASH_BYTES + RECORD_BYTES, 0xFF);
        (Bound::Included(self.shared.clone()), Bound::Included(end.into()))
    }
}

/// The first entries of those that have come.
struct Kept {
    /// The last on top, to go where there is no room.
    heap: BinaryHeap<Ranked>,
    bytes: usize,
    dropped: bool,
}

impl Kept {
    fn add(&mut self, ranked: Ranked, memory: &mut Held) -> Result<()> {
        self.bytes += ranked.entry.size_bytes();
        self.heap.push(ranked);
        while self.heap.len() > 1
            && (self.bytes > RUN_BYTES_MAX || memory.resize(self.bytes).is_err())
            && let Some(last) = self.heap.pop()
        {
            self.bytes -= last.entry.size_bytes();
            self.dropped = true;
        }
        memory.resize(self.bytes)
    }
}

impl Ranked {
    /// What tells the keys of a run apart.
    fn order(&self) -> (&[u8], u64) {
        let rest = self.entry.key().get(WHOLE_KEY_BYTES_MAX..).unwrap_or_default();
        (rest, self.entry.record.0)
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        let order = self.order().cmp(&other.order());
        if self.backward { order.reverse() } else { order }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
