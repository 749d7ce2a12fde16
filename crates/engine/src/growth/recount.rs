//! Recounts by a scan (a backfill): what was never counted, and the largest once too few of
//! them are left.
//!
//! The scan goes over a view that was taken while nobody was in the collection, so
//! everything before it is in the view; whatever is committed later is kept aside
//! and taken in at the end. A crash in between costs nothing but the work.

use super::event::{self, Grown, GrowthEvent};
use super::figures::{FigureScope, GrowthFigures};
use super::sizes::DocumentSizes;
use super::turn::{GroupRows, now_ms};
use super::{ArrayFigures, Exchange, Growth, LengthenedArrays, PagedBytes, lengthened, stand};
use crate::Engine;
use crate::catalog::Collection;
use crate::operation::unless_stopped;
use crate::plan::Interrupt;
use crate::storage::large;
use crate::storage::{CollectionId, Counts, Record, View};
use command::Namespace;
use error::{Code, Error, Result};
use guard::Lease;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use write::Version;

/// Documents between two looks at whether to stop.
const DOCUMENTS_PER_LOOK: usize = 128;
/// Changes that may happen during a scan.
const SINCE_EVENTS_MAX: usize = 1_000_000;
/// So few changes are taken in while everyone waits.
const LAST_EVENTS: usize = 256;
/// How often a scan is begun that something gets in the way of.
const ATTEMPTS: usize = 3;

/// What has happened since a recount began.
pub struct Since {
    /// What guarded the collection then.
    guarded: Option<Lease>,
    events: Vec<GrowthEvent>,
}

impl Since {
    /// Keeps the events of a commit; false if the recount has become pointless.
    pub fn take(&mut self, grown: &Grown) -> bool {
        self.events.extend_from_slice(grown.events());
        Lease::is_same(self.guarded.as_ref(), grown.guarded.as_ref())
            && self.events.len() <= SINCE_EVENTS_MAX
    }
}

impl Growth {
    fn begin_recount(
        &self,
        collection: CollectionId,
        guarded: Option<Lease>,
        view: &View,
    ) -> Result<()> {
        let mut standings = self.standings.lock();
        let standing = stand(&mut standings, collection, &|| view.clone())?;
        standing.since = Some(Since { guarded, events: Vec::new() });
        Ok(())
    }

    /// Takes in what has happened meanwhile and puts the new figures in the place of
    /// the old; false if something got in the way.
    fn finish_recount(&self, place: FigureScope<'_>, mut counted: GrowthFigures) -> bool {
        loop {
            let events = {
                let mut standings = self.standings.lock();
                let Some(standing) = standings.get_mut(&place.collection) else { return false };
                let Some(since) = &mut standing.since else { return false };
                let events = std::mem::take(&mut since.events);
                if events.len() <= LAST_EVENTS {
                    take_in(&mut counted, place, &events);
                    counted.take_over(&standing.figures);
                    standing.figures = counted;
                    standing.since = None;
                    standing.rewrites_kept = true;
                    return true;
                }
                events
            };
            take_in(&mut counted, place, &events);
        }
    }

    fn abandon_recount(&self, collection: CollectionId) {
        if let Some(standing) = self.standings.lock().get_mut(&collection) {
            standing.since = None;
        }
    }
}

fn take_in(figures: &mut GrowthFigures, place: FigureScope<'_>, events: &[GrowthEvent]) {
    // All rows are rewritten afterwards.
    let mut turn = GroupRows::default();
    events.iter().for_each(|event| figures.apply(place, event, &mut turn));
}

impl GrowthFigures {
    /// Takes over what earlier figures have noted of documents.
    fn take_over(&mut self, earlier: &GrowthFigures) {
        let (Some(sizes), Some(earlier)) = (&mut self.sizes, &earlier.sizes) else { return };
        sizes.since_ms = earlier.since_ms;
        for (record, was) in earlier.largest.iter() {
            if let Some(kept) = sizes.largest.get_mut(record) {
                kept.note = was.note.clone();
            }
        }
    }
}

impl Engine {
    /// The figures of a collection, counted first where they have not been; `None` if
    /// it is dropped meanwhile.
    pub async fn growth_figures(
        self: &Arc<Self>,
        collection: &Collection,
        interrupt: &Interrupt,
    ) -> Result<Option<GrowthFigures>> {
        for _ in 0..ATTEMPTS {
            if let Some(figures) = turn::aside(|| self.known_figures(collection, interrupt))? {
                return Ok(Some(figures));
            }
            if !self.growth.is_on.load(Ordering::Relaxed) {
                return Err(off(&collection.namespace));
            }
            self.recount_growth(&collection.namespace, interrupt).await?;
            match self.registry.get(&collection.namespace) {
                Some(now) if now.id == collection.id => {}
                _ => return Ok(None),
            }
        }
        Err(busy(&collection.namespace))
    }

