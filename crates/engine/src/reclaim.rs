//! Giving room back to the file system.
//!
//! Files that are no longer part of the trees are there for as long as someone may read by a
//! view of before. The store itself keeps such a view, of what has been synced; it is
//! exchanged by a sync, and then the storage engine lets go of what nobody sees any more.

use crate::Engine;
use crate::storage::{Commit, Mark, Store};
use error::{Code, Result};
use std::sync::Arc;
use std::time::Duration;

/// Between two times that what was deleted is given back below the reserve.
const RECLAIM_INTERVAL: Duration = Duration::from_secs(10);

impl Engine {
    /// Gives back what was deleted since the last time, while free space is below the reserve.
    pub(crate) async fn reclaim_when_low(self: Arc<Self>) {
        // Nothing is known of what was deleted before the start.
        let mut reclaimed = None;
        loop {
            tokio::time::sleep(RECLAIM_INTERVAL).await;
            if reclaimed >= Some(self.store.applied()) || !self.store.space().is_low() {
                continue;
            }
            if let Err(error) = self.reclaim().await {
                tracing::warn!(%error, "could not give back the room of what was deleted");
            }
            reclaimed = Some(self.store.applied());
        }
    }

    /// Has files go that are no longer part of the trees. Below the reserve of free space
    /// also gives back what was removed from files that stay.
    pub(crate) async fn reclaim(self: &Arc<Self>) -> Result<()> {
        self.exchange_view().await?;
        let live_bytes = self.live_bytes()?;
        self.on_store(move |store| store.reclaim(live_bytes)).await?;
        self.exchange_view().await?;
        self.on_store(Store::release).await
    }

    /// What all documents take.
    fn live_bytes(&self) -> Result<u64> {
        let (view, catalog) = (self.store.view(), self.registry.current());
        catalog.all().map(|collection| Ok(view.counts(collection.id)?.bytes)).sum()
    }

    /// Makes the view of what has been synced that of now.
    async fn exchange_view(&self) -> Result<()> {
        self.store.commit(Commit::of(Vec::new()), Mark::Synced).await?;
        Ok(())
    }

    /// Does what may take long on a thread of its own.
    async fn on_store(
        self: &Arc<Self>,
        work: impl FnOnce(&Store) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let engine = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&engine.store)).await;
        done.unwrap_or_else(|error| Err(Code::InternalError.error(error.to_string())))
    }
}
