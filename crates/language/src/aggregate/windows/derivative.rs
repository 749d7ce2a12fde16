//! `$derivative`: the rate of change over the window.

use super::arithmetic::{Place, difference, multiply, subtract};
use super::window::{Frame, Window};
use super::{Function, Run, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::Expression;
use crate::aggregate::expressions::date::unit::Unit;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use value::Number;
use value::element::elements;

#[derive(Debug)]
struct Derivative {
    slope: Slope,
    frame: Frame,
}

/// `{input, unit}`, which `$derivative` and `$integral` take.
#[derive(Debug)]
pub struct Slope {
    pub input: Expression,
    /// The length of the unit that the sort's dates are measured in.
    pub unit_millis: Option<i64>,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    check_sort(function)?;
    let frame = Frame::parse(function)?;
    let slope = Slope::parse(function)?;
    if function.window.is_none() {
        return Err(failed("$derivative requires explicit window bounds"));
    }
    Ok(Arc::new(Derivative { slope, frame }))
}

pub fn check_sort(function: Specification<'_>) -> Result<()> {
    match function.sort.map(|sort| sort.fields().len()) {
        Some(1) => Ok(()),
        Some(_) => Err(failed(format!("{} requires a non-compound sortBy", function.name))),
        None => Err(failed(format!("{} requires a sortBy", function.name))),
    }
}

impl Slope {
    pub fn parse(function: Specification<'_>) -> Result<Slope> {
        let name = function.name;
        let RawBsonRef::Document(document) = function.operand else {
            return Err(failed(format!("{name} expects an object")));
        };
        let (mut input, mut unit_millis) = (None, None);
        for element in elements(document) {
            match (element.key, element.value()) {
                ("input", value) => input = Some(Expression::parse(value, function.context)?),
                ("unit", RawBsonRef::String(unit)) => {
                    let length = Unit::parse(unit)?.millis();
                    let Some(length) = length else {
                        return Err(Code::location(5490710).error("unit must be 'week' or smaller"));
                    };
                    unit_millis = Some(length);
                }
                ("unit", _) => return Err(failed(format!("{name}'s 'unit' must be a string"))),
                (key, _) => {
                    return Err(failed(format!("{name} got unexpected argument: {key}")));
                }
            }
        }
        match input {
            Some(input) => Ok(Slope { input, unit_millis }),
            None => Err(failed(format!("{name} requires an 'input' expression"))),
        }
    }
}

impl Derivative {
    fn place(&self, entry: &Entry) -> Result<Number> {
        match (entry.place, self.slope.unit_millis) {
            (Ok(place), Some(_)) if place.is_date() => Ok(place.number()),
            (_, Some(_)) => Err(Code::location(5624900)
                .error("$derivative with 'unit' expects the sortBy field to be a Date")),
            (Ok(Place::Date(_)), None) => Err(Code::location(5624901)
                .error("$derivative where the sortBy is a Date requires a 'unit'")),
            (Ok(place), None) => Ok(place.number()),
            (Err(_), None) => Err(Code::location(5624902)
                .error("$derivative (with no 'unit') expects the sortBy field to be numeric")),
        }
    }

    fn between(&self, first: &Entry, last: &Entry) -> Result<RawBson> {
        let run = subtract(self.place(last)?, self.place(first)?);
        let Some(rise) = difference(last.input.as_ref(), first.input.as_ref())? else {
            return Err(
                Code::location(5624903).error("$derivative input must not be null or missing")
            );
        };
        if run.is_zero() {
            return Ok(RawBson::Null);
        }
        let rate = rise.divide(run);
        Ok(match self.slope.unit_millis {
            Some(unit) => multiply(rate, Number::Int64(unit)).to_value(),
            None => rate.to_value(),
        })
    }
}

impl Function for Derivative {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Running {
            window: self.frame.start(),
            function: self,
            very_first: None,
            entries: VecDeque::new(),
            first: 0,
            value: RawBson::Null,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.slope.input.needs(needs);
    }
}

/// Where a document stands, and its value there.
#[derive(Debug, Clone)]
struct Entry {
    place: std::result::Result<Place, &'static str>,
    input: Option<RawBson>,
}

struct Running {
    function: Arc<Derivative>,
    window: Window,
    /// Of the partition, where the window begins with it.
    very_first: Option<Entry>,
    /// Of the documents from `first` on.
    entries: VecDeque<Entry>,
    first: usize,
    value: RawBson,
}

impl Running {
    fn entry(&self, at: usize) -> Option<&Entry> {
        match &self.very_first {
            Some(entry) if at == 0 => Some(entry),
            _ => self.entries.get(at.checked_sub(self.first)?),
        }
    }

    fn forget_before(&mut self, at: usize) {
        while self.first < at && self.entries.pop_front().is_some() {
            self.first += 1;
        }
    }
}

impl Run for Running {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        self.window.take(document)?;
        let place = self.function.frame.places.of(document);
        let entry = Entry { place, input: self.function.slope.input.evaluate_owned(document)? };
        let bounds = &self.function.frame.bounds;
        if bounds.is_growing() && self.very_first.is_none() {
            self.very_first = Some(entry.clone());
        }
        let whole = bounds.is_whole();
        self.entries.push_back(entry);
        if whole {
            self.forget_before(self.first + self.entries.len() - 1);
        }
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let Some(window) = self.window.next(ended)? else { return Ok(false) };
        let last = window.end.saturating_sub(1);
        self.value = match (self.entry(window.start), self.entry(last)) {
            (Some(first), Some(last)) if !window.is_empty() => {
                self.function.between(first, last)?
            }
            _ => RawBson::Null,
        };
        let growing = self.function.frame.bounds.is_growing();
        self.forget_before(if growing { last } else { window.start });
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        self.window.bytes() + self.entries.len() * size_of::<Entry>()
    }
}
