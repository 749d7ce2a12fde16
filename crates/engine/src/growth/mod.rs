//! How the documents of each collection grow: what `growthStats` reports.
//!
//! Kept up by the commits themselves. A transaction notes of each document it writes
//! how large it was and is, and of the arrays that a policy names how long
//! (`GrowthEvent`, `measure`). As a group of commits is applied, the events are taken in
//! (`FiguresLedger`) and the collection's figures are part of the same batch: the row that
//! holds its counts is written anyway, so figures are as exact and as durable as
//! counts are, after a crash too.
//!
//! Who the largest documents and the longest arrays are stands in rows of their own,
//! which are written when a document enters or leaves the list, and now and then when one of
//! the largest has grown. Their sizes are not stored: they are read from the documents.
//!
//! What was not counted from the first document on (the arrays of a policy that came
//! later, a store that an earlier version wrote) is counted by a scan (`recount`).

mod alert;
mod arrays;
mod chosen;
mod event;
mod figures;
mod measure;
mod recount;
mod resolve;
mod sample;
mod sizes;
mod turn;

pub use alert::WHOLE_WARN_BYTES;
pub use arrays::ArrayFigures;
pub use event::{Grown, GrowthEvent, LengthenedArrays, PagedBytes, policy};
pub use figures::GrowthFigures;
pub use measure::{Exchange, lengthened, measured, paged};
pub use sample::{Sample, Sampled};
pub use sizes::Tracked;
pub use turn::now_ms;

use crate::catalog::is_temporary;
use crate::plan::Interrupt;
use crate::storage::{
    AfterApply, BookEntry, Bookkeeper, CollectionId, Ledger, RecordId, TreeChange,
};
use crate::storage::{CommitWrites, Tree, View, keys};
use alert::{Ahead, Alert};
use bson::RawDocument;
use command::Namespace;
use error::{Code, Error, Result};
use figures::FigureScope;
use guard::Lease;
use parking_lot::{Mutex, MutexGuard};
use resolve::Crowded;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use turn::GroupRows;

/// Forecasts within so many seconds are logged, unless `--growth-horizon` says
/// otherwise: seven days.
pub const HORIZON_SECONDS: u32 = 7 * 24 * 60 * 60;
/// Nothing is forecast of a document that has been seen to grow for less, unless the parameter
/// says otherwise: an hour.
pub const OBSERVED_SECONDS: u32 = 60 * 60;
/// Alerts of a collection that `$out` is making which are kept until it takes its place.
const HELD_MAX: usize = 1_000;
/// How many of the largest documents and longest arrays are shown.
pub const SHOWN: usize = 10;

/// The figures of every collection that has been written to or read.
pub struct Growth {
    /// Every commit takes the lock: no document is read while it is held.
    standings: Mutex<FxHashMap<CollectionId, CollectionGrowth>>,
    crowded: Crowded,
    /// Held while a collection is counted by a scan: one at a time.
    recounts: tokio::sync::Mutex<()>,
    /// The parameter `growthHorizonSeconds`.
    pub horizon_seconds: AtomicU32,
    /// The parameter `growthObservedSeconds`.
    pub observed_seconds: AtomicU32,
    /// The parameter `growthStats`. While it is off, documents and bytes are counted and
    /// nothing else; what was written to then is counted by a scan when its figures are read.
    pub is_on: AtomicBool,
}

/// How a collection stands.
#[derive(Default)]
struct CollectionGrowth {
    figures: GrowthFigures,
    /// What guarded it at the last commit; `None` before the first.
    guarded: Option<Option<Lease>>,
    /// Alerts of a collection that `$out` is making, logged once it takes its place.
    held: Vec<Alert>,
    /// Set during a recount.
    since: Option<recount::Since>,
    /// Whether the rows of the largest are to be rewritten.
    rewrites_kept: bool,
    /// Whether those who are kept have been left to be looked up in the background: once is
    /// enough, be it in vain.
    crowded: bool,
}

/// The figures while a group of commits is taken in.
struct FiguresLedger<'g> {
    crowded: &'g Crowded,
    ahead: Ahead,
    is_on: bool,
    standings: MutexGuard<'g, FxHashMap<CollectionId, CollectionGrowth>>,
    touched: Vec<CollectionId>,
    alerts: Vec<Alert>,
    turn: GroupRows,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth {
            standings: Mutex::default(),
            crowded: Crowded::default(),
            recounts: tokio::sync::Mutex::default(),
            horizon_seconds: AtomicU32::new(HORIZON_SECONDS),
            observed_seconds: AtomicU32::new(OBSERVED_SECONDS),
            is_on: AtomicBool::new(true),
        }
    }
}

