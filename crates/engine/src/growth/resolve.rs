//! How large those of the largest are that nobody has written to since the start.
//!
//! The store lists which documents are the largest; their sizes are read from the documents,
//! outside the lock that every commit takes. Under the lock the unresolved ones are listed, and
//! under it again the sizes found are put in, except for documents that were written to
//! meanwhile: those commits have brought their sizes.
//!
//! It is done when figures are read, and in the background where so many documents come that
//! the list would keep growing from one start to the next.

use super::event::{self, Lengths};
use super::{Growth, figures::FigureScope, measure, stand};
use crate::Engine;
use crate::plan::Interrupt;
use crate::storage::large;
use crate::storage::{CollectionId, RecordId, View};
use error::Result;
use guard::policy::ArrayRule;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::Notify;
use write::Version;

/// One of the largest documents, or of those with the longest arrays of a rule.
#[derive(Clone, Copy)]
pub struct Unresolved<'p> {
    pub rule: Option<&'p ArrayRule>,
    pub record: u64,
}

/// Collections with lists that are to be looked up in the background.
#[derive(Default)]
pub struct Crowded {
    collections: Mutex<Vec<CollectionId>>,
    rings: Notify,
}

impl Crowded {
    pub fn push(&self, collection: CollectionId) {
        self.collections.lock().push(collection);
        self.rings.notify_one();
    }
}

impl Unresolved<'_> {
    /// How large it is; `None` if it is not there.
    fn measure(self, view: &View, at: CollectionId) -> Result<Option<u32>> {
        let Some(record) = view.record(at, RecordId(self.record))? else { return Ok(None) };
        let Some(rule) = self.rule else { return Ok(Some(record.size() as u32)) };
        let mut load = |document: &bson::RawDocument, needs: &language::Needs| {
            large::join(view, &record, document, needs)
        };
        let version = Version { document: record.stored(), sidecar: record.sidecar() };
        let Lengths { each, .. } = measure::lengths(version, rule, view.secret(), &mut load)?;
        Ok(each.into_iter().max())
    }
}

impl Growth {
    /// Looks up those who are to be looked up.
    pub(super) fn resolve(&self, place: FigureScope<'_>, interrupt: &Interrupt) -> Result<()> {
        let FigureScope { collection, policy, view } = place;
        let unresolved = {
            let mut standings = self.standings.lock();
            stand(&mut standings, collection, view)?.figures.unresolved(policy)
        };
        if unresolved.is_empty() {
            return Ok(());
        }
        let view = view();
        let mut measured = Vec::with_capacity(unresolved.len());
        for one in unresolved {
            interrupt.check()?;
            measured.push((one, one.measure(&view, collection)?));
        }
        if let Some(standing) = self.standings.lock().get_mut(&collection) {
            let all_stay = standing.figures.resolve(&measured);
            standing.rewrites_kept |= !all_stay;
        }
        Ok(())
    }

    /// Looks up those of a collection by what guarded it at the last commit.
    fn resolve_crowded(&self, collection: CollectionId, view: &(dyn Fn() -> View + Sync)) {
        let known = self.standings.lock().get(&collection).map(|it| it.guarded.clone().flatten());
        let Some(guarded) = known else { return };
        let place = FigureScope { collection, policy: event::policy(guarded.as_ref()), view };
        if let Err(error) = self.resolve(place, &Interrupt::default()) {
            tracing::warn!(%error, "the largest documents could not be looked up");
        }
    }
}

impl Engine {
    /// Looks up the largest of collections where many come, until the engine closes.
    pub(crate) async fn resolve_growth(self: Arc<Self>) {
        let growth = &self.growth;
        loop {
            growth.crowded.rings.notified().await;
            for collection in std::mem::take(&mut *growth.crowded.collections.lock()) {
                turn::aside(|| growth.resolve_crowded(collection, &|| self.store.view()));
            }
        }
    }
}
