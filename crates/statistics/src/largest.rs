//! The largest of many, kept as they change.
//!
//! At first everyone is kept. Once there are more than `KEPT_MAX`, the smallest go,
//! down to `KEPT_MIN`, and a floor remembers how large those were: nobody outside
//! reaches it. So whoever grows to the floor comes in, whoever shrinks below it goes
//! out, everyone else costs a comparison, and those kept are the largest there are.
//! Where most of them have gone out or away, fewer are left than someone wants to
//! see: then everyone has to be looked at anew (`suffices`).
//!
//! After a start it is known who they are and not how large. Those who are looked up
//! later, or never, keep their places meanwhile, and the smallest of the others go: so
//! nobody has to be looked up for someone to come.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;

const KEPT_MAX: usize = 128;
const KEPT_MIN: usize = 64;

#[derive(Debug, Clone, Default)]
pub struct Largest<T> {
    /// Nobody outside is as large as this.
    floor: u32,
    kept: FxHashMap<u64, Kept<T>>,
    /// How many of them are still to be looked up.
    unresolved: usize,
}

/// One of the largest, and what is noted of it.
#[derive(Debug, Clone, Default)]
pub struct Kept<T> {
    /// How large it is; `None` until someone has looked, after a start.
    pub value: Option<u32>,
    pub note: T,
}

/// Where someone stands after a change.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    Outside,
    /// Among the largest, and was not before.
    Came,
    Stays,
    /// No longer among the largest.
    Went,
}

impl<T: Default> Largest<T> {
    /// As it was left: those who are kept are still to be looked up.
    pub fn restore(floor: u32, kept: impl IntoIterator<Item = (u64, T)>) -> Largest<T> {
        let kept = kept.into_iter().map(|(id, note)| (id, Kept { value: None, note }));
        let kept: FxHashMap<_, _> = kept.collect();
        Largest { floor, unresolved: kept.len(), kept }
    }

    pub fn floor(&self) -> u32 {
        self.floor
    }

    /// Someone becomes larger or smaller, comes (`before` is `None`) or goes away
    /// (`after` is).
    pub fn change(&mut self, id: u64, before: Option<u32>, after: Option<u32>) -> Place {
        // As large as some outside, and none larger: one of them fills a gap as well.
        let gap = self.kept.len() < KEPT_MIN;
        let enters = after.is_some_and(|after| after >= self.floor || gap && self.is_near(after));
        let was_near = before.is_some_and(|before| self.is_near(before));
        // The floor may have risen above some whose size is not known.
        if !enters && !was_near && self.unresolved == 0 {
            return Place::Outside;
        }
        let known = self.kept.contains_key(&id);
        let stays = known && after.is_some_and(|after| self.is_near(after));
        match (known, enters || stays) {
            (true, true) => {
                self.set(id, after);
                Place::Stays
            }
            (true, false) => {
                self.remove(id);
                Place::Went
            }
            (false, true) => {
                self.kept.insert(id, Kept { value: after, note: T::default() });
                Place::Came
            }
            (false, false) => Place::Outside,
        }
    }

    /// Whether someone so large may be kept: some outside may be just as large, and
    /// none larger.
    fn is_near(&self, value: u32) -> bool {
        value.saturating_add(1) >= self.floor
    }

    pub fn get(&self, id: u64) -> Option<&Kept<T>> {
        self.kept.get(&id)
    }

