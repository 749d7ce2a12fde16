//! Removing what lies under dropped prefixes, in the background.

use crate::Engine;
use crate::storage::{Change, Commit, Mark, Tree, keys};
use error::Result;
use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

type KeyRange = (Bound<Slice>, Bound<Slice>);

/// How often readers of dropped definitions are looked for.
const READERS_INTERVAL: Duration = Duration::from_millis(50);
/// Keys removed in one commit.
const PURGE_KEYS_MAX: usize = 4_096;

impl Engine {
    /// Purges what has been dropped whenever something was, until the engine closes.
    pub async fn purge_dropped(self: Arc<Self>) {
        loop {
            if let Err(error) = self.purge_all().await {
                tracing::debug!(%error, "purging dropped data stopped; the next start goes on with it");
                return;
            }
            self.purge.notified().await;
        }
    }

    /// Waits until nobody reads by a definition that is no more. A reader has its
    /// definition first and its view of the store after that, so what the
    /// definition names must still be there.
    async fn readers_gone(&self) {
        loop {
            {
                let mut retired = self.retired.lock();
                retired.retain(|definition| definition.strong_count() > 0);
                if retired.is_empty() {
                    return;
                }
            }
            tokio::time::sleep(READERS_INTERVAL).await;
        }
    }

    async fn purge_all(&self) -> Result<()> {
        loop {
            let view = self.store.view();
            let row = view.range(Tree::Records, keys::rows(keys::DROPPED_ROWS)).next();
            drop(view);
            let Some(row) = row else { return Ok(()) };
            self.readers_gone().await;
            let (key, _) = row.map_err(crate::storage::failed)?;
            if let Some((tree, id)) = keys::dropped_parts(&key) {
                let mut rest = keys::prefix(id);
                while let Some(last) = self.purge_some(tree, rest.clone()).await? {
                    // What was removed before it is not looked at again.
                    rest.0 = Bound::Excluded(last);
                }
            }
            let done = Change { tree: Tree::Records, key, value: None };
            self.commit_changes(vec![done]).await?;
        }
    }

    /// How many dropped prefixes are still to be purged.
    pub fn dropped(&self) -> usize {
        self.store.view().range(Tree::Records, keys::rows(keys::DROPPED_ROWS)).count()
    }

    /// Removes the first keys of a range and gives the last of them, if there was any.
    async fn purge_some(&self, tree: Tree, range: KeyRange) -> Result<Option<Slice>> {
        let view = self.store.view();
        let pairs = view.range(tree, range).take(PURGE_KEYS_MAX);
        let mut changes = Vec::new();
        for pair in pairs {
            let (key, _) = pair.map_err(crate::storage::failed)?;
            changes.push(Change { tree, key, value: None });
        }
        drop(view);
        let last = changes.last().map(|change| change.key.clone());
        if last.is_some() {
            self.commit_changes(changes).await?;
        }
        Ok(last)
    }

    async fn commit_changes(&self, changes: Vec<Change>) -> Result<()> {
        self.store.commit(Commit::of(changes), Mark::Applied).await?;
        Ok(())
    }
}
