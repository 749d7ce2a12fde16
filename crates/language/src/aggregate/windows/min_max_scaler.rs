//! `$minMaxScaler`: where a value stands between the least and the greatest of
//! its window, scaled to a range.

use super::arithmetic::{add, multiply, subtract};
use super::bounds::Bound;
use super::passage::{Change, Passage};
use super::window::Frame;
use super::{Bounds, Function, Run, Specification, failed};
use crate::aggregate::expressions::{Expression, coerce};
use crate::{Context, Needs};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use value::element::elements;
use value::{Number, Value};

#[derive(Debug)]
struct MinMaxScaler {
    input: Expression,
    min: Number,
    max: Number,
    frame: Frame,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    let frame = Frame::parse(function)?;
    let RawBsonRef::Document(document) = function.operand else {
        return Err(failed("$minMaxScaler expects an object"));
    };
    check_current(&frame.bounds)?;
    let (mut input, mut min, mut max) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "input" => input = Some(Expression::parse(element.value(), function.context)?),
            "min" => min = Some(constant("min", element.value(), function.context)?),
            "max" => max = Some(constant("max", element.value(), function.context)?),
            key => {
                return Err(failed(format!(
                    "$minMaxScaler got unexpected internal argument: '{key}'"
                )));
            }
        }
    }
    let Some(input) = input else {
        return Err(failed("$minMaxScaler requires an 'input' expression"));
    };
    if min.is_some() != max.is_some() {
        return Err(failed(
            "Only one of 'min' and 'max' were specified as an argument to $minMaxScaler. Neither or both must be specified",
        ));
    }
    let (min, max) = (min.unwrap_or(Number::Int32(0)), max.unwrap_or(Number::Int32(1)));
    if !min.compare(max).is_lt() {
        return Err(failed(
            "the 'max' must be strictly greater than 'min', as arguments to $minMaxScaler",
        ));
    }
    Ok(Arc::new(MinMaxScaler { input, min, max, frame }))
}

fn constant(name: &str, value: RawBsonRef<'_>, context: &Context) -> Result<Number> {
    let expression = Expression::parse(value, context)?;
    let Some(value) = expression.constant() else {
        return Err(failed(format!("'{name}' argument to $minMaxScaler must be a constant")));
    };
    coerce::number(value)
        .ok_or_else(|| failed(format!("'{name}' argument to $minMaxScaler must be a numeric type")))
}

/// The window must hold the document that it is around.
fn check_current(bounds: &Bounds) -> Result<()> {
    let (Bounds::Documents(lower, upper) | Bounds::Range(lower, upper, _)) = bounds;
    let zero = Number::Int32(0);
    if matches!(lower, Bound::Offset(by) if by.compare(zero).is_gt()) {
        return Err(failed(
            "Lower specified bound cannot be greater than 0 (the current doc), as $minMaxScaler must ensure that the current document being processed is always within the configured window",
        ));
    }
    if matches!(upper, Bound::Offset(by) if by.compare(zero).is_lt()) {
        return Err(failed(
            "Upper specified bound cannot be less than 0 (the current doc), as $minMaxScaler must ensure that the current document being processed is always within the configured window",
        ));
    }
    Ok(())
}

impl MinMaxScaler {
    fn scaled(&self, current: Number, least: Number, most: Number) -> Number {
        if least.compare(most).is_eq() {
            return self.min;
        }
        let share = subtract(current, least).divide(subtract(most, least));
        add(multiply(share, subtract(self.max, self.min)), self.min)
    }
}

impl Function for MinMaxScaler {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Running {
            passage: Passage::new(&self.frame),
            function: self,
            least: Extreme::new(Ordering::Less),
            most: Extreme::new(Ordering::Greater),
            current: VecDeque::new(),
            value: RawBson::Null,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}

/// The least or the greatest of a window: the numbers that may still become it.
#[derive(Debug)]
struct Extreme {
    wanted: Ordering,
    /// With their place in the order of entering, the best first.
    candidates: VecDeque<(usize, Number)>,
    entered: usize,
    left: usize,
}

impl Extreme {
    fn new(wanted: Ordering) -> Extreme {
        Extreme { wanted, candidates: VecDeque::new(), entered: 0, left: 0 }
    }

    fn enter(&mut self, number: Number) {
        let beaten = |other: &(usize, Number)| number.compare(other.1) == self.wanted;
        while self.candidates.back().is_some_and(beaten) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((self.entered, number));
        self.entered += 1;
    }

    fn leave(&mut self) {
        if self.candidates.front().is_some_and(|(place, _)| *place == self.left) {
            self.candidates.pop_front();
        }
        self.left += 1;
    }

    fn value(&self) -> Option<Number> {
        self.candidates.front().map(|(_, number)| *number)
    }
}

struct Running {
    function: Arc<MinMaxScaler>,
    passage: Passage<Number>,
    least: Extreme,
    most: Extreme,
    /// The numbers of the documents that have no value yet.
    current: VecDeque<Number>,
    value: RawBson,
}

impl Run for Running {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let value = self.function.input.evaluate(document)?;
        let value = value.as_ref().map(Value::get);
        let Some(number) = coerce::number(value) else {
            return Err(Code::location(10487000).error(format!(
                "'input' argument to $minMaxScaler must evaluate to a numeric type, got: {}",
                coerce::type_name(value)
            )));
        };
        self.current.push_back(number);
        if let Some(number) = self.passage.take(document, number)? {
            self.least.enter(number);
            self.most.enter(number);
        }
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let Running { passage, least, most, .. } = self;
        let window = passage.advance(ended, |change| {
            for extreme in [&mut *least, &mut *most] {
                match change {
                    Change::Enter(number) => extreme.enter(number),
                    Change::Leave => extreme.leave(),
                    Change::Skip(_) => {}
                }
            }
            Ok(())
        })?;
        if window.is_none() {
            return Ok(false);
        }
        if let Some(current) = self.current.pop_front() {
            let least = self.least.value().unwrap_or(current);
            let most = self.most.value().unwrap_or(current);
            self.value = self.function.scaled(current, least, most).to_value();
        }
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        let candidates = self.least.candidates.len() + self.most.candidates.len();
        self.passage.bytes()
            + self.current.len() * size_of::<Number>()
            + candidates * size_of::<(usize, Number)>()
    }
}
