//! Applying a group of commits as one batch.

use super::{Bookkeeper, Commit, Figures};
use crate::storage::large::Secret;
use crate::storage::trees::{Change, Failure, Tree, Trees};
use crate::storage::{Clock, Log, View, keys};
use rustc_hash::FxHashSet;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The one who applies; whoever holds it does.
pub struct Applier {
    pub clock: Arc<Clock>,
    pub log: Arc<Log>,
    pub bookkeeper: Arc<dyn Bookkeeper>,
    /// For views of the trees.
    pub secret: Secret,
}

/// What applied commits held, to be dropped once everyone can see them.
pub type Held = Vec<Box<dyn Any + Send>>;

impl Applier {
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
        let mut ledger = self.bookkeeper.open();
        let view = || View::new(trees.snapshot(), self.secret);
        let mut writes = 0;
        let mut logged = false;
        for commit in group {
            writes += commit.writes;
            if let Some(entry) = commit.entry {
                ledger.take(entry, &commit.changes, &view)?;
            }
            changes.extend(commit.changes);
            logged |= self.log.take(commit.log, &mut changes);
            self.clock.note_commit();
            if let Some(publish) = commit.publish {
                publish();
            }
            held.push(commit.held);
        }
        let after_apply = ledger.close(&mut changes);
        if logged {
            changes.push(self.log.row());
        }
        changes.extend(self.clock.row());
        if commits > 1 {
            keep_last_rows(&mut changes);
        }
        trees.apply(changes)?;
        if let Some(act) = after_apply {
            act();
        }
        figures.writes.fetch_add(writes, Ordering::Relaxed);
        figures.commits.fetch_add(commits as u64, Ordering::Relaxed);
        figures.groups.fetch_add(1, Ordering::Relaxed);
        Ok(held)
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
