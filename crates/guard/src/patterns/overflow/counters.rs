//! How many elements and pages an array has, as its document and its sidecar say.

use super::amends::Amends;
use super::mass::Mass;
use super::sidecar;
use crate::patterns::measured::Length;
use crate::patterns::place;
use crate::policy::Overflow;
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument};
use value::{Element, Number, Path};
use write::Version;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// `None` where there is no array, or where nothing says how long it is: without pages it
    /// is there to be counted.
    pub count: Option<usize>,
    pub pages: usize,
    /// What the values of all elements take, where that is kept and known (`Mass`). Documents
    /// that an earlier version wrote do not say: they are counted when a read needs the number.
    pub bytes: Option<usize>,
    /// No page has a lower number, where that is known: what was dropped before it need not be
    /// passed over to find the first page.
    pub first: Option<i64>,
}

/// A document's array and what counts it, found in one walk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'d> {
    pub array: Option<Element<'d>>,
    /// What stands where the policy names a count, a flag and the pages.
    fields: [Option<Element<'d>>; 3],
    /// What the sidecar keeps.
    hidden: Option<Counters>,
    counters: Counters,
}

impl<'d> Seen<'d> {
    pub fn of(version: Version<'d>, rule: &Overflow) -> Seen<'d> {
        let (array, fields) = array_and_fields(version.document, rule);
        Seen::new(array, fields, sidecar::read(version.sidecar, rule), rule)
    }

    fn new(
        array: Option<Element<'d>>,
        fields: [Option<Element<'d>>; 3],
        hidden: Option<Counters>,
        rule: &Overflow,
    ) -> Seen<'d> {
        let [count, _, pages] = fields;
        let counters = counters(rule, hidden, count, pages);
        Seen { array, fields, hidden, counters }
    }

    /// The same in the document's next version, which is known to have the same flag and pages.
    pub fn in_next(self, next: &'d RawDocument, rule: &Overflow) -> Seen<'d> {
        let [_, flag, pages] = self.fields;
        let (array, count) = match &rule.count {
            None => (place::find(next, &rule.path), None),
            Some(count) => {
                let [array, count] = place::find_all(next, [&rule.path, count]);
                (array, count)
            }
        };
        Seen::new(array, [count, flag, pages], self.hidden, rule)
    }

    /// The same in a version that an update has written, be it in the fields that count.
    pub fn in_written(self, next: &'d RawDocument, rule: &Overflow) -> Seen<'d> {
        let (array, fields) = array_and_fields(next, rule);
        Seen::new(array, fields, self.hidden, rule)
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The count, the flag and the pages that are said, be it where clients see them or not.
    pub fn said(&self, rule: &Overflow) -> [Option<RawBson>; 3] {
        let field = |at: usize| self.fields[at].map(|field| RawBson::from(field.value()));
        let hidden = self.hidden.filter(|_| rule.is_hidden());
        let [count, _, pages] = rule.names();
        [
            if count.is_some() { field(0) } else { hidden.and_then(|it| it.count).map(int) },
            field(1),
            if pages.is_some() { field(2) } else { hidden.map(|it| int(it.pages)) },
        ]
    }

    /// Whether anything is said of the array.
    pub fn says_something(&self) -> bool {
        self.hidden.is_some() || self.fields.iter().any(Option::is_some)
    }
}

fn array_and_fields<'d>(
    document: &'d RawDocument,
    rule: &Overflow,
) -> (Option<Element<'d>>, [Option<Element<'d>>; 3]) {
    let names = rule.names();
    if names.iter().all(Option::is_none) {
        return (place::find(document, &rule.path), [None; 3]);
    }
    // Where there is no name, the array is found once more.
    let [count, flag, pages] = names.map(|name| name.unwrap_or(&rule.path));
    let [array, count, flag, pages] = place::find_all(document, [&rule.path, count, flag, pages]);
    let mut fields = [count, flag, pages];
    for (field, name) in fields.iter_mut().zip(names) {
        *field = field.filter(|_| name.is_some());
    }
    (array, fields)
}

fn counters(
    rule: &Overflow,
    hidden: Option<Counters>,
    count: Option<Element<'_>>,
    pages: Option<Element<'_>>,
) -> Counters {
    match (rule.is_hidden(), hidden) {
        (true, Some(hidden)) => hidden,
        (true, None) => Counters { count: number(count), ..Counters::default() },
        (false, hidden) => Counters {
            count: number(count),
            pages: number(pages).unwrap_or(0),
            ..hidden.unwrap_or_default()
        },
    }
}

impl Counters {
    /// As they stand in a document, or beside it.
    pub fn read(version: Version<'_>, rule: &Overflow) -> Counters {
        let find = |name: &Option<Path>| {
            name.as_ref().and_then(|name| place::find(version.document, name))
        };
        match rule.is_hidden() {
            true => {
                let hidden = sidecar::read(version.sidecar, rule);
                hidden.unwrap_or_else(|| counters(rule, None, find(&rule.count), None))
            }
            false => {
                let hidden = sidecar::read(version.sidecar, rule);
                counters(rule, hidden, find(&rule.count), find(&rule.pages))
            }
        }
    }

    pub fn of(mass: Mass, pages: usize) -> Counters {
        Counters { count: Some(mass.count), pages, bytes: Some(mass.bytes), first: None }
    }

    /// Of an array without pages, whose size nobody needs.
    pub fn of_whole(count: usize) -> Counters {
        Counters { count: Some(count), ..Counters::default() }
    }

    /// Once some elements are others, on so many pages.
    pub fn exchange(self, before: Mass, after: Mass, pages: usize) -> Counters {
        let exchange =
            |sum: usize, before: usize, after: usize| (sum + after).saturating_sub(before);
        Counters {
            count: Some(exchange(self.count.unwrap_or(0), before.count, after.count)),
            pages,
            bytes: self.bytes.map(|bytes| exchange(bytes, before.bytes, after.bytes)),
            first: None,
        }
    }

    /// All elements, as far as they are known.
    pub fn mass(self) -> Mass {
        Mass { count: self.count.unwrap_or(0), bytes: self.bytes.unwrap_or(0) }
    }

    /// The count, the flag and the pages that are to be said of an array, as `Seen::said`.
    pub fn expected(self, rule: &Overflow) -> [Option<RawBson>; 3] {
        let [count, flag, pages] = self.values();
        let is_hidden = rule.is_hidden() && self.pages > 0;
        [
            count.filter(|_| rule.count.is_some() || is_hidden),
            flag.filter(|_| rule.flag.is_some()),
            pages,
        ]
    }

    /// What `Overflow::names` are to hold.
    pub fn values(self) -> [Option<RawBson>; 3] {
        let pages = (self.pages > 0).then_some(self.pages);
        [self.count.map(int), pages.map(|_| RawBson::Boolean(true)), pages.map(int)]
    }

    /// What the sidecar is to keep.
    pub fn hidden(self, rule: &Overflow) -> Option<Counters> {
        let (hidden, weighed, drops) = (rule.is_hidden(), rule.is_weighed(), rule.drops());
        let kept = Counters {
            bytes: self.bytes.filter(|_| weighed),
            first: self.first.filter(|_| drops),
            ..self
        };
        (self.pages > 0 && (hidden || weighed || drops)).then_some(kept)
    }

    /// How long the array is, if that is known.
    pub fn length(self) -> Option<Length> {
        self.count.map(|elements| Length { elements, pages: self.pages })
    }

    /// Whether this is what is said of an array, in the very words that `write` finds for it.
    pub fn are_said(self, rule: &Overflow, seen: &Seen<'_>) -> bool {
        let names = rule.names();
        let mut fields = names.iter().zip(seen.fields).zip(self.values());
        let are_said = fields.all(|((name, field), value)| name.is_none() || says(field, &value));
        are_said && self.is_kept(rule, seen.hidden)
    }

    /// Whether the sidecar says no less than it must. What a document weighs may still be to be
    /// counted, and where its first page is need not be known.
    fn is_kept(self, rule: &Overflow, hidden: Option<Counters>) -> bool {
        match (hidden, self.hidden(rule)) {
            (Some(hidden), Some(expected)) => {
                let is_counted = (hidden.count, hidden.pages) == (expected.count, expected.pages);
                is_counted && hidden.bytes.zip(expected.bytes).is_none_or(|(is, was)| is == was)
            }
            (None, Some(_)) => !rule.is_hidden(),
            (Some(_), None) => self.pages > 0,
            (None, None) => true,
        }
    }

    /// Whether something else is said. A document of which nothing is said has not been
    /// written under the policy, and need not; what stands beside no array is no
    /// counter before a write makes it one, unless it speaks of pages.
    pub fn are_misstated(self, rule: &Overflow, seen: &Seen<'_>) -> bool {
        if self == Counters::default() && seen.counters.pages == 0 && seen.hidden.is_none() {
            return false;
        }
        !self.are_said(rule, seen) && seen.says_something()
    }

    /// Adds the edits after which this is said of an array.
    pub fn write<'r>(self, rule: &'r Overflow, seen: &Seen<'_>, amends: &mut Amends<'r>) {
        for ((name, field), value) in rule.names().into_iter().zip(seen.fields).zip(self.values()) {
            if let Some(name) = name
                && !says(field, &value)
            {
                amends.edits.push((name, value));
            }
        }
        let hidden = self.hidden(rule);
        if seen.hidden != hidden {
            amends.sidecar.push((&rule.path, hidden));
        }
    }
}

/// Whether an array has pages.
pub fn has_pages(version: Version<'_>, rule: &Overflow) -> bool {
    Counters::read(version, rule).pages > 0
}

/// Whether a document says, where clients see it, that its array has pages: by their number, by
/// the flag, or by a count of more than it shows.
pub fn shows_pages(document: &RawDocument, rule: &Overflow) -> bool {
    let seen = Seen::of(document.into(), rule);
    let [count, flag, pages] = seen.fields;
    let shown = seen.array.filter(|it| it.kind == ElementType::Array);
    let shown = shown.map_or(0, |array| array.children().count());
    number(pages).is_some_and(|pages| pages > 0)
        || flag.is_some_and(|flag| flag.value() == RawBsonRef::Boolean(true))
        || number(count).is_some_and(|count| count > shown)
}

pub fn number(element: Option<Element<'_>>) -> Option<usize> {
    let number = match element?.value() {
        RawBsonRef::Int32(number) => i64::from(number),
        other => Number::from_value(other)?.to_i64_exact()?,
    };
    usize::try_from(number).ok()
}

/// Whether a field is there with this value, or neither is.
fn says(field: Option<Element<'_>>, value: &Option<RawBson>) -> bool {
    match (field, value) {
        (Some(field), Some(value)) => field.value() == value.as_raw_bson_ref(),
        (None, None) => true,
        _ => false,
    }
}

/// A number of a page, which may be below zero.
pub fn signed(number: i64) -> RawBson {
    i32::try_from(number).map_or(RawBson::Int64(number), RawBson::Int32)
}

pub fn signed_number(element: Option<Element<'_>>) -> Option<i64> {
    Number::from_value(element?.value())?.to_i64_exact()
}

pub fn int(number: usize) -> RawBson {
    i32::try_from(number).map_or(RawBson::Int64(number as i64), RawBson::Int32)
}
