//! Applying a group of commits as one batch.

use super::{Commit, Delta, Figures};
use crate::storage::trees::{Change, Failure, Tree, Trees};
use crate::storage::{CollectionId, Counts, Log, keys};
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The one who applies; whoever holds it does.
pub struct Applier {
    /// The counts of collections written to since the start, as of the last group.
    counts: FxHashMap<CollectionId, Counts>,
    log: Arc<Log>,
}

/// What applied commits held, to be dropped once everyone can see them.
pub type Held = Vec<Box<dyn Any + Send>>;

impl Applier {
    pub fn new(log: Arc<Log>) -> Applier {
        Applier { counts: FxHashMap::default(), log }
    }

    /// Applies commits in order, all of them or none.
    pub fn apply(
        &mut self,
        group: Vec<Commit>,
        trees: &dyn Trees,
        figures: &Figures,
    ) -> Result<Held, Failure> {
        let commits = group.len();
        let mut changes = Vec::with_capacity(group.iter().map(|c| c.changes.len() + 1).sum());
        let mut held = Vec::with_capacity(commits);
        let mut touched: Vec<CollectionId> = Vec::new();
        let mut writes = 0;
        let mut logged = false;
        for commit in group {
            for (collection, delta) in commit.counts {
                writes += delta.documents.unsigned_abs().max(1);
                self.count(collection, delta, trees)?;
                if !touched.contains(&collection) {
                    touched.push(collection);
                }
            }
            changes.extend(commit.changes);
            logged |= self.log.take(commit.log, &mut changes);
            if let Some(publish) = commit.publish {
                publish();
            }
            held.push(commit.held);
        }
        for collection in touched {
            let value = self.counts.get(&collection).map(|counts| counts.write());
            changes.push(Change { tree: Tree::Records, key: keys::counts(collection), value });
        }
        if logged {
            changes.push(self.log.row());
        }
        if commits > 1 {
            keep_last_rows(&mut changes);
        }
        trees.apply(changes)?;
        figures.writes.fetch_add(writes, Ordering::Relaxed);
        figures.commits.fetch_add(commits as u64, Ordering::Relaxed);
        figures.groups.fetch_add(1, Ordering::Relaxed);
        Ok(held)
    }

    fn count(
        &mut self,
        collection: CollectionId,
        delta: Delta,
        trees: &dyn Trees,
    ) -> Result<(), Failure> {
        let counts = match self.counts.get(&collection) {
            Some(counts) => *counts,
            None => {
                let row = trees.snapshot().get(Tree::Records, &keys::counts(collection))?;
                row.map_or_else(Counts::default, |row| Counts::read(&row))
            }
        };
        let counts = Counts {
            documents: counts.documents.saturating_add_signed(delta.documents),
            bytes: counts.bytes.saturating_add_signed(delta.bytes),
        };
        self.counts.insert(collection, counts);
        Ok(())
    }
}

/// Intents keep the commits of a group from writing the same key, but for rows
/// of the catalog that several may set to the same value.
fn keep_last_rows(changes: &mut Vec<Change>) {
    let mut seen = FxHashSet::default();
    let mut at = changes.len();
    while at > 0 {
        at -= 1;
        let Change { tree, key, .. } = &changes[at];
        if *tree == Tree::Records && keys::is_row(key) && !seen.insert(key.clone()) {
            changes.swap_remove(at);
        }
    }
}
