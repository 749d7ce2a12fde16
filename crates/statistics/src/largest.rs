//! The largest of many, kept as they change.
//!
//! At first everyone is kept. Once there are more than `KEPT_MAX`, the smallest go,
//! down to `KEPT_MIN`, and a floor remembers how large those were: nobody outside
//! reaches it. So whoever grows to the floor comes in, whoever shrinks below it goes
//! out, everyone else costs a comparison, and those kept are the largest there are.
//! Where most of them have gone out or away, fewer are left than someone wants to
//! see: then everyone has to be looked at anew (`suffices`).

use rustc_hash::FxHashMap;
use std::cmp::Reverse;

const KEPT_MAX: usize = 128;
const KEPT_MIN: usize = 64;

#[derive(Debug, Clone, Default)]
pub struct Largest<T> {
    /// Nobody outside is as large as this.
    floor: u32,
    kept: FxHashMap<u64, Kept<T>>,
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
        Largest { floor, kept: kept.collect() }
    }

    pub fn floor(&self) -> u32 {
        self.floor
    }

    /// Someone becomes larger or smaller, comes (`before` is `None`) or goes away
    /// (`after` is).
    pub fn change(&mut self, id: u64, before: Option<u32>, after: Option<u32>) -> Place {
        let enters = after.is_some_and(|after| after >= self.floor);
        let was_near = before.is_some_and(|before| self.is_near(before));
        if !enters && !was_near {
            return Place::Outside;
        }
        let known = self.kept.contains_key(&id);
        let stays = known && after.is_some_and(|after| self.is_near(after));
        match (known, enters || stays) {
            (true, true) => {
                self.resolve(id, after);
                Place::Stays
            }
            (true, false) => {
                self.kept.remove(&id);
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
        self.kept.len() > KEPT_MAX
    }

    /// Those whose size is still to be looked up.
    pub fn unresolved(&self) -> Vec<u64> {
        self.kept.iter().filter(|(_, kept)| kept.value.is_none()).map(|(id, _)| *id).collect()
    }

    /// Tells how large one is.
    pub fn resolve(&mut self, id: u64, value: Option<u32>) {
        if let Some(kept) = self.kept.get_mut(&id) {
            kept.value = value;
        }
    }

    /// Lets the smallest go and says who they were.
    pub fn trim(&mut self) -> Vec<u64> {
        let gone: Vec<(u64, u32)> = self.ranked().into_iter().skip(KEPT_MIN).collect();
        let largest = gone.iter().map(|(_, value)| value).max();
        self.floor = self.floor.max(largest.map_or(0, |largest| largest.saturating_add(1)));
        gone.iter().for_each(|(id, _)| drop(self.kept.remove(id)));
        gone.into_iter().map(|(id, _)| id).collect()
    }

    /// Those who are kept, the largest first.
    pub fn ranked(&self) -> Vec<(u64, u32)> {
        let value = |kept: &Kept<T>| kept.value.unwrap_or(0);
        let mut ranked: Vec<_> = self.kept.iter().map(|(id, kept)| (*id, value(kept))).collect();
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
    fn what_was_left_is_looked_up_again() {
        let mut largest = Largest::restore(10, [(1, ()), (2, ())]);
        assert_eq!(largest.unresolved().len(), 2);
        largest.resolve(1, Some(30));
        assert_eq!(largest.change(2, Some(20), Some(40)), Place::Stays);
        assert!(largest.unresolved().is_empty());
        assert_eq!(largest.ranked(), [(2, 40), (1, 30)]);
    }
}