impl Growth {
    /// How long a document must have been seen to grow before anything is forecast of it.
    pub fn observed_min_ms(&self) -> u64 {
        u64::from(self.observed_seconds.load(Ordering::Relaxed)) * 1_000
    }

    fn books(&self) -> FiguresLedger<'_> {
        FiguresLedger {
            crowded: &self.crowded,
            ahead: Ahead {
                horizon_ms: u64::from(self.horizon_seconds.load(Ordering::Relaxed)) * 1_000,
                observed_min_ms: self.observed_min_ms(),
            },
            is_on: self.is_on.load(Ordering::Relaxed),
            standings: self.standings.lock(),
            touched: Vec::new(),
            alerts: Vec::new(),
            turn: GroupRows::default(),
        }
    }

    /// The figures of a collection, with the sizes of the largest looked up; `None` if
    /// something is still to be counted.
    pub fn figures(
        &self,
        place: FigureScope<'_>,
        interrupt: &Interrupt,
    ) -> Result<Option<GrowthFigures>> {
        self.resolve(place, interrupt)?;
        self.counted(place)
    }

    /// The figures of a collection as they are known; `None` if something is still to be
    /// counted.
    fn counted(&self, place: FigureScope<'_>) -> Result<Option<GrowthFigures>> {
        let mut standings = self.standings.lock();
        let mut figures = stand(&mut standings, place.collection, place.view)?.figures.clone();
        // Rows that go because of this go with the next write.
        figures.adopt(place, &mut GroupRows::default());
        Ok(Some(figures).filter(|it| it.is_whole(place.policy) && it.suffices(SHOWN)))
    }

    /// Whether everything has been counted that a policy needs.
    pub fn is_whole(
        &self,
        collection: CollectionId,
        guarded: Option<&Lease>,
        view: &(dyn Fn() -> View + Sync),
    ) -> Result<bool> {
        let mut standings = self.standings.lock();
        let figures = &stand(&mut standings, collection, view)?.figures;
        Ok(figures.counts.documents == 0 || figures.is_whole(event::policy(guarded)))
    }

    /// Logs the alerts of a collection that has taken its place.
    pub fn report_held(&self, collection: CollectionId, namespace: &Namespace) {
        let mut standings = self.standings.lock();
        let held =
            standings.get_mut(&collection).map(|standing| std::mem::take(&mut standing.held));
        drop(standings);
        for alert in held.unwrap_or_default() {
            Alert { namespace: namespace.clone(), ..alert }.log();
        }
    }

    /// Forgets a collection that is no more.
    pub fn forget(&self, collection: CollectionId) {
        self.standings.lock().remove(&collection);
    }
}

/// How a collection stands, read from its rows at first use. While the
/// lock is held nothing is taken in, so what is stored is all there is.
fn stand<'s>(
    standings: &'s mut FxHashMap<CollectionId, CollectionGrowth>,
    collection: CollectionId,
    view: &(dyn Fn() -> View + Sync),
) -> Result<&'s mut CollectionGrowth> {
    use std::collections::hash_map::Entry;
    match standings.entry(collection) {
        Entry::Occupied(known) => Ok(known.into_mut()),
        Entry::Vacant(new) => {
            let figures = GrowthFigures::load(&view(), collection)?;
            Ok(new.insert(CollectionGrowth { figures, ..CollectionGrowth::default() }))
        }
    }
}

