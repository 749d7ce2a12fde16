//! The entries of an index within bounds, in the order of their whole keys.

use super::run::EntryRun;
use super::{Entry, HASH_BYTES, INDEX_BYTES, RECORD_BYTES, WHOLE_KEY_BYTES_MAX, is_long, place};
use crate::storage::trees::{Failure, Pairs, Tree, TreeSnapshot};
use crate::storage::view::is_empty;
use crate::storage::{IndexId, RecordId, failed};
use error::Result;
use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;

/// Forward, unless [`Entries::backward`] says otherwise.
pub struct Entries {
    pairs: Pairs,
    bare: bool,
    backward: bool,
    /// Where the pairs have come to long keys that begin alike.
    run: Option<Box<EntryRun>>,
    /// Bounds that the tree's keys cannot tell.
    limits: Option<Box<Limits>>,
    snapshot: Arc<dyn TreeSnapshot>,
}

/// Bounds that are longer than what the tree's keys hold of a key; an empty one is none.
#[derive(Debug, Default)]
pub(super) struct Limits {
    low: Vec<u8>,
    high: Vec<u8>,
}

impl Limits {
    /// Those of one key: nothing comes between it and the same with a zero byte behind.
    fn of(key: &[u8]) -> Limits {
        Limits { low: key.to_vec(), high: [key, &[0]].concat() }
    }

    pub fn contain(&self, key: &[u8]) -> bool {
        key >= self.low.as_slice() && (self.high.is_empty() || key < self.high.as_slice())
    }
}

impl Entries {
    /// Those with keys from `low` up to, not including, `high`; no `high` is no end.
    pub(in crate::storage) fn between(
        snapshot: Arc<dyn TreeSnapshot>,
        index: IndexId,
        bare: bool,
        low: &[u8],
        high: Option<&[u8]>,
    ) -> Entries {
        let range = (start(index, low), end(index, high));
        let pairs: Pairs = match is_empty(&range) {
            true => Box::new(std::iter::empty()),
            false => snapshot.range(Tree::Entries, range),
        };
        let limits = limits(low, high).map(Box::new);
        Entries { pairs, bare, backward: false, run: None, limits, snapshot }
    }

    /// Those of a whole key. Among long keys that begin alike they have a place of their own.
    pub(in crate::storage) fn of(
        snapshot: Arc<dyn TreeSnapshot>,
        index: IndexId,
        bare: bool,
        key: &[u8],
    ) -> Entries {
        let at = |record| {
            let record = (!bare).then_some(RecordId(record));
            Bound::Included(Slice::from(place(index, key, record)))
        };
        let pairs = snapshot.range(Tree::Entries, (at(0), at(u64::MAX)));
        let limits = (key.len() > WHOLE_KEY_BYTES_MAX).then(|| Box::new(Limits::of(key)));
        Entries { pairs, bare, backward: false, run: None, limits, snapshot }
    }

    /// The same from the last to the first.
    pub fn backward(self) -> Entries {
        Entries { backward: true, ..self }
    }

    fn next_pair(&mut self) -> Option<Result<(Slice, Slice), Failure>> {
        if self.backward { self.pairs.next_back() } else { self.pairs.next() }
    }

    /// Takes up the long keys that begin like this one.
    fn begin_run(&mut self, first: (Slice, Slice)) -> Result<()> {
        let mut run = EntryRun::new(&first.0, self.bare, self.backward);
        let backward = self.backward;
        let pairs = &mut self.pairs;
        let mut rest = std::iter::from_fn(|| match backward {
            true => pairs.next_back(),
            false => pairs.next(),
        });
        run.fill(Some(first), &mut rest, self.limits.as_deref())?;
        self.run = Some(Box::new(run));
        Ok(())
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let pair = match &mut self.run {
                None => self.next_pair(),
                Some(run) => match run.next(&*self.snapshot, self.limits.as_deref()).transpose() {
                    Some(entry) => return Some(entry),
                    None => self.run.take()?.into_after().map(Ok).or_else(|| self.next_pair()),
                },
            };
            let (key, value) = match pair? {
                Ok(pair) => pair,
                Err(error) => return Some(Err(failed(error))),
            };
            if is_long(&key, self.bare) {
                match self.begin_run((key, value)) {
                    Ok(()) => continue,
                    Err(error) => return Some(Err(error)),
                }
            }
            let entry = Entry::read(key, value, self.bare);
            match (&entry, &self.limits) {
                (Ok(entry), Some(limits)) if !limits.contain(entry.key()) => {}
                _ => return Some(entry),
            }
        }
    }
}

fn limits(low: &[u8], high: Option<&[u8]>) -> Option<Limits> {
    let long = |bound: &[u8]| match bound.len() > WHOLE_KEY_BYTES_MAX {
        true => bound.to_vec(),
        false => Vec::new(),
    };
    let limits = Limits { low: long(low), high: high.map(long).unwrap_or_default() };
    (!limits.low.is_empty() || !limits.high.is_empty()).then_some(limits)
}

/// Where the tree is entered: before every key that begins with a long bound.
fn start(index: IndexId, low: &[u8]) -> Bound<Slice> {
    Bound::Included(at(index, low, 0).into())
}

/// Where the tree is left: behind every key that begins with a long bound.
fn end(index: IndexId, high: Option<&[u8]>) -> Bound<Slice> {
    match high {
        None => crate::storage::keys::prefix(index.0).1,
        Some(high) if high.len() <= WHOLE_KEY_BYTES_MAX => {
            Bound::Excluded(at(index, high, 0).into())
        }
        Some(high) => Bound::Included(at(index, high, HASH_BYTES + RECORD_BYTES).into()),
    }
}

fn at(index: IndexId, bound: &[u8], behind: usize) -> Vec<u8> {
    let bound = &bound[..bound.len().min(WHOLE_KEY_BYTES_MAX)];
    let mut bytes = Vec::with_capacity(INDEX_BYTES + bound.len() + behind);
    bytes.extend_from_slice(&index.0.to_be_bytes());
    bytes.extend_from_slice(bound);
    bytes.resize(bytes.len() + behind, 0xFF);
    bytes
}
