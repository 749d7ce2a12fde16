//! `$covariancePop` and `$covarianceSamp`: the covariance of pairs of numbers.

use super::arithmetic::{multiply, subtract};
use super::passage::{Change, Passage};
use super::window::Frame;
use super::{Function, Run, Specification};
use crate::Needs;
use crate::aggregate::accumulators::sliding::Removable;
use crate::aggregate::expressions::Expression;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use value::Number;
use value::element::array_elements;

#[derive(Debug)]
struct Covariance {
    /// Gives an array of two numbers; what gives something else does not count.
    pair: Expression,
    sample: bool,
    frame: Frame,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    Ok(Arc::new(Covariance {
        pair: Expression::parse(function.operand, function.context)?,
        sample: function.name == "$covarianceSamp",
        frame: Frame::parse(function)?,
    }))
}

fn pair(value: Option<RawBson>) -> Option<(Number, Number)> {
    let Some(RawBson::Array(array)) = value else { return None };
    let mut elements = array_elements(&array).map(|element| Number::from_value(element.value()));
    match (elements.next(), elements.next(), elements.next()) {
        (Some(Some(x)), Some(Some(y)), None) => Some((x, y)),
        _ => None,
    }
}

/// What a pair with an infinity or NaN in it adds.
fn not_finite(x: Number, y: Number) -> Number {
    let positive = |number: Number| number.is_infinite() && !number.is_negative();
    let negative = |number: Number| number.is_infinite() && number.is_negative();
    let any = |of: &dyn Fn(Number) -> bool| of(x) || of(y);
    let value = if any(&Number::is_nan) || (any(&positive) && any(&negative)) {
        f64::NAN
    } else if any(&positive) {
        f64::INFINITY
    } else {
        f64::NEG_INFINITY
    };
    match x.is_decimal() || y.is_decimal() {
        true => Number::Decimal(Number::Double(value).to_decimal()),
        false => Number::Double(value),
    }
}

impl Function for Covariance {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        let growing = self.frame.bounds.is_growing();
        let state = State { growing, ..State::default() };
        Ok(Box::new(Running {
            passage: Passage::new(&self.frame),
            function: self,
            state,
            value: RawBson::Null,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.pair.needs(needs);
    }
}

type Pair = (Number, Number);

/// The pairs of a window, and the sum of the products of their distances from the means.
#[derive(Debug, Default)]
struct State {
    /// Whether no pair ever leaves, so that none is kept.
    growing: bool,
    pairs: VecDeque<Option<Pair>>,
    x: Removable,
    y: Removable,
    products: Removable,
}

/// How far a number is from the mean of others; nowhere, of none.
fn from_mean(number: Number, others: &Removable) -> Option<Number> {
    let mean = others.mean()?;
    Some(subtract(number, Number::from_value(mean.as_raw_bson_ref())?))
}

impl State {
    fn enter(&mut self, pair: Option<Pair>) {
        if !self.growing {
            self.pairs.push_back(pair);
        }
        let Some((x, y)) = pair else { return };
        if !x.is_finite() || !y.is_finite() {
            return self.products.add(not_finite(x, y));
        }
        let from_x = from_mean(x, &self.x);
        self.x.add(x);
        self.y.add(y);
        if let (Some(from_x), Some(from_y)) = (from_x, from_mean(y, &self.y)) {
            self.products.add(multiply(from_x, from_y));
        }
    }

    fn leave(&mut self) {
        let Some(Some((x, y))) = self.pairs.pop_front() else { return };
        if !x.is_finite() || !y.is_finite() {
            return self.products.remove(not_finite(x, y));
        }
        let from_y = from_mean(y, &self.y);
        self.x.remove(x);
        self.y.remove(y);
        if let (Some(from_x), Some(from_y)) = (from_mean(x, &self.x), from_y) {
            self.products.remove(multiply(from_x, from_y));
        }
    }

    fn value(&self, sample: bool) -> RawBson {
        let count = self.x.count();
        if count == 1 && !sample {
            return RawBson::Double(0.0);
        }
        let divisor = if sample { count.saturating_sub(1) } else { count };
        match Number::from_value(self.products.total().as_raw_bson_ref()) {
            Some(sum) if divisor > 0 => sum.divide(Number::Double(divisor as f64)).to_value(),
            _ => RawBson::Null,
        }
    }
}

struct Running {
    function: Arc<Covariance>,
    passage: Passage<Option<Pair>>,
    state: State,
    value: RawBson,
}

impl Run for Running {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let pair = pair(self.function.pair.evaluate_owned(document)?);
        if let Some(pair) = self.passage.take(document, pair)? {
            self.state.enter(pair);
        }
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let state = &mut self.state;
        let window = self.passage.advance(ended, |change| {
            match change {
                Change::Enter(pair) => state.enter(pair),
                Change::Leave => state.leave(),
                Change::Skip(_) => {}
            }
            Ok(())
        })?;
        self.value = self.state.value(self.function.sample);
        Ok(window.is_some())
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        self.passage.bytes() + self.state.pairs.len() * size_of::<Option<Pair>>()
    }
}
