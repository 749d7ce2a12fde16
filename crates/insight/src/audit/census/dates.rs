//! Dates found at one path, and how old they are.

use super::{Distribution, Span};

const MILLIS_A_DAY: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone)]
pub struct Dates {
    now: i64,
    pub span: Span,
    /// Days before now; what is to come counts as of today.
    pub ages: Distribution,
}

impl Dates {
    pub fn new(now: i64) -> Dates {
        Dates { now, span: Span::NONE, ages: Distribution::new() }
    }

    pub fn now(&self) -> i64 {
        self.now
    }

    #[inline]
    pub fn add(&mut self, millis: i64) {
        self.span.add(millis);
        let age = u64::try_from(self.now.saturating_sub(millis)).unwrap_or(0);
        self.ages.record(age / MILLIS_A_DAY);
    }
}
