//! From intervals to stretches of key bytes.
//!
//! Leading fields that are bounded to single values are enumerated: every
//! combination, with the intervals of the field that follows, is one range read
//! from end to end. What later fields demand is checked key by key, and a key
//! outside says where the next one inside can be, so that the scan skips.

use super::interval::Intervals;
use crate::plan::Scan;
use value::key::{self, Direction};

/// More combinations than this are not enumerated; the scan skips through them.
pub const RANGES_MAX: usize = 1000;

/// The keys from `low` up to, not including, `high`; no `high` is no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    pub low: Vec<u8>,
    pub high: Option<Vec<u8>>,
}

/// The least bytes above everything that begins with `prefix`.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut bytes = prefix[..=keep].to_vec();
    bytes[keep] += 1;
    Some(bytes)
}

/// An interval of one field as the index stores it: inverted and turned around if
/// the field is descending.
#[derive(Debug, Clone)]
struct Stretch {
    low: Vec<u8>,
    low_inclusive: bool,
    high: Vec<u8>,
    high_inclusive: bool,
}

impl Stretch {
    /// Where the stretch begins behind a prefix; `None` is past every key.
    fn low_after(&self, prefix: &[u8]) -> Option<Vec<u8>> {
        let bytes = [prefix, &self.low].concat();
        if self.low_inclusive { Some(bytes) } else { successor(&bytes) }
    }

    /// Where it ends, exclusive; `None` is past every key.
    fn high_after(&self, prefix: &[u8]) -> Option<Vec<u8>> {
        let bytes = [prefix, &self.high].concat();
        if self.high_inclusive { successor(&bytes) } else { Some(bytes) }
    }

    fn is_above(&self, value: &[u8]) -> bool {
        if self.low_inclusive { value < self.low.as_slice() } else { value <= self.low.as_slice() }
    }

    fn is_below(&self, value: &[u8]) -> bool {
        if self.high_inclusive {
            value > self.high.as_slice()
        } else {
            value >= self.high.as_slice()
        }
    }
}

fn stretches(intervals: &Intervals, direction: Direction) -> Vec<Stretch> {
    let invert = |bytes: &[u8]| bytes.iter().map(|byte| !byte).collect::<Vec<u8>>();
    let all = intervals.as_slice().iter();
    match direction {
        Direction::Ascending => all
            .map(|one| Stretch {
                low: one.start.bytes.clone(),
                low_inclusive: one.start_inclusive,
                high: one.end.bytes.clone(),
                high_inclusive: one.end_inclusive,
            })
            .collect(),
        Direction::Descending => all
            .rev()
            .map(|one| Stretch {
                low: invert(&one.end.bytes),
                low_inclusive: one.end_inclusive,
                high: invert(&one.start.bytes),
                high_inclusive: one.start_inclusive,
            })
            .collect(),
    }
}

/// The ranges to read, in key order, and what is left to check for each key.
pub fn ranges(bounds: &[Intervals], directions: &[Direction]) -> (Vec<KeyRange>, Option<Checker>) {
    let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
    let mut fields = bounds.iter().zip(directions).peekable();
    while let Some((intervals, direction)) = fields.next_if(|(intervals, _)| {
        intervals.are_points() && prefixes.len() * intervals.as_slice().len() <= RANGES_MAX
    }) {
        let points = stretches(intervals, *direction);
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| points.iter().map(|point| [prefix.as_slice(), &point.low].concat()))
            .collect();
    }
    let ends =
        fields.next_if(|(intervals, _)| prefixes.len() * intervals.as_slice().len() <= RANGES_MAX);
    let ranges = match ends {
        Some((intervals, direction)) if !intervals.is_all() => {
            let ends = stretches(intervals, *direction);
            prefixes
                .iter()
                .flat_map(|prefix| ends.iter().filter_map(|end| between(prefix, end)))
                .collect()
        }
        _ => prefixes.iter().map(|prefix| under(prefix)).collect(),
    };
    let unchecked = fields.all(|(intervals, _)| intervals.is_all());
    let checker = (!unchecked).then(|| Checker::new(bounds, directions));
    (ranges, checker)
}

fn between(prefix: &[u8], stretch: &Stretch) -> Option<KeyRange> {
    Some(KeyRange { low: stretch.low_after(prefix)?, high: stretch.high_after(prefix) })
}

fn under(prefix: &[u8]) -> KeyRange {
    KeyRange { low: prefix.to_vec(), high: successor(prefix) }
}

/// Checks keys against the bounds of every field.
#[derive(Debug, Clone)]
pub struct Checker {
    fields: Vec<(Direction, Vec<Stretch>)>,
}

/// What a checker says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Inside,
    /// Outside, and no key is inside before this one: going forward the least key
    /// that can be, going backward an exclusive upper end.
    Seek(Vec<u8>),
    /// Outside, and nothing inside follows.
    Done,
}

impl Checker {
    fn new(bounds: &[Intervals], directions: &[Direction]) -> Checker {
        let fields = bounds
            .iter()
            .zip(directions)
            .map(|(intervals, direction)| (*direction, stretches(intervals, *direction)))
            .collect();
        Checker { fields }
    }

    pub fn check(&self, bytes: &[u8], scan: Scan) -> Verdict {
        let mut at = 0;
        for (direction, stretches) in &self.fields {
            let Some(len) = key::skip(&bytes[at..], *direction) else { return Verdict::Done };
            let value = &bytes[at..at + len];
            // The first stretch that does not lie wholly below the value.
            let next = stretches.partition_point(|stretch| stretch.is_below(value));
            let inside = stretches.get(next).is_some_and(|stretch| !stretch.is_above(value));
            if !inside {
                return match scan {
                    Scan::Forward => forward(&bytes[..at], stretches.get(next)),
                    Scan::Backward => {
                        let below = next.checked_sub(1).and_then(|at| stretches.get(at));
                        backward(&bytes[..at], below)
                    }
                };
            }
            at += len;
        }
        Verdict::Inside
    }
}

fn forward(prefix: &[u8], next: Option<&Stretch>) -> Verdict {
    let target = match next {
        Some(stretch) => stretch.low_after(prefix),
        None => successor(prefix),
    };
    target.map_or(Verdict::Done, Verdict::Seek)
}

fn backward(prefix: &[u8], next: Option<&Stretch>) -> Verdict {
    match next {
        Some(stretch) => match stretch.high_after(prefix) {
            Some(high) => Verdict::Seek(high),
            None => Verdict::Done,
        },
        None if prefix.is_empty() => Verdict::Done,
        None => Verdict::Seek(prefix.to_vec()),
    }
}
