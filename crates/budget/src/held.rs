//! Reserved bytes that are given back when they go out of scope.

use crate::{Budget, Kind, process};
use error::{Error, Result};

/// What one holder may have without reserving it.
pub const FREE_BYTES: usize = 16 * 1024;

/// What is reserved at a time, at the least: most changes of size then touch no shared counter.
const STEP_BYTES: u64 = 64 * 1024;

/// A file is worth its while from this on: what has less and gets no room is refused.
pub const SPILL_BYTES_MIN: usize = 4 * 1024 * 1024;

/// Bytes that one holder has reserved.
#[derive(Debug)]
pub struct Held {
    budget: &'static Budget,
    kind: Kind,
    bytes: u64,
}

impl Held {
    /// Nothing yet, of the process's budget.
    pub fn new(kind: Kind) -> Held {
        Held::of(process(), kind)
    }

    /// Nothing yet, of any budget.
    pub const fn of(budget: &'static Budget, kind: Kind) -> Held {
        Held { budget, kind, bytes: 0 }
    }

    /// What is reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves what a size of so many bytes takes, or gives back what it does not take.
    /// Where there is no room, everything stays as it was.
    #[inline]
    pub fn resize(&mut self, bytes: usize) -> Result<()> {
        if fits(bytes, self.bytes) {
            return Ok(());
        }
        let wanted = wanted(bytes);
        match wanted.checked_sub(self.bytes) {
            Some(more) => self.budget.reserve(self.kind, more)?,
            None => self.budget.release(self.kind, self.bytes - wanted),
        }
        self.bytes = wanted;
        Ok(())
    }

    /// As `resize`, for what can wait: it leaves half of what its kind may take to those who
    /// cannot.
    pub fn resize_patiently(&mut self, bytes: usize) -> Result<()> {
        let more = wanted(bytes).saturating_sub(self.bytes);
        if more > 0 && self.budget.is_short(self.kind) {
            return Err(self.budget.exceeded(self.kind, more));
        }
        self.resize(bytes)
    }

    /// As `resize`, for what is there already: it is counted even where there is no room.
    #[inline]
    pub fn force(&mut self, bytes: usize) {
        if fits(bytes, self.bytes) {
            return;
        }
        let wanted = wanted(bytes);
        match wanted.checked_sub(self.bytes) {
            Some(more) => self.budget.force(self.kind, more),
            None => self.budget.release(self.kind, self.bytes - wanted),
        }
        self.bytes = wanted;
    }

    /// As `resize`, for what may go to a file. Where there is no room, gives what to say if
    /// there is no file either; with little in memory a file would not help, and it fails.
    #[inline]
    pub fn resize_or_spill(&mut self, bytes: usize) -> Result<Option<Error>> {
        match self.resize(bytes) {
            Ok(()) => Ok(None),
            Err(error) if bytes < SPILL_BYTES_MIN => Err(error),
            Err(error) => Ok(Some(error)),
        }
    }

    /// Whether what is kept for long had better go to a file: others hold much, and this is
    /// not little.
    pub fn should_spill(&self) -> bool {
        self.bytes >= SPILL_BYTES_MIN as u64 && self.budget.is_short(self.kind)
    }

    /// Gives everything back.
    pub fn clear(&mut self) {
        self.force(0);
    }
}

/// Whether a size is covered by what is reserved, and not much smaller.
fn fits(bytes: usize, reserved: u64) -> bool {
    let bytes = bytes as u64;
    let free = bytes <= FREE_BYTES as u64;
    (free && reserved == 0) || (!free && bytes <= reserved && reserved - bytes < 2 * STEP_BYTES)
}

