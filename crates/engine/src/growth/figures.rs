//! Everything that is kept of one collection, and its row in the store:
//!
//! ```text
//! documents u64, bytes u64
//! and, once sizes have been counted, numbers as `statistics` writes them:
//! FORMAT
//! since, floor, histogram                         sizes
//! how many paths have been counted, for each:
//!   path, where its elements are counted or ""    length and text
//!   documents, elements, overflowed, pages, floor, histogram
//! ```

use super::arrays::ArrayFigures;
use super::event::GrowthEvent;
use super::resolve::Unresolved;
use super::sizes::{DocumentSizes, Tracked};
use super::turn::GroupRows;
use crate::storage::{CollectionId, Counts, RecordId, Tree, View, keys};
use error::Result;
use fjall::Slice;
use guard::Policy;
use guard::policy::ArrayRule;
use statistics::{read_number, write_number};

/// What this build writes; a row of another format is recounted.
const FORMAT: u64 = 1;

/// What most rows fit into.
const ROW_BYTES: usize = 512;

#[derive(Debug, Clone, Default)]
pub struct GrowthFigures {
    pub counts: Counts,
    /// `None` until they have been counted.
    pub sizes: Option<DocumentSizes>,
    /// Of the paths that have been counted.
    pub arrays: Vec<ArrayFigures>,
}

/// Where figures stand, and what it takes to look something up.
#[derive(Clone, Copy)]
pub struct FigureScope<'a> {
    pub collection: CollectionId,
    pub policy: Option<&'a Policy>,
    /// The store, without what is about to be committed.
    pub view: &'a (dyn Fn() -> View + Sync),
}

impl GrowthFigures {
    /// As they are stored.
    pub fn load(view: &View, collection: CollectionId) -> Result<GrowthFigures> {
        let Some(row) = view.get(Tree::Records, &keys::counts(collection))? else {
            return Ok(GrowthFigures::default());
        };
        let mut documents = Vec::new();
        let mut arrays = Vec::new();
        for pair in view.range(Tree::Records, keys::kept_rows(collection)) {
            let (key, value) = pair.map_err(crate::storage::failed)?;
            match keys::kept_parts(&key) {
                Some((_, "", record)) => documents.push((record, Tracked::read(&value))),
                Some((_, path, record)) => arrays.push((path.to_owned(), record)),
                None => {}
            }
        }
        let mut figures =
            GrowthFigures { counts: Counts::read(&row), sizes: None, arrays: Vec::new() };
        let rest = row.get(Counts::BYTES..).unwrap_or_default();
        figures.read(rest, documents, &arrays);
        Ok(figures)
    }

    /// Reads what follows the counts in a row; what it does not have is recounted.
    fn read(
        &mut self,
        mut rest: &[u8],
        documents: Vec<(u64, Tracked)>,
        arrays: &[(String, u64)],
    ) -> Option<()> {
        if read_number(&mut rest)? != FORMAT {
            return None;
        }
        self.sizes = Some(DocumentSizes::read(&mut rest, documents)?);
        for _ in 0..read_number(&mut rest)? {
            let kept = |path: &str| {
                let here = arrays.iter().filter(|(of, _)| of == path);
                here.map(|(_, record)| *record).collect()
            };
            self.arrays.push(ArrayFigures::read(&mut rest, kept)?);
        }
        Some(())
    }

    pub fn write(&mut self) -> Slice {
        let mut row = Vec::with_capacity(ROW_BYTES);
        row.extend_from_slice(&self.counts.write());
        if let Some(sizes) = &self.sizes {
            write_number(FORMAT, &mut row);
            sizes.write(&mut row);
            write_number(self.arrays.len() as u64, &mut row);
            self.arrays.iter_mut().for_each(|arrays| arrays.write(&mut row));
        }
        row.into()
    }

    /// Keeps figures for the arrays that the policy names, and for no others. What a
    /// collection that holds nothing will hold is counted from the first document on.
    pub fn adopt(&mut self, place: FigureScope<'_>, turn: &mut GroupRows) {
        let rules = place.policy.map_or(&[][..], |policy| &policy.arrays);
        self.arrays.retain(|arrays| {
            let named = rules.iter().any(|rule| arrays.is_of(rule));
            if !named {
                for (record, _) in arrays.longest.iter() {
                    turn.remove(place.collection, arrays.path.as_str(), record);
                }
            }
            named
        });
        if self.counts.documents > 0 {
            return;
        }
        // Those who were kept once say nothing of those who come.
        let since_ms = self.sizes.as_ref().map_or_else(|| turn.now_ms(), |sizes| sizes.since_ms);
        self.sizes = Some(DocumentSizes::new(since_ms));
        self.arrays = rules.iter().map(ArrayFigures::new).collect();
    }

