//! `$percentile` and `$median`: exact percentiles of numbers.

use super::sliding::Quantiles;
use super::{Accumulation, Accumulator, check_bytes};
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use crate::{Context, Needs, interrupt};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::sync::Arc;
use value::element::{array_elements, elements};
use value::{ArrayWriter, Number};

/// How a percentile between two numbers is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `approximate` and `discrete`: one of the numbers.
    Discrete,
    /// Between two numbers, by distance.
    Continuous,
}

/// Which percentiles are wanted, and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    percentiles: Arc<[f64]>,
    method: Method,
    median: bool,
}

/// Numbers, and the percentiles wanted of them.
#[derive(Debug)]
pub struct Percentile {
    wanted: Wanted,
    numbers: Vec<f64>,
}

/// The parts of `{input, p, method}`.
#[derive(Debug)]
pub struct Parts<'a> {
    pub input: RawBsonRef<'a>,
    pub wanted: Arc<[f64]>,
    pub method: Method,
}

pub fn parse(name: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    accumulation(name, value, context, false)
}

pub fn parse_median(
    name: &'static str,
    value: RawBsonRef<'_>,
    context: &Context,
) -> Result<Accumulation> {
    accumulation(name, value, context, true)
}

fn accumulation(
    name: &'static str,
    value: RawBsonRef<'_>,
    context: &Context,
    median: bool,
) -> Result<Accumulation> {
    let parts = parts(name, value, context, median)?;
    let wanted = Wanted { percentiles: parts.wanted, method: parts.method, median };
    let slide_wanted = wanted.clone();
    Ok(Accumulation {
        argument: Expression::parse(parts.input, context)?,
        initializer: None,
        start: Box::new(move |_| {
            Ok(Box::new(Percentile { wanted: wanted.clone(), numbers: Vec::new() }))
        }),
        slide: Some(Box::new(move |_| Ok(Box::new(Quantiles::new(slide_wanted.clone()))))),
        reads: Needs::none(),
    })
}

/// Parses the document that `$percentile` and `$median` take.
pub fn parts<'a>(
    name: &str,
    value: RawBsonRef<'a>,
    context: &Context,
    median: bool,
) -> Result<Parts<'a>> {
    let RawBsonRef::Document(document) = value else {
        let code = if median { 7436100 } else { 7429703 };
        return Err(Code::location(code).error(format!(
            "specification must be an object; found {name} :{}",
            describe::value(value)
        )));
    };
    let (mut input, mut p, mut method) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "input" => input = Some(element.value()),
            "p" if !median => p = Some(element.value()),
            "method" => method = Some(element.value()),
            key => {
                return Err(Code::location(40415)
                    .error(format!("BSON field '{name}.{key}' is an unknown field.")));
            }
        }
    }
    let missing = |field: &str| {
        Code::location(40414)
            .error(format!("BSON field '{name}.{field}' is missing but a required field"))
    };
    let input = input.ok_or_else(|| missing("input"))?;
    let wanted = match p {
        None if median => Arc::from([0.5]),
        None => return Err(missing("p")),
        Some(p) => probabilities(p, context)?,
    };
    let method = match method {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return Err(missing("method")),
        Some(RawBsonRef::String("approximate" | "discrete")) => Method::Discrete,
        Some(RawBsonRef::String("continuous")) => Method::Continuous,
        Some(RawBsonRef::String(_)) => {
            return Err(Code::BadValue.error(
                "Currently only 'approximate', 'discrete' and 'continuous' can be used as percentile 'method'.",
            ));
        }
        Some(other) => {
            return Err(Code::TypeMismatch.error(format!(
                "BSON field '{name}.method' is the wrong type '{}', expected type 'string'",
                coerce::type_name(Some(other))
            )));
        }
    };
    Ok(Parts { input, wanted, method })
}

/// The value of an expression that depends on nothing.
fn constant(value: RawBsonRef<'_>, context: &Context) -> Result<Option<RawBson>> {
    match Expression::parse(value, context)?.constant() {
        Some(value) => Ok(value.map(value::value::to_owned)),
        None => Err(Code::location(7750300)
            .error("The $percentile 'p' field must be an array of constant values")),
    }
}

fn probabilities(p: RawBsonRef<'_>, context: &Context) -> Result<Arc<[f64]>> {
    let value = match p {
        // One by one: a long array is not folded as a whole.
        RawBsonRef::Array(array) => {
            let mut values = ArrayWriter::new();
            for element in array_elements(array) {
                interrupt::check()?;
                let value = constant(element.value(), context)?.unwrap_or(RawBson::Null);
                values.push(value.as_raw_bson_ref());
            }
            Some(RawBson::Array(values.finish()))
        }
        p => constant(p, context)?,
    };
    let array = match value.as_ref().map(RawBson::as_raw_bson_ref) {
        Some(RawBsonRef::Array(array)) if !array.is_empty() => array,
        other => {
            return Err(Code::location(7750301).error(format!(
                "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {}",
                other.map(describe::value).unwrap_or_default()
            )));
        }
    };
    array_elements(array)
        .map(|element| {
            let Some(number) = Number::from_value(element.value()).map(Number::to_f64) else {
                return Err(Code::location(7750302).error(format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {}",
                    describe::value(element.value())
                )));
            };
            if !(0.0..=1.0).contains(&number) {
                return Err(Code::location(7750303).error(format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {number}"
                )));
            }
            Ok(number)
        })
        .collect()
}

impl Percentile {
    pub fn new(wanted: Arc<[f64]>, method: Method, median: bool) -> Percentile {
        let wanted = Wanted { percentiles: wanted, method, median };
        Percentile { wanted, numbers: Vec::new() }
    }
}

impl Wanted {
    /// The percentiles of sorted numbers: an array, or the median.
    pub fn of_sorted(&self, sorted: &[f64]) -> RawBson {
        let one = |p| percentile(sorted, p, self.method).map_or(RawBson::Null, RawBson::Double);
        if self.median {
            return one(0.5);
        }
        let mut out = RawArrayBuf::new();
        self.percentiles.iter().for_each(|p| out.push(one(*p).as_raw_bson_ref()));
        RawBson::Array(out)
    }
}

/// The percentile of sorted numbers; `None` for no numbers.
fn percentile(sorted: &[f64], p: f64, method: Method) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    match method {
        Method::Discrete => {
            let rank = (p * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1).min(last)).copied()
        }
        Method::Continuous => {
            let rank = p * last as f64;
            let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
            let (low, high) = (*sorted.get(below)?, *sorted.get(above)?);
            Some(low + (rank - below as f64) * (high - low))
        }
    }
}

impl Accumulator for Percentile {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(number) = value.and_then(Number::from_value).map(Number::to_f64)
            && !number.is_nan()
        {
            self.numbers.push(number);
            check_bytes("$percentile", self.bytes())?;
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let sorted = interrupt::sort(self.numbers.clone(), f64::total_cmp)?;
        Ok(Some(self.wanted.of_sorted(&sorted)))
    }

    fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<f64>()
    }
}
