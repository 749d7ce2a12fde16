//! Intervals of values and ordered lists of them.
//!
//! Ends are compared by their key bytes, so that an interval means exactly what
//! the index stores, collation included.

use bson::{RawBson, RawBsonRef};
use std::cmp::Ordering;
use value::Collator;
use value::key::{Direction, Key};

/// One end of an interval: the value, and its ascending key bytes.
#[derive(Debug, Clone)]
pub struct End {
    pub value: RawBson,
    pub bytes: Vec<u8>,
}

impl End {
    pub fn new(value: RawBson, collator: Option<&Collator>) -> End {
        let mut key = Key::default();
        key.push(value.as_raw_bson_ref(), Direction::Ascending, collator);
        End { value, bytes: key.bytes }
    }
}

impl PartialEq for End {
    fn eq(&self, other: &End) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for End {}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &End) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for End {
    fn cmp(&self, other: &End) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

/// The values from `start` to `end`, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    pub start: End,
    pub start_inclusive: bool,
    pub end: End,
    pub end_inclusive: bool,
}

impl Interval {
    pub fn point(end: End) -> Interval {
        Interval { start: end.clone(), start_inclusive: true, end, end_inclusive: true }
    }

    pub fn is_point(&self) -> bool {
        self.start_inclusive && self.end_inclusive && self.start == self.end
    }

    fn is_empty(&self) -> bool {
        match self.start.cmp(&self.end) {
            Ordering::Less => false,
            Ordering::Equal => !(self.start_inclusive && self.end_inclusive),
            Ordering::Greater => true,
        }
    }

    fn intersect(&self, other: &Interval) -> Option<Interval> {
        let (start, start_inclusive) = match self.start.cmp(&other.start) {
            Ordering::Less => (&other.start, other.start_inclusive),
            Ordering::Greater => (&self.start, self.start_inclusive),
            Ordering::Equal => (&self.start, self.start_inclusive && other.start_inclusive),
        };
        let (end, end_inclusive) = match self.end.cmp(&other.end) {
            Ordering::Less => (&self.end, self.end_inclusive),
            Ordering::Greater => (&other.end, other.end_inclusive),
            Ordering::Equal => (&self.end, self.end_inclusive && other.end_inclusive),
        };
        let both =
            Interval { start: start.clone(), start_inclusive, end: end.clone(), end_inclusive };
        (!both.is_empty()).then_some(both)
    }

    /// Whether the two overlap or touch, `self` starting first.
    fn joins(&self, next: &Interval) -> bool {
        match self.end.cmp(&next.start) {
            Ordering::Greater => true,
            Ordering::Equal => self.end_inclusive || next.start_inclusive,
            Ordering::Less => false,
        }
    }
}

/// Intervals in ascending order that neither overlap nor touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervals(Vec<Interval>);

impl Intervals {
    pub fn none() -> Intervals {
        Intervals(Vec::new())
    }

    pub fn all() -> Intervals {
        Intervals(vec![Interval {
            start: End::new(RawBson::MinKey, None),
            start_inclusive: true,
            end: End::new(RawBson::MaxKey, None),
            end_inclusive: true,
        }])
    }

    pub fn point(value: RawBson, collator: Option<&Collator>) -> Intervals {
        Intervals(vec![Interval::point(End::new(value, collator))])
    }

    pub fn one(interval: Interval) -> Intervals {
        Intervals::of(vec![interval])
    }

    /// Brings any intervals into order and joins those that overlap.
    pub fn of(mut intervals: Vec<Interval>) -> Intervals {
        intervals.retain(|interval| !interval.is_empty());
        intervals
            .sort_by(|a, b| a.start.cmp(&b.start).then(b.start_inclusive.cmp(&a.start_inclusive)));
        let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
        for next in intervals {
            match joined.last_mut() {
                Some(last) if last.joins(&next) => match last.end.cmp(&next.end) {
                    Ordering::Less => {
                        last.end = next.end;
                        last.end_inclusive = next.end_inclusive;
                    }
                    Ordering::Equal => last.end_inclusive |= next.end_inclusive,
                    Ordering::Greater => {}
                },
                _ => joined.push(next),
            }
        }
        Intervals(joined)
    }

    pub fn as_slice(&self) -> &[Interval] {
        &self.0
    }

    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything there is: no bound at all.
    pub fn is_all(&self) -> bool {
        matches!(
            self.0.as_slice(),
            [Interval {
                start: End { value: RawBson::MinKey, .. },
                start_inclusive: true,
                end: End { value: RawBson::MaxKey, .. },
                end_inclusive: true,
            }]
        )
    }

    /// Exactly one value.
    pub fn is_point(&self) -> bool {
        matches!(self.0.as_slice(), [interval] if interval.is_point())
    }

    /// Single values only: an equality or a list of them.
    pub fn are_points(&self) -> bool {
        self.0.iter().all(Interval::is_point)
    }

    pub fn intersect(&self, other: &Intervals) -> Intervals {
        let mut both = Vec::new();
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
            both.extend(left.intersect(right));
            if left.end <= right.end {
                a.next();
            } else {
                b.next();
            }
        }
        Intervals::of(both)
    }

    /// What is in all of these; of none, everything. Neighbours are intersected before their
    /// results are, since lists that get longer with each step would be walked too often.
    pub fn intersection(mut lists: Vec<Intervals>) -> Intervals {
        while lists.len() > 1 {
            let mut pairs = Vec::with_capacity(lists.len().div_ceil(2));
            let mut rest = lists.into_iter();
            while let Some(first) = rest.next() {
                pairs.push(match rest.next() {
                    Some(second) => first.intersect(&second),
                    None => first,
                });
            }
            lists = pairs;
        }
        lists.pop().unwrap_or_else(Intervals::all)
    }

    pub fn union(self, other: Intervals) -> Intervals {
        let mut intervals = self.0;
        intervals.extend(other.0);
        Intervals::of(intervals)
    }

    /// Every value that is not in these.
    pub fn complement(&self) -> Intervals {
        let mut start = End::new(RawBson::MinKey, None);
        let mut start_inclusive = true;
        let mut rest = Vec::with_capacity(self.0.len() + 1);
        for interval in &self.0 {
            rest.push(Interval {
                start,
                start_inclusive,
                end: interval.start.clone(),
                end_inclusive: !interval.start_inclusive,
            });
            start = interval.end.clone();
            start_inclusive = !interval.end_inclusive;
        }
        let end = End::new(RawBson::MaxKey, None);
        rest.push(Interval { start, start_inclusive, end, end_inclusive: true });
        Intervals::of(rest)
    }

    /// Whether every value of these is one of the others.
    pub fn within(&self, others: &Intervals) -> bool {
        self.intersect(others) == *self
    }

    pub fn contains(&self, value: RawBsonRef<'_>, collator: Option<&Collator>) -> bool {
        let mut key = Key::default();
        key.push(value, Direction::Ascending, collator);
        self.0.iter().any(|interval| {
            let after_start = match key.bytes.cmp(&interval.start.bytes) {
                Ordering::Greater => true,
                Ordering::Equal => interval.start_inclusive,
                Ordering::Less => false,
            };
            let before_end = match key.bytes.cmp(&interval.end.bytes) {
                Ordering::Less => true,
                Ordering::Equal => interval.end_inclusive,
                Ordering::Greater => false,
            };
            after_start && before_end
        })
    }
}
