//! Applying a group of commits as one batch.

use super::{Bookkeeper, Commit, CommitFigures, CommitWrites};
use crate::storage::deferred::{Backlog, Deferred};
use crate::storage::large::Secret;
use crate::storage::trees::{Failure, Tree, TreeChange, Trees};
use crate::storage::{Clock, Log, View, keys};
use budget::Held;
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
    pub backlog: Arc<Backlog>,
}

/// What applied commits leave behind.
#[derive(Default)]
pub struct AppliedGroup {
    /// What they held and reserved, to be dropped once everyone can see them.
    pub held: Vec<(Box<dyn Any + Send>, Held)>,
    /// What is still to be added to the trees.
    pub unsettled: Vec<Unsettled>,
}

/// A commit whose changes are still to be added to the trees.
pub struct Unsettled {
    /// Its place in its group.
    pub at: usize,
    pub deferred: Arc<Deferred>,
    pub held: Box<dyn Any + Send>,
}

impl Applier {
    /// Once the last of deferred changes are applied.
    pub fn settled(&mut self, deferred: &Arc<Deferred>) {
        self.backlog.remove(deferred);
    }

    /// Applies commits in order, all of them or none.
    pub fn apply(
        &mut self,
        group: Vec<Commit>,
        trees: &dyn Trees,
        figures: &CommitFigures,
    ) -> Result<AppliedGroup, Failure> {
        let commits = group.len();
        let mut changes = Vec::with_capacity(group.iter().map(|c| c.changes.len() + 1).sum());
        let mut applied = AppliedGroup::default();
        let mut ledger = self.bookkeeper.open();
        let view = || View::new(self.backlog.snapshot(), self.secret);
        let mut writes = 0;
        let mut logged = false;
        for (at, mut commit) in group.into_iter().enumerate() {
            writes += commit.writes;
            if let Some(entry) = commit.entry.take() {
                ledger.take(entry, &CommitWrites::by(&commit), &view)?;
            }
            changes.extend(commit.changes);
            logged |= self.log.take(commit.log, &mut changes);
            self.clock.note_commit();
            if let Some(publish) = commit.publish {
                publish();
            }
            let held = commit.held;
            match commit.deferred {
                Some(packed) => {
                    let deferred = self.backlog.add(packed, &mut changes);
                    applied.unsettled.push(Unsettled { at, deferred, held });
                }
                None => applied.held.push((held, commit.memory)),
            }
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
        Ok(applied)
    }
}

/// Intents keep the commits of a group from writing the same key, but for rows
/// of the catalog that several may set to the same value.
fn keep_last_rows(changes: &mut Vec<TreeChange>) {
    let mut seen = FxHashSet::default();
    let mut at = changes.len();
    while at > 0 {
        at -= 1;
        let TreeChange { tree, key, .. } = &changes[at];
        if *tree == Tree::Records && keys::is_row(key) && !seen.insert(key.clone()) {
            changes.swap_remove(at);
        }
    }
}