    /// Counts, in the background, what has not been counted of a collection.
    pub(crate) fn recount_later(self: &Arc<Self>, collection: &Arc<Collection>) {
        let (engine, collection) = (self.clone(), collection.clone());
        self.background.spawn(async move {
            let guarded = engine.policies.get(&collection.namespace);
            let (growth, view) = (&engine.growth, || engine.store.view());
            let counted = match growth.is_whole(collection.id, guarded.as_ref(), &view) {
                Ok(false) => engine.growth_figures(&collection, &Interrupt::default()).await,
                outcome => outcome.map(|_| None),
            };
            if let Err(error) = counted {
                let namespace = &collection.namespace;
                tracing::debug!(%namespace, %error, "growth is counted at the next growthStats");
            }
        });
    }

    /// Counts what an earlier run has not counted of collections that have policies.
    pub(crate) fn recount_unfinished(self: &Arc<Self>) {
        for collection in self.registry.current().all() {
            let guarded = self.policies.get(&collection.namespace);
            if event::policy(guarded.as_ref()).is_some_and(|policy| !policy.arrays.is_empty()) {
                self.recount_later(collection);
            }
        }
    }

    fn known_figures(
        &self,
        collection: &Collection,
        interrupt: &Interrupt,
    ) -> Result<Option<GrowthFigures>> {
        let guarded = self.policies.get(&collection.namespace);
        let (policy, view) = (event::policy(guarded.as_ref()), || self.store.view());
        let place = FigureScope { collection: collection.id, policy, view: &view };
        self.growth.figures(place, interrupt)
    }

    /// Counts a collection once. It may have changed too much meanwhile.
    async fn recount_growth(
        self: &Arc<Self>,
        namespace: &Namespace,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let _turn = unless_stopped(self.growth.recounts.lock()).await?;
        let growth = &self.growth;
        let begun = self.at_rest(namespace, |collection| {
            let (guarded, view) = (self.policies.get(namespace), self.store.view());
            let current = || view.clone();
            let policy = event::policy(guarded.as_ref());
            let place = FigureScope { collection: collection.id, policy, view: &current };
            // Someone else may have counted it meanwhile.
            if growth.counted(place)?.is_some() {
                return Ok(None);
            }
            growth.begin_recount(collection.id, guarded.clone(), &view)?;
            Ok(Some((collection.clone(), guarded, view)))
        });
        let Some((collection, guarded, view)) = begun.await?.flatten() else { return Ok(()) };
        let current = || self.store.view();
        let place = FigureScope {
            collection: collection.id,
            policy: event::policy(guarded.as_ref()),
            view: &current,
        };
        let counted = count(place, view, interrupt).await;
        let counted = counted.inspect_err(|_| growth.abandon_recount(collection.id))?;
        if growth.finish_recount(place, counted) {
            self.write_figures(&collection).await?;
        }
        Ok(())
    }
}

/// Counts everything in a view, in pieces, so that it may be put an end to.
pub(super) async fn count(
    place: FigureScope<'_>,
    view: View,
    interrupt: &Interrupt,
) -> Result<GrowthFigures> {
    let rules = place.policy.into_iter().flat_map(|policy| &policy.arrays);
    let mut figures = GrowthFigures {
        counts: Counts::default(),
        sizes: Some(DocumentSizes::new(now_ms())),
        arrays: rules.map(ArrayFigures::new).collect(),
    };
    let mut records = view.records(place.collection, (Bound::Unbounded, Bound::Unbounded));
    loop {
        interrupt.check()?;
        let more = turn::aside(|| -> Result<bool> {
            let mut turn = GroupRows::default();
            let mut counted = 0;
            for record in records.by_ref().take(DOCUMENTS_PER_LOOK) {
                let event = found(place, &view, &record?.1)?;
                figures.apply(place, &event, &mut turn);
                counted += 1;
            }
            Ok(counted == DOCUMENTS_PER_LOOK)
        });
        if !more? {
            return Ok(figures);
        }
        tokio::task::yield_now().await;
    }
}

/// A document that is there, as if it had just come.
fn found(place: FigureScope<'_>, view: &View, record: &Record) -> Result<GrowthEvent> {
    let mut load = |document: &bson::RawDocument, needs: &language::Needs| {
        large::join(view, record, document, needs)
    };
    let stored = Some(Version { document: record.stored(), sidecar: record.sidecar() });
    let arrays = match place.policy {
        Some(policy) => {
            let exchange = Exchange { before: None, after: stored, update: None, measured: &[] };
            lengthened(policy, exchange, view.secret(), &mut load)?
        }
        None => LengthenedArrays::new(),
    };
    let after = Some(record.size() as u32);
    Ok(GrowthEvent { record: record.id, before: None, after, paged: PagedBytes::default(), arrays })
}

fn off(namespace: &Namespace) -> Error {
    Code::OperationFailed.error(format!(
        "the growth of {namespace} is not kept up: the parameter growthStats is off. Turn it on \
         with {{setParameter: 1, growthStats: true}}"
    ))
}

fn busy(namespace: &Namespace) -> Error {
    Code::ConflictingOperationInProgress.error(format!(
        "{namespace} has changed too much while its documents were counted; try again"
    ))
}
