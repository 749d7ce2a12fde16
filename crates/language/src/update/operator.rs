//! What every update operator can do.

use super::place::Place;
use super::walk::{Facts, Run};
use crate::Context;
use bson::RawBsonRef;
use bson::spec::ElementType;
use error::Result;
use std::fmt::Debug;
use std::sync::Arc;
use value::{DocumentWriter, Element, Number};

/// One operator at the end of a path, its argument parsed.
pub trait Operator: Debug + Send + Sync {
    /// Applies to a value that exists. Without an edit nothing has changed.
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()>;

    /// What the operator does where there is no value.
    fn absent(&self, facts: &Facts<'_>) -> Result<Absent>;

    /// Writes the value of a field that did not exist, as one element under
    /// `key`. Called only where `absent` says that the operator creates.
    fn create(
        &self,
        key: &str,
        place: &Place<'_>,
        facts: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        let _ = (key, place, facts, out);
        Ok(())
    }

    /// How many levels the value it writes nests below its own.
    fn depth(&self) -> usize {
        0
    }

    /// Whether it acts only when an upsert inserts.
    fn insert_only(&self) -> bool {
        false
    }

    /// How many elements it appends to an array, if that is all it does to it.
    fn appended(&self) -> Option<usize> {
        None
    }

    /// The elements that it adds to an array.
    fn added(&self) -> Vec<Element<'_>> {
        Vec::new()
    }

    /// Whether it looks at the value that was there before.
    fn reads(&self) -> bool {
        true
    }

    /// How much of an array at its path it must see.
    fn scope(&self) -> Scope {
        Scope::Value
    }

    /// Whether it takes a value from one place to another.
    fn moves(&self) -> bool {
        false
    }

    /// The path of a second leaf that comes with this one, and that leaf.
    fn companion(&self) -> Option<(&str, Arc<dyn Operator>)> {
        None
    }
}

/// How much of an array an update of it must see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing: it adds elements at the end.
    End,
    /// As much as is kept of the array: it adds elements at one end, and cuts the array.
    Ends(Ends),
    /// The first element, or the last.
    First,
    Last,
    /// Each element by itself; the result is the same whichever way the array is
    /// cut. `all`: every element is written, not only those a condition picks.
    Each {
        all: bool,
    },
    /// The elements whose numbers it names.
    Numbered,
    /// The element that matched the query.
    Matched,
    /// All elements together.
    Whole,
    /// What is inside the array, named otherwise than by the numbers of its elements.
    Inside,
    /// The array as one value, which it replaces whatever that was.
    Value,
    /// The array as one value, which it replaces if it compares so.
    Compared,
    /// The array as one value, which it removes,
    Removed,
    /// or gives another name.
    Renamed,
}

/// What a push does at the ends of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Whether its elements come before all others, not behind them.
    pub front: bool,
    /// How many elements stay: the first ones, or the last ones if it is negative.
    pub slice: Option<i64>,
}

impl Scope {
    /// Whether the part can be taken apart from the rest: it is not about the array as
    /// one value.
    pub fn is_apart(self) -> bool {
        !matches!(
            self,
            Scope::Inside | Scope::Value | Scope::Compared | Scope::Removed | Scope::Renamed
        )
    }
}

/// What an operator does at a path that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It makes the field; a path that cannot be made is an error.
    Creates,
    /// It makes nothing, yet a path that could not be made is an error.
    Refuses,
    /// It does nothing.
    Ignores,
}

/// What an operator is parsed from: `{$operator: {field: value}}`.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    /// The path is the key.
    pub field: Element<'a>,
    pub context: &'a Context,
}

impl<'a> Argument<'a> {
    pub fn value(&self) -> RawBsonRef<'a> {
        self.field.value()
    }

    pub fn held(&self) -> Held {
        Held::new(self.field)
    }

    /// `field: value`, for messages.
    pub fn describe(&self) -> String {
        crate::describe::element(self.field)
    }

    pub fn type_name(&self) -> &'static str {
        crate::describe::type_name(self.field.kind)
    }
}

/// A value kept as its bytes, to be compared and copied without parsing.
#[derive(Debug, Clone)]
pub struct Held {
    kind: ElementType,
    bytes: Box<[u8]>,
}

impl Held {
    pub fn new(element: Element<'_>) -> Held {
        Held { kind: element.kind, bytes: element.bytes.into() }
    }

    pub fn element(&self) -> Element<'_> {
        Element { kind: self.kind, key: "", bytes: &self.bytes }
    }

    pub fn value(&self) -> RawBsonRef<'_> {
        self.element().value()
    }

    /// How many bytes it takes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Whether two values are the same to the last byte, type included.
pub fn identical(a: Element<'_>, b: Element<'_>) -> bool {
    a.kind == b.kind && a.bytes == b.bytes
}

/// How many levels a value nests below its own.
pub fn depth_below(element: Element<'_>) -> usize {
    element.children().map(|child| 1 + depth_below(child)).max().unwrap_or(0)
}

/// The value of a number that has no fraction.
pub fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    Number::from_value(value)?.to_i64_exact()
}
