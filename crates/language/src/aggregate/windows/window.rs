//! The window of one function as it moves through a partition: it begins and ends later and
//! later.

use super::arithmetic::{Places, add};
use super::bounds::Bound;
use super::{Bounds, Specification};
use crate::aggregate::expressions::date::unit::{self, Unit};
use crate::aggregate::expressions::date::zone::Zone;
use bson::RawDocument;
use error::{Code, Result};
use std::collections::VecDeque;
use std::ops::Range;
use value::Number;

/// The bounds of a function, and what documents are sorted by.
#[derive(Debug, Clone)]
pub struct Frame {
    pub bounds: Bounds,
    pub places: Places,
}

/// Documents are known by their number in the partition.
#[derive(Debug)]
pub struct Window {
    frame: Frame,
    /// How many documents were taken in.
    taken: usize,
    /// The document whose window is next.
    at: usize,
    start: usize,
    end: usize,
    /// Where the documents from `first` on stand, for windows by value.
    values: VecDeque<Number>,
    first: usize,
}

impl Frame {
    pub fn parse(function: Specification<'_>) -> Result<Frame> {
        Ok(Frame { bounds: Bounds::parse(function)?, places: Places::by(function.sort) })
    }

    pub fn start(&self) -> Window {
        Window {
            frame: self.clone(),
            taken: 0,
            at: 0,
            start: 0,
            end: 0,
            values: VecDeque::new(),
            first: 0,
        }
    }
}

impl Window {
    pub fn take(&mut self, document: &RawDocument) -> Result<()> {
        if let Bounds::Range(_, _, unit) = self.frame.bounds {
            self.values.push_back(self.place(document, unit.is_some())?);
        }
        self.taken += 1;
        Ok(())
    }

    /// Moves to the window of the next document; `None`: more have to be taken in first.
    pub fn next(&mut self, ended: bool) -> Result<Option<Range<usize>>> {
        let (lower, upper, unit) = match self.frame.bounds {
            Bounds::Documents(lower, upper) => (lower, upper, None),
            Bounds::Range(lower, upper, unit) => (lower, upper, Some(unit)),
        };
        let end = match (upper, unit) {
            (Bound::Unbounded, _) => ended.then_some(self.taken),
            (Bound::Current, _) => self.reached(1, ended),
            (Bound::Offset(by), None) => {
                self.reached(by.to_i64_saturated().saturating_add(1), ended)
            }
            (Bound::Offset(by), Some(unit)) => self.end_by_value(by, unit, ended)?,
        };
        let Some(end) = end else { return Ok(None) };
        let start = match (lower, unit) {
            (Bound::Unbounded, _) => Some(0),
            (Bound::Current, _) => Some(self.at),
            (Bound::Offset(by), None) => self.reached(by.to_i64_saturated(), true),
            (Bound::Offset(by), Some(unit)) => self.start_by_value(by, unit)?,
        };
        let Some(start) = start else { return Ok(None) };
        (self.start, self.end) = (start, end.max(start));
        self.at += 1;
        self.forget();
        Ok(Some(self.start..self.end))
    }

    pub fn bytes(&self) -> usize {
        self.values.len() * size_of::<Number>()
    }

    /// So many documents from the current one, as far as there are any; `None` where that
    /// is not known yet.
    fn reached(&self, by: i64, ended: bool) -> Option<usize> {
        let to = usize::try_from((self.at as i64).saturating_add(by)).unwrap_or(0);
        (ended || to <= self.taken).then(|| to.min(self.taken))
    }

    fn end_by_value(
        &mut self,
        by: Number,
        unit: Option<Unit>,
        ended: bool,
    ) -> Result<Option<usize>> {
        let Some(current) = self.value(self.at) else { return Ok(None) };
        let most = moved(current, by, unit)?;
        while self.value(self.end).is_some_and(|value| value.compare(most).is_le()) {
            self.end += 1;
        }
        Ok((ended || self.end < self.taken).then_some(self.end))
    }

    fn start_by_value(&mut self, by: Number, unit: Option<Unit>) -> Result<Option<usize>> {
        let Some(current) = self.value(self.at) else { return Ok(None) };
        let least = moved(current, by, unit)?;
        while self.value(self.start).is_some_and(|value| value.compare(least).is_lt()) {
            self.start += 1;
        }
        Ok(Some(self.start))
    }

    fn value(&self, at: usize) -> Option<Number> {
        self.values.get(at.checked_sub(self.first)?).copied()
    }

    /// Lets go of what no later window looks at.
    fn forget(&mut self) {
        while self.first < self.at.min(self.start) && self.values.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// What a document is sorted by: a number, or a date in milliseconds.
    fn place(&self, document: &RawDocument, dates: bool) -> Result<Number> {
        match (self.frame.places.of(document), dates) {
            (Ok(place), _) if place.is_date() == dates => Ok(place.number()),
            (place, true) => Err(Code::location(5429513).error(format!(
                "Invalid range: Expected the sortBy field to be a Date, but it was {}",
                place.err().unwrap_or("a number")
            ))),
            (Ok(_), false) => Err(Code::location(5429413).error(
                "Invalid range: For windows that involve date or time ranges, a unit must be provided.",
            )),
            (Err(found), false) => Err(Code::location(5429414).error(format!(
                "Invalid range: Expected the sortBy field to be a number, but it was {found}"
            ))),
        }
    }
}

/// A place so far away from another.
fn moved(base: Number, by: Number, unit: Option<Unit>) -> Result<Number> {
    let Some(unit) = unit else {
        // Decimals, so that tenths add up to what they look like.
        let exact = |number: Number| Number::Decimal(number.to_decimal());
        return Ok(add(exact(base), exact(by)));
    };
    let (millis, amount) = (base.to_i64_saturated(), by.to_i64_saturated());
    Ok(Number::Int64(unit::add(millis, unit, amount, &Zone::UTC)?))
}
