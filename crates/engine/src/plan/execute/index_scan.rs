//! The entries of an index within bounds.

use super::covered::Cover;
use super::seen::SeenRecords;
use super::{Member, Operator, Running, Shared, Stats, Work};
use crate::plan::bounds::{self, Checker, KeyRange, Verdict, successor};
use crate::plan::{IndexScan, Scan};
use crate::storage::entry::WHOLE_KEY_BYTES_MAX;
use crate::storage::{Entries, Entry};
use error::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use value::key;

/// How many entries are passed over one by one before the scan seeks instead: a
/// seek costs about as much as a few steps.
const STEPS_BEFORE_SEEK: usize = 3;

pub struct IndexScanOperation {
    cursor: IndexCursor,
    plan: Arc<IndexScan>,
    /// Records already given, where one may come twice.
    seen: Option<SeenRecords>,
    /// Whether entries are only counted, not handed on.
    bare: bool,
    /// Makes what the plan's filter looks at.
    cover: Option<Cover>,
}

impl IndexScanOperation {
    pub fn new(plan: Arc<IndexScan>) -> IndexScanOperation {
        let seen = plan.may_repeat().then(SeenRecords::new);
        let cover = plan.filter.as_ref().map(|filter| Cover::new(&plan, &filter.needs));
        IndexScanOperation { cursor: IndexCursor::new(&plan), plan, seen, bare: false, cover }
    }

    /// For `COUNT_SCAN`: rows without their entries.
    pub fn counting(plan: Arc<IndexScan>) -> IndexScanOperation {
        IndexScanOperation { bare: true, ..IndexScanOperation::new(plan) }
    }
}

impl Operator for IndexScanOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let entry = match self.cursor.step(shared, stats)? {
            IndexStep::Entry(entry) => entry,
            IndexStep::Outside => return Ok(Work::Pending),
            IndexStep::Done => return Ok(Work::Done),
        };
        if let (Some(filter), Some(cover)) = (&self.plan.filter, &self.cover)
            && !filter.matches(&cover.document(&entry)?)?
        {
            return Ok(Work::Pending);
        }
        if let Some(seen) = &mut self.seen {
            stats.repeats_tested += 1;
            if !seen.insert(entry.record)? {
                stats.repeats_dropped += 1;
                return Ok(Work::Pending);
            }
        }
        let record = entry.record;
        let entry = (!self.bare).then_some(entry);
        Ok(Work::Advanced(Member { record, entry, document: None }))
    }

    fn inputs(&self) -> Vec<&Running> {
        Vec::new()
    }
}

/// Walks the ranges of a scan, skipping what the bounds exclude.
pub struct IndexCursor {
    plan: Arc<IndexScan>,
    checker: Option<Checker>,
    /// Still to be read, in the order of the scan.
    ranges: VecDeque<KeyRange>,
    current: Option<(KeyRange, Entries)>,
    /// Where to go before the next entry counts, and how many steps are left.
    target: Option<(Vec<u8>, usize)>,
}

pub enum IndexStep {
    Entry(Entry),
    /// An entry outside the bounds was examined, or a range has ended.
    Outside,
    Done,
}

impl IndexCursor {
    pub fn new(plan: &Arc<IndexScan>) -> IndexCursor {
        let (mut ranges, checker) = match &plan.range {
            Some(range) => (vec![range.clone()], None),
            None => bounds::ranges(&plan.bounds, &plan.directions()),
        };
        if plan.scan == Scan::Backward {
            ranges.reverse();
        }
        IndexCursor {
            plan: Arc::clone(plan),
            checker,
            ranges: ranges.into(),
            current: None,
            target: None,
        }
    }

    pub fn step(&mut self, shared: &Shared, stats: &mut Stats) -> Result<IndexStep> {
        let Some((_, entries)) = &mut self.current else {
            return Ok(match self.ranges.pop_front() {
                Some(range) => {
                    self.open(range, shared, stats);
                    return self.step(shared, stats);
                }
                None => IndexStep::Done,
            });
        };
        let Some(entry) = entries.next().transpose()? else {
            self.current = None;
            return Ok(if self.ranges.is_empty() { IndexStep::Done } else { IndexStep::Outside });
        };
        stats.keys_examined += 1;
        if !self.reached(&entry) {
            self.pass(shared, stats);
            return Ok(IndexStep::Outside);
        }
        match self.checker.as_ref().map(|checker| checker.check(entry.key(), self.plan.scan)) {
            None | Some(Verdict::Inside) => Ok(IndexStep::Entry(entry)),
            Some(Verdict::Seek(target)) => {
                self.target = Some((target, STEPS_BEFORE_SEEK));
                Ok(IndexStep::Outside)
            }
            Some(Verdict::Done) => {
                self.current = None;
                self.ranges.clear();
                Ok(IndexStep::Done)
            }
        }
    }

    /// Goes on past every key that begins with `prefix`.
    pub fn pass_prefix(&mut self, prefix: &[u8]) {
        let target = match self.plan.scan {
            Scan::Forward => successor(prefix),
            Scan::Backward => Some(prefix.to_vec()),
        };
        match target {
            Some(target) => self.target = Some((target, STEPS_BEFORE_SEEK)),
            None => {
                self.current = None;
                self.ranges.clear();
            }
        }
    }

    /// Whether the entry is at or past the target; if so there is none any more.
    fn reached(&mut self, entry: &Entry) -> bool {
        let reached = match (&self.target, self.plan.scan) {
            (None, _) => return true,
            (Some((target, _)), Scan::Forward) => entry.key() >= target.as_slice(),
            (Some((target, _)), Scan::Backward) => entry.key() < target.as_slice(),
        };
        if reached {
            self.target = None;
        }
        reached
    }

    /// Passes over one entry before the target; seeks after a few.
    fn pass(&mut self, shared: &Shared, stats: &mut Stats) {
        let Some((_, steps)) = &mut self.target else { return };
        if *steps > 0 {
            *steps -= 1;
            return;
        }
        let Some((target, _)) = self.target.take() else { return };
        let Some((mut range, _)) = self.current.take() else { return };
        match self.plan.scan {
            Scan::Forward => range.low = target,
            Scan::Backward => range.high = Some(target),
        }
        if range.high.as_ref().is_none_or(|high| range.low < *high) {
            self.open(range, shared, stats);
        }
    }

    /// Whether a range is that of one whole key.
    fn is_one_key(&self, range: &KeyRange) -> bool {
        let mut rest = range.low.as_slice();
        for direction in self.plan.directions() {
            let Some(len) = key::skip(rest, direction) else { return false };
            rest = &rest[len..];
        }
        rest.is_empty() && range.high == successor(&range.low)
    }

    fn open(&mut self, range: KeyRange, shared: &Shared, stats: &mut Stats) {
        stats.seeks += 1;
        let index = &self.plan.index;
        let (view, high) = (&shared.view, range.high.as_deref());
        // Of a long key, only its own entries are read, not all that begin alike.
        let entries = match range.low.len() > WHOLE_KEY_BYTES_MAX && self.is_one_key(&range) {
            true => view.entries_of(index.id, index.bare_keys, &range.low),
            false => view.entries(index.id, index.bare_keys, &range.low, high),
        };
        let entries = match self.plan.scan {
            Scan::Forward => entries,
            Scan::Backward => entries.backward(),
        };
        self.current = Some((range, entries));
    }
}