    pub fn get_mut(&mut self, id: u64) -> Option<&mut Kept<T>> {
        self.kept.get_mut(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Kept<T>)> {
        self.kept.iter().map(|(id, kept)| (*id, kept))
    }

    /// Whether there are so many that the smallest should go.
    pub fn is_full(&self) -> bool {
        self.kept.len() - self.unresolved > KEPT_MAX
    }

    /// Whether there are more than there should be because some are not looked up.
    pub fn is_crowded(&self) -> bool {
        self.unresolved > 0 && self.kept.len() > KEPT_MAX
    }

    /// Those whose size is still to be looked up.
    pub fn unresolved(&self) -> Vec<u64> {
        self.kept.iter().filter(|(_, kept)| kept.value.is_none()).map(|(id, _)| *id).collect()
    }

    /// Tells how large one is that was looked up (`None`: it is not there). Who has changed
    /// meanwhile has told that himself. False if it is not among the largest, and goes.
    pub fn resolve(&mut self, id: u64, value: Option<u32>) -> bool {
        if self.kept.get(&id).is_none_or(|kept| kept.value.is_some()) {
            return true;
        }
        let stays = value.is_some_and(|value| self.is_near(value));
        match stays {
            true => self.set(id, value),
            false => self.remove(id),
        }
        stays
    }

    fn set(&mut self, id: u64, value: Option<u32>) {
        if let Some(kept) = self.kept.get_mut(&id) {
            self.unresolved -= usize::from(kept.value.is_none() && value.is_some());
            kept.value = value;
        }
    }

    fn remove(&mut self, id: u64) {
        if let Some(kept) = self.kept.remove(&id) {
            self.unresolved -= usize::from(kept.value.is_none());
        }
    }

    /// Lets the smallest go and says who they were. Who is not looked up stays.
    pub fn trim(&mut self) -> Vec<u64> {
        let gone: Vec<(u64, u32)> = self.ranked().into_iter().skip(KEPT_MIN).collect();
        let largest = gone.iter().map(|(_, value)| value).max();
        self.floor = self.floor.max(largest.map_or(0, |largest| largest.saturating_add(1)));
        gone.iter().for_each(|(id, _)| self.remove(*id));
        gone.into_iter().map(|(id, _)| id).collect()
    }

    /// Those who are kept and whose size is known, the largest first.
    pub fn ranked(&self) -> Vec<(u64, u32)> {
        let known = self.kept.iter().filter_map(|(id, kept)| Some((*id, kept.value?)));
        let mut ranked: Vec<_> = known.collect();
        ranked.sort_by_key(|(id, value)| (Reverse(*value), *id));
        ranked
    }

    /// Whether as many are kept as someone wants to see, of all there are.
    pub fn suffices(&self, wanted: usize, all: u64) -> bool {
        self.kept.len() as u64 >= all.min(wanted as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_few_are_kept() {
        let mut largest = Largest::<()>::default();
        assert_eq!(largest.change(1, None, Some(0)), Place::Came);
        assert_eq!(largest.change(2, None, Some(9)), Place::Came);
        assert_eq!(largest.change(1, Some(0), Some(5)), Place::Stays);
        assert_eq!(largest.change(2, Some(9), None), Place::Went);
        assert_eq!(largest.ranked(), [(1, 5)]);
        assert!(largest.suffices(10, 1) && !largest.suffices(10, 2));
    }

    #[test]
    fn of_many_alike_some_are_kept_and_no_more_come() {
        let mut largest = Largest::<()>::default();
        let mut came = 0;
        for id in 0..10_000 {
            came += usize::from(largest.change(id, None, Some(100)) == Place::Came);
            if largest.is_full() {
                largest.trim();
            }
        }
        assert_eq!((came, largest.kept.len(), largest.floor()), (KEPT_MAX + 1, KEPT_MIN, 101));
        assert!(largest.suffices(KEPT_MIN, 10_000));
        assert_eq!(largest.change(20_000, Some(100), Some(101)), Place::Came);
        assert_eq!(largest.change(20_000, Some(101), Some(99)), Place::Went);
    }

    #[test]
    fn gaps_are_filled_by_what_is_as_large() {
        // A queue: the oldest go while new ones come, all alike.
        let mut largest = Largest::<()>::default();
        for id in 0..10_000 {
            largest.change(id, None, Some(100));
            if largest.is_full() {
                largest.trim();
            }
            if let Some(oldest) = id.checked_sub(1_000) {
                largest.change(oldest, Some(100), None);
            }
            assert!(largest.suffices(KEPT_MIN - 1, id.min(1_000)), "{id}");
        }
    }

    #[test]
    fn what_was_left_is_looked_up_again() {
        let mut largest = Largest::restore(10, [(1, ()), (2, ()), (3, ())]);
        assert_eq!(largest.unresolved().len(), 3);
        assert!(largest.resolve(1, Some(30)));
        assert_eq!(largest.change(2, Some(20), Some(40)), Place::Stays);
        assert!(largest.resolve(2, Some(20)), "it has changed since it was looked up");
        assert!(!largest.resolve(3, None), "it is not there");
        assert!(largest.unresolved().is_empty());
        assert_eq!(largest.ranked(), [(2, 40), (1, 30)]);
    }

    #[test]
    fn the_largest_come_while_nobody_is_looked_up() {
        let of = |id: u64| id as u32 * 7_919 % 1_000;
        let mut largest = Largest::restore(0, (0..KEPT_MAX as u64).map(|id| (id, ())));
        for id in 128..2_000 {
            largest.change(id, None, Some(of(id)));
            if largest.is_full() {
                largest.trim();
            }
            assert!(largest.kept.len() <= 2 * KEPT_MAX);
        }
        assert!(largest.is_crowded());
        // The floor has risen above most of those that are not looked up.
        assert_eq!(largest.change(1, Some(of(1)), Some(3)), Place::Went);
        assert_eq!(largest.change(2, Some(of(2)), Some(1_000)), Place::Stays);
        for id in largest.unresolved() {
            largest.resolve(id, Some(of(id)));
        }
        assert!(!largest.is_crowded() && largest.unresolved == 0);
        largest.trim();
        let mut all: Vec<u32> = (3..2_000).map(of).chain([of(0), 3, 1_000]).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let kept: Vec<u32> = largest.ranked().into_iter().map(|(_, value)| value).collect();
        assert_eq!(kept, all[..KEPT_MIN]);
    }
}