impl FiguresLedger<'_> {
    /// Takes in what a commit does to a collection; `written` is all that it writes.
    fn add(
        &mut self,
        grown: &Grown,
        written: &CommitWrites<'_>,
        view: &(dyn Fn() -> View + Sync),
    ) -> Result<()> {
        let collection = grown.collection.id;
        let policy = event::policy(grown.guarded.as_ref());
        let place = FigureScope { collection, policy, view };
        let standing = stand(&mut self.standings, collection, view)?;
        let turn = &mut self.turn;
        if !self.is_on || !grown.measured {
            standing.forget(place, turn)?;
        } else if standing.figures.counts.documents == 0 || !standing.is_guarded_by(&grown.guarded)
        {
            standing.figures.adopt(place, turn);
            standing.guarded = Some(grown.guarded.clone());
        }
        for event in grown.events() {
            standing.figures.apply(place, event, turn);
        }
        for event in grown.net().iter() {
            let figures = &mut standing.figures;
            let (reason, noted) = alert::reason(figures, policy, event, self.ahead, turn);
            if noted {
                figures.write_tracked(collection, event.record, turn);
            }
            if let (Some(reason), Some(bytes)) = (reason, event.after) {
                let namespace = grown.collection.namespace.clone();
                let id = id_of(written, collection, event.record);
                let alert = Alert { namespace, id, bytes, reason };
                match is_temporary(&grown.collection.namespace) {
                    true if standing.held.len() < HELD_MAX => standing.held.push(alert),
                    true => {}
                    false => self.alerts.push(alert),
                }
            }
        }
        if standing.since.as_mut().is_some_and(|since| !since.take(grown)) {
            standing.since = None;
        }
        if std::mem::take(&mut standing.rewrites_kept) {
            remove_kept(place, turn)?;
            standing.figures.write_kept(collection, turn);
        }
        if !standing.crowded && standing.figures.is_crowded() {
            standing.crowded = true;
            self.crowded.push(collection);
        }
        if !self.touched.contains(&collection) {
            self.touched.push(collection);
        }
        Ok(())
    }
}

impl Bookkeeper for Growth {
    fn open(&self) -> Box<dyn Ledger + '_> {
        Box::new(self.books())
    }
}

impl Ledger for FiguresLedger<'_> {
    fn take(
        &mut self,
        entry: BookEntry,
        written: &CommitWrites<'_>,
        view: &(dyn Fn() -> View + Sync),
    ) -> Result<()> {
        let grown: Box<Vec<Grown>> = entry.downcast().map_err(|_| foreign())?;
        grown.iter().try_for_each(|grown| self.add(grown, written, view))
    }

    fn close(mut self: Box<Self>, changes: &mut Vec<TreeChange>) -> AfterApply {
        for collection in self.touched {
            let value = self.standings.get_mut(&collection).map(|it| it.figures.write());
            changes.push(TreeChange { tree: Tree::Records, key: keys::counts(collection), value });
        }
        changes.extend(self.turn.into_changes());
        let alerts = self.alerts;
        (!alerts.is_empty())
            .then(|| Box::new(move || alerts.iter().for_each(Alert::log)) as Box<dyn FnOnce()>)
    }
}

fn foreign() -> Error {
    Code::InternalError.error("a commit has an entry for other books than those of growth")
}

impl CollectionGrowth {
    /// Keeps the counts alone.
    fn forget(&mut self, place: FigureScope<'_>, turn: &mut GroupRows) -> Result<()> {
        // What comes now is not measured: a recount under way must start over.
        self.since = None;
        if self.figures.sizes.is_none() && self.figures.arrays.is_empty() {
            return Ok(());
        }
        remove_kept(place, turn)?;
        let figures = GrowthFigures { counts: self.figures.counts, ..GrowthFigures::default() };
        let held = std::mem::take(&mut self.held);
        *self = CollectionGrowth { figures, held, ..CollectionGrowth::default() };
        Ok(())
    }

    fn is_guarded_by(&self, guarded: &Option<Lease>) -> bool {
        self.guarded.as_ref().is_some_and(|was| Lease::is_same(was.as_ref(), guarded.as_ref()))
    }
}

/// Removes the rows of everyone who was kept.
fn remove_kept(place: FigureScope<'_>, turn: &mut GroupRows) -> Result<()> {
    for pair in (place.view)().range(Tree::Records, keys::kept_rows(place.collection)) {
        turn.remove_key(pair.map_err(crate::storage::failed)?.0);
    }
    Ok(())
}

/// The `_id` of a document that is being written, cut where it is long.
fn id_of(written: &CommitWrites<'_>, collection: CollectionId, record: RecordId) -> String {
    let value = written.get(Tree::Records, &keys::record(collection, record));
    let document = value.and_then(|value| {
        let length = u32::from_le_bytes(*value.first_chunk()?) as usize;
        RawDocument::from_bytes(value.get(..length)?).ok()
    });
    let id = document.and_then(|document| value::element::get(document, "_id"));
    id.map_or_else(|| "none".to_owned(), |id| value::text::short(id.value()))
}

#[cfg(test)]
mod tests;
