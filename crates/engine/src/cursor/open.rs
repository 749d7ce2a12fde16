//! The open cursors, found by their numbers and by their sessions: the end of a session or a
//! transaction finds its own among very many.

use super::Slot;
use crate::storage::SessionId;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub(super) struct OpenCursors {
    slots: FxHashMap<i64, Slot>,
    /// Invariant: the numbers of those slots that have a session, and no others.
    by_session: FxHashMap<SessionId, FxHashSet<i64>>,
}

impl OpenCursors {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn contains(&self, id: i64) -> bool {
        self.slots.contains_key(&id)
    }

    pub fn get_mut(&mut self, id: i64) -> Option<&mut Slot> {
        self.slots.get_mut(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (i64, &Slot)> {
        self.slots.iter().map(|(id, slot)| (*id, slot))
    }

    /// The cursors of a session.
    pub fn of_session(&self, session: SessionId) -> impl Iterator<Item = (i64, &Slot)> {
        let ids = self.by_session.get(&session).into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.slots.get(id)?)))
    }

    pub fn insert(&mut self, id: i64, slot: Slot) {
        if let Some(session) = slot.owner.session {
            self.by_session.entry(session).or_default().insert(id);
        }
        self.slots.insert(id, slot);
    }

    pub fn remove(&mut self, id: i64) -> Option<Slot> {
        let slot = self.slots.remove(&id)?;
        if let Some(session) = slot.owner.session
            && let Some(ids) = self.by_session.get_mut(&session)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_session.remove(&session);
            }
        }
        Some(slot)
    }

    /// Takes out a cursor if it is as wanted.
    pub fn take(&mut self, id: i64, wanted: impl FnOnce(&Slot) -> bool) -> Option<Slot> {
        self.slots.get(&id).is_some_and(wanted).then(|| self.remove(id)).flatten()
    }

    /// Takes out those that are wanted, to be dropped when the list is no longer locked.
    pub fn take_if(&mut self, mut wanted: impl FnMut(&mut Slot) -> bool) -> Vec<Slot> {
        let slots = self.slots.iter_mut();
        let ids: Vec<i64> = slots.filter_map(|(id, slot)| wanted(slot).then_some(*id)).collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}
