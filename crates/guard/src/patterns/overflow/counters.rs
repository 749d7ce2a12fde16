//! What a document says of its array: how many elements, and how many pages.

use crate::patterns::fields::Edits;
use crate::patterns::measured::Length;
use crate::patterns::place;
use crate::policy::Overflow;
use bson::{RawBson, RawBsonRef, RawDocument};
use value::{Element, Number};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// `None` where there is no array.
    pub count: Option<usize>,
    pub pages: usize,
}

/// A document's array and the fields that count it, found in one walk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'d> {
    pub array: Option<Element<'d>>,
    count: Option<Element<'d>>,
    flag: Option<Element<'d>>,
    pages: Option<Element<'d>>,
}

impl<'d> Seen<'d> {
    pub fn of(document: &'d RawDocument, rule: &Overflow) -> Seen<'d> {
        let paths = [&rule.path, &rule.count, &rule.flag, &rule.pages];
        let [array, count, flag, pages] = place::find_all(document, paths);
        Seen { array, count, flag, pages }
    }

    /// The same in the document's next version, which is known to have the same counters.
    pub fn in_next(self, next: &'d RawDocument, rule: &Overflow) -> Seen<'d> {
        let [array, count] = place::find_all(next, [&rule.path, &rule.count]);
        Seen { array, count, ..self }
    }

    pub fn counters(&self) -> Counters {
        Counters { count: number(self.count), pages: number(self.pages).unwrap_or(0) }
    }

    /// What stands where `Overflow::counters` are.
    pub fn fields(&self) -> [Option<Element<'d>>; 3] {
        [self.count, self.flag, self.pages]
    }
}

impl Counters {
    /// As the document has them.
    pub fn read(document: &RawDocument, rule: &Overflow) -> Counters {
        let [count, pages] = place::find_all(document, [&rule.count, &rule.pages]);
        Counters { count: number(count), pages: number(pages).unwrap_or(0) }
    }

    pub fn of(count: usize, pages: usize) -> Counters {
        Counters { count: Some(count), pages }
    }

    /// What `Overflow::counters` are to hold.
    pub fn values(self) -> [Option<RawBson>; 3] {
        let pages = (self.pages > 0).then_some(self.pages);
        [self.count.map(int), pages.map(|_| RawBson::Boolean(true)), pages.map(int)]
    }

    /// How long the array is, if that is known.
    pub fn length(self) -> Option<Length> {
        self.count.map(|elements| Length { elements, pages: self.pages })
    }

    /// Whether this is what a document says, in the very words that `write` finds for it.
    pub fn are_said(self, seen: &Seen<'_>) -> bool {
        let pages = (self.pages > 0).then_some(self.pages);
        says(seen.count, self.count) && flags(seen.flag, pages.is_some()) && says(seen.pages, pages)
    }

    /// Whether a document says otherwise. One that says nothing has not been
    /// written under the policy, and need not; what stands beside no array is no
    /// counter before a write makes it one, unless it speaks of pages.
    pub fn are_misstated(self, seen: &Seen<'_>) -> bool {
        if self == Counters::default() && seen.counters().pages == 0 {
            return false;
        }
        !self.are_said(seen) && seen.fields().iter().any(Option::is_some)
    }

    /// The edits that give a document these counters.
    pub fn write<'r>(self, rule: &'r Overflow, seen: &Seen<'_>, edits: &mut Edits<'r>) {
        let pages = (self.pages > 0).then_some(self.pages);
        if !says(seen.count, self.count) {
            edits.push((&rule.count, self.count.map(int)));
        }
        if !flags(seen.flag, pages.is_some()) {
            edits.push((&rule.flag, pages.map(|_| RawBson::Boolean(true))));
        }
        if !says(seen.pages, pages) {
            edits.push((&rule.pages, pages.map(int)));
        }
    }
}

/// Whether a document says that its array has pages.
pub fn has_pages(document: &RawDocument, rule: &Overflow) -> bool {
    number(place::find(document, &rule.pages)).is_some_and(|pages| pages > 0)
}

fn number(element: Option<Element<'_>>) -> Option<usize> {
    let number = match element?.value() {
        RawBsonRef::Int32(number) => i64::from(number),
        other => Number::from_value(other)?.to_i64_exact()?,
    };
    usize::try_from(number).ok()
}

/// Whether a field is there with this number, or neither is.
fn says(field: Option<Element<'_>>, number: Option<usize>) -> bool {
    match (field.map(|field| field.value()), number) {
        (Some(RawBsonRef::Int32(said)), Some(number)) => i32::try_from(number) == Ok(said),
        (Some(said), Some(number)) => said == int(number).as_raw_bson_ref(),
        (None, None) => true,
        _ => false,
    }
}

/// Whether a flag is there that says so, or neither is.
fn flags(field: Option<Element<'_>>, flagged: bool) -> bool {
    match field {
        Some(field) => flagged && field.value() == RawBsonRef::Boolean(true),
        None => !flagged,
    }
}

pub fn int(number: usize) -> RawBson {
    i32::try_from(number).map_or(RawBson::Int64(number as i64), RawBson::Int32)
}