    /// Whether everything has been counted that a policy needs.
    pub fn is_whole(&self, policy: Option<&Policy>) -> bool {
        let mut rules = policy.into_iter().flat_map(|policy| &policy.arrays);
        self.sizes.is_some() && rules.all(|rule| self.arrays.iter().any(|it| it.is_of(rule)))
    }

    /// Takes in what became of a document.
    pub fn apply(&mut self, place: FigureScope<'_>, event: &GrowthEvent, turn: &mut GroupRows) {
        let FigureScope { collection, policy, .. } = place;
        let bytes = |size: Option<u32>| u64::from(size.unwrap_or(0));
        let Counts { documents, bytes: total } = &mut self.counts;
        *documents += u64::from(event.after.is_some());
        *documents = documents.saturating_sub(u64::from(event.before.is_some()));
        *total = (*total + bytes(event.after)).saturating_sub(bytes(event.before));
        if let Some(sizes) = &mut self.sizes {
            sizes.apply(collection, event, turn);
            if policy.is_some_and(|policy| event.fills_an_array(policy)) {
                sizes.begin_trend(collection, event, turn);
            }
        }
        for change in &event.arrays {
            let Some(rule) = policy.and_then(|policy| policy.arrays.get(change.rule)) else {
                continue;
            };
            if let Some(arrays) = self.arrays.iter_mut().find(|arrays| arrays.is_of(rule)) {
                arrays.apply(collection, event.record, change, turn);
            }
        }
    }

    /// Those of the largest whose size is not known: nobody has written to them since the
    /// start.
    pub fn unresolved<'p>(&self, policy: Option<&'p Policy>) -> Vec<Unresolved<'p>> {
        let of = |rule: Option<&'p ArrayRule>, records: Vec<u64>| {
            records.into_iter().map(move |record| Unresolved { rule, record })
        };
        let sizes = self.sizes.iter().flat_map(|sizes| of(None, sizes.largest.unresolved()));
        let rules = policy.into_iter().flat_map(|policy| &policy.arrays);
        let arrays = rules.flat_map(|rule| {
            let arrays = self.arrays.iter().find(|arrays| arrays.is_of(rule));
            arrays.into_iter().flat_map(move |it| of(Some(rule), it.longest.unresolved()))
        });
        sizes.chain(arrays).collect()
    }

    /// Takes in how large they are; false if some of them, or of the others, are not among
    /// the largest any more.
    pub fn resolve(&mut self, measured: &[(Unresolved<'_>, Option<u32>)]) -> bool {
        let mut all_stay = true;
        for (Unresolved { rule, record }, value) in measured {
            let arrays = &mut self.arrays;
            all_stay &= match rule {
                None => self.sizes.as_mut().is_none_or(|it| it.largest.resolve(*record, *value)),
                Some(rule) => arrays
                    .iter_mut()
                    .find(|arrays| arrays.is_of(rule))
                    .is_none_or(|it| it.longest.resolve(*record, *value)),
            };
        }
        if let Some(sizes) = &mut self.sizes {
            all_stay &= sizes.trim();
        }
        self.arrays.iter_mut().fold(all_stay, |all_stay, arrays| arrays.trim() && all_stay)
    }

    /// Whether more are kept than should be since some have not been looked up.
    pub fn is_crowded(&self) -> bool {
        self.sizes.as_ref().is_some_and(|sizes| sizes.largest.is_crowded())
            || self.arrays.iter().any(|arrays| arrays.longest.is_crowded())
    }

    /// Whether the largest documents and the longest arrays are known: so many, or
    /// all there are.
    pub fn suffices(&self, wanted: usize) -> bool {
        let documents = self.counts.documents;
        self.sizes.as_ref().is_some_and(|sizes| sizes.largest.suffices(wanted, documents))
            && self.arrays.iter().all(|it| it.longest.suffices(wanted, it.documents))
    }

    /// Writes the row of one of the largest documents.
    pub fn write_tracked(
        &mut self,
        collection: CollectionId,
        record: RecordId,
        turn: &mut GroupRows,
    ) {
        let sizes = self.sizes.as_mut();
        if let Some(kept) = sizes.and_then(|sizes| sizes.largest.get_mut(record.0)) {
            turn.put(collection, "", record.0, kept.note.write());
        }
    }

    /// Writes the rows of everyone who is kept.
    pub fn write_kept(&self, collection: CollectionId, turn: &mut GroupRows) {
        for (record, kept) in self.sizes.iter().flat_map(|sizes| sizes.largest.iter()) {
            turn.put(collection, "", record, kept.note.write());
        }
        for arrays in &self.arrays {
            for (record, _) in arrays.longest.iter() {
                turn.put(collection, arrays.path.as_str(), record, Vec::new());
            }
        }
    }
}
