//! Removing what lies under dropped prefixes, in the background.

use crate::Engine;
use crate::catalog::Collection;
use crate::storage::{Commit, Mark, Tree, TreeChange, View, failed, keys};
use error::{Code, Result};
use fjall::Slice;
use parking_lot::Mutex;
use std::collections::{BTreeSet, VecDeque};
use std::ops::{Bound, RangeInclusive};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// How often readers of dropped definitions are looked for.
const READERS_INTERVAL: Duration = Duration::from_millis(50);
/// Dropped prefixes that are looked up at once.
const PURGE_ROWS_MAX: usize = 65_536;
/// Keys removed in one commit.
const PURGE_KEYS_MAX: usize = 4_096;

/// What was dropped and is still to be purged.
#[derive(Debug, Default)]
pub struct PurgeQueue {
    /// Definitions that are no more, as long as readers rely on them: what they name is not
    /// purged.
    retired: Mutex<Vec<Weak<Collection>>>,
    /// Rings when something was dropped.
    rings: Notify,
}

impl PurgeQueue {
    /// Keeps what definitions name from being purged until their readers are gone. It comes
    /// before the commit that drops it.
    pub fn retire(&self, definitions: Vec<Weak<Collection>>) {
        self.retired.lock().extend(definitions);
    }

    /// Has what was dropped purged.
    pub fn purge(&self) {
        self.rings.notify_one();
    }
}

/// Dropped prefixes on their way out. Each turn goes on where the one before has ended: what
/// was removed is still in the trees for a while, and would be passed over again and again.
#[derive(Default)]
struct Purge {
    /// The rows of prefixes that nobody reads any more.
    rows: VecDeque<Slice>,
    /// The last row that was taken up.
    last_row: Option<Slice>,
    /// The last key that was removed under the first of the rows.
    last_key: Option<Slice>,
    has_discarded: bool,
}

/// Ids without a gap between them, together.
fn runs(ids: BTreeSet<u32>) -> Vec<RangeInclusive<u32>> {
    let mut runs: Vec<RangeInclusive<u32>> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some(run) if run.end().checked_add(1) == Some(id) => *run = *run.start()..=id,
            _ => runs.push(id..=id),
        }
    }
    runs
}

impl Engine {
    /// Purges what has been dropped whenever something was, until the engine closes.
    pub async fn purge_dropped(self: Arc<Self>) {
        loop {
            if let Err(error) = self.purge_all().await {
                tracing::debug!(%error, "purging dropped data stopped; the next start goes on with it");
                return;
            }
            self.purge_queue.rings.notified().await;
        }
    }

    /// Waits until nobody reads by a definition that is no more. A reader has its
    /// definition first and its view of the store after that, so what the
    /// definition names must still be there.
    async fn readers_gone(&self) {
        loop {
            {
                let mut retired = self.purge_queue.retired.lock();
                retired.retain(|definition| definition.strong_count() > 0);
                if retired.is_empty() {
                    return;
                }
            }
            tokio::time::sleep(READERS_INTERVAL).await;
        }
    }

    /// Each turn is taken aside of the threads that serve clients, and is short, so that a
    /// stop need not wait for it.
    async fn purge_all(self: &Arc<Self>) -> Result<()> {
        let mut purge = Purge::default();
        let mut found;
        loop {
            (purge, found) = self.aside(purge, Purge::look).await?;
            if !found {
                return Ok(());
            }
            self.readers_gone().await;
            purge = self.aside(purge, Purge::discard).await?.0;
            while !purge.rows.is_empty() {
                let changes;
                (purge, changes) = self.aside(purge, Purge::turn).await?;
                self.store.commit(Commit::of(changes), Mark::Applied).await?;
            }
            if purge.has_discarded || self.store.space().is_low() {
                self.reclaim().await?;
            }
        }
    }

    /// Takes a step on a thread of its own.
    async fn aside<T: Send + 'static>(
        self: &Arc<Self>,
        mut purge: Purge,
        step: fn(&mut Purge, &Engine) -> Result<T>,
    ) -> Result<(Purge, T)> {
        let engine = self.clone();
        let stepped = tokio::task::spawn_blocking(move || {
            let outcome = step(&mut purge, &engine)?;
            Ok((purge, outcome))
        });
        stepped.await.unwrap_or_else(|error| Err(Code::InternalError.error(error.to_string())))
    }

    /// How many dropped prefixes are still to be purged.
    pub fn unpurged(&self) -> usize {
        self.store.view().range(Tree::Records, keys::rows(keys::DROPPED_ROWS)).count()
    }
}

impl Purge {
    /// Looks for dropped prefixes after the last that was taken up; false if there is none.
    fn look(&mut self, engine: &Engine) -> Result<bool> {
        let (first, end) = keys::rows(keys::DROPPED_ROWS);
        let first = self.last_row.take().map_or(first, Bound::Excluded);
        let view = engine.store.view();
        for row in view.range(Tree::Records, (first, end)).take(PURGE_ROWS_MAX) {
            self.rows.push_back(row.map_err(failed)?.0);
        }
        self.last_row = self.rows.back().cloned();
        self.has_discarded = false;
        Ok(!self.rows.is_empty())
    }

    /// Gives back at once what holds nothing but dead keys. An id names one thing, in one or
    /// two of the trees, and is never given again: where it is dropped it is dead in all.
    fn discard(&mut self, engine: &Engine) -> Result<()> {
        let ids = self.rows.iter().filter_map(|row| keys::dropped_parts(row)).map(|(_, id)| id);
        for ids in runs(ids.collect()) {
            for tree in Tree::ALL {
                self.has_discarded |= engine.store.discard(tree, ids.clone())?;
            }
        }
        Ok(())
    }

    /// The removal of the next keys, and of the rows of prefixes that hold nothing more.
    fn turn(&mut self, engine: &Engine) -> Result<Vec<TreeChange>> {
        let view = engine.store.view();
        let mut changes = Vec::new();
        while changes.len() < PURGE_KEYS_MAX
            && let Some(row) = self.rows.front().cloned()
        {
            if let Some((tree, id)) = keys::dropped_parts(&row) {
                self.remove_some(&view, tree, id, &mut changes)?;
                if changes.len() >= PURGE_KEYS_MAX {
                    break;
                }
            }
            changes.push(TreeChange { tree: Tree::Records, key: row, value: None });
            self.rows.pop_front();
            self.last_key = None;
        }
        Ok(changes)
    }

    /// Removes the next keys under a prefix, as many as there is room for.
    fn remove_some(
        &mut self,
        view: &View,
        tree: Tree,
        id: u32,
        changes: &mut Vec<TreeChange>,
    ) -> Result<()> {
        let (first, end) = keys::prefix(id);
        let first = self.last_key.take().map_or(first, Bound::Excluded);
        let room = PURGE_KEYS_MAX - changes.len();
        for pair in view.range(tree, (first, end)).take(room) {
            let (key, _) = pair.map_err(failed)?;
            self.last_key = Some(key.clone());
            changes.push(TreeChange { tree, key, value: None });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_go_together() {
        let ids = BTreeSet::from([1, 2, 3, 7, 9, 10, u32::MAX - 1, u32::MAX]);
        let expected = [1..=3, 7..=7, 9..=10, u32::MAX - 1..=u32::MAX];
        assert_eq!(runs(ids), expected);
        assert!(runs(BTreeSet::new()).is_empty());
    }
}