/// What is reserved for a size.
fn wanted(bytes: usize) -> u64 {
    if bytes <= FREE_BYTES { 0 } else { (bytes as u64).next_multiple_of(STEP_BYTES) }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.release(self.kind, self.bytes);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use error::Code;

    const MEGABYTE: usize = 1024 * 1024;

    fn budget(memory_bytes: u64) -> &'static Budget {
        let budget = Box::leak(Box::new(Budget::unlimited()));
        budget.set_memory(memory_bytes);
        budget
    }

    #[test]
    fn what_can_wait_leaves_room_to_others() {
        let budget = budget(1 << 30);
        let (mut waits, mut other) = (Held::of(budget, Kind::Work), Held::of(budget, Kind::Work));
        waits.resize_patiently(MEGABYTE).unwrap();
        other.resize(200 * MEGABYTE).unwrap();
        assert!(waits.resize_patiently(2 * MEGABYTE).is_err());
        waits.resize_patiently(MEGABYTE).unwrap();
        other.clear();
        waits.resize_patiently(2 * MEGABYTE).unwrap();
    }

    #[test]
    fn what_is_held_is_counted_and_given_back() {
        let budget = budget(1 << 30);
        let mut held = Held::of(budget, Kind::Traffic);
        held.resize(FREE_BYTES).unwrap();
        assert_eq!(budget.held_bytes(Kind::Traffic), 0, "what is small is free");
        held.resize(MEGABYTE).unwrap();
        assert_eq!(budget.held_bytes(Kind::Traffic), MEGABYTE as u64);
        held.resize(3 * MEGABYTE).unwrap();
        held.resize(2 * MEGABYTE).unwrap();
        assert_eq!(budget.held_bytes(Kind::Traffic), 2 * MEGABYTE as u64);
        drop(held);
        assert_eq!(budget.held_bytes(Kind::Traffic), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_leaves_all_as_it_was() {
        let budget = budget(1 << 30);
        let most = (budget.limit_bytes() / 4 * 3) as usize;
        let mut held = Held::of(budget, Kind::Traffic);
        held.resize(most).unwrap();
        let mut other = Held::of(budget, Kind::Traffic);
        let error = other.resize(MEGABYTE).unwrap_err();
        assert_eq!(error.code(), Code::ExceededMemoryLimit);
        assert!(error.message().contains("--memory"), "{error}");
        assert_eq!(other.bytes(), 0);
        assert!(held.resize(most + MEGABYTE).is_err());
        assert_eq!(held.bytes(), most as u64);
        drop(held);
        other.resize(MEGABYTE).unwrap();
    }

    #[test]
    fn one_kind_leaves_room_for_the_other() {
        let budget = budget(1 << 30);
        let quarter = (budget.limit_bytes() / 4) as usize;
        let mut work = Held::of(budget, Kind::Work);
        work.resize(3 * quarter).unwrap();
        assert!(work.resize(3 * quarter + MEGABYTE).is_err());
        let mut traffic = Held::of(budget, Kind::Traffic);
        traffic.resize(quarter).unwrap();
        assert!(traffic.resize(quarter + MEGABYTE).is_err());
    }

    #[test]
    fn what_is_there_already_is_counted_without_room() {
        let budget = budget(1 << 30);
        let mut held = Held::of(budget, Kind::Traffic);
        held.force(2 << 30);
        assert!(Held::of(budget, Kind::Traffic).resize(MEGABYTE).is_err());
        held.clear();
        assert_eq!(budget.held_bytes(Kind::Traffic), 0);
    }

    #[test]
    fn much_goes_to_a_file_and_little_fails() {
        let budget = budget(1 << 30);
        let mut others = Held::of(budget, Kind::Work);
        others.resize((budget.limit_bytes() / 4 * 3) as usize - 2 * SPILL_BYTES_MIN).unwrap();
        let mut held = Held::of(budget, Kind::Work);
        assert!(held.resize_or_spill(SPILL_BYTES_MIN).unwrap().is_none());
        assert!(held.should_spill());
        assert!(held.resize_or_spill(3 * SPILL_BYTES_MIN).unwrap().is_some());
        others.force(2 << 30);
        held.clear();
        assert!(held.resize_or_spill(MEGABYTE).is_err());
        drop(others);
        held.resize(SPILL_BYTES_MIN).unwrap();
        assert!(!held.should_spill(), "there is room");
    }

    #[test]
    fn nothing_is_refused_without_a_limit() {
        let budget = Box::leak(Box::new(Budget::unlimited()));
        Held::of(budget, Kind::Work).resize(usize::MAX / 4).unwrap();
    }
}
