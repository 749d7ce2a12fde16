//! Window functions of `$setWindowFields`, one file each, and their table: each
//! gives a value for every document of a sorted partition, as the documents go by.

pub mod accumulated;
pub(in crate::aggregate) mod arithmetic;
pub mod bounds;
mod covariance;
mod derivative;
mod exp_moving_avg;
mod integral;
mod linear_fill;
mod locf;
mod min_max_scaler;
mod passage;
mod rank;
mod shift;
mod window;

pub use bounds::Bounds;

use super::accumulators;
use super::expressions::coerce;
use crate::sort::Pattern;
use crate::{Context, Needs};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use std::sync::Arc;
use value::element::elements;

/// A window function, ready to run over partitions.
pub trait Function: std::fmt::Debug + Send + Sync {
    /// Begins a partition.
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>>;

    fn needs(&self, needs: &mut Needs);
}

/// A function at work on one partition. It takes the documents in, in order, as far ahead
/// as it must see, and gives a value for one after the other. A document is taken in
/// before it is given its value.
pub trait Run: Send {
    /// Takes in the next document.
    fn take(&mut self, document: &RawDocument) -> Result<()>;

    /// Moves to the value of the next document; `false`: more documents have to be taken in
    /// first. Once all are (`ended`) it never says so.
    fn advance(&mut self, ended: bool) -> Result<bool>;

    /// The value that `advance` moved to; `None` is missing.
    fn value(&self) -> Option<RawBsonRef<'_>>;

    /// The memory of what it keeps beside its own size.
    fn bytes(&self) -> usize {
        0
    }
}

/// A function as it is written: its operand, and the window beside it.
#[derive(Debug, Clone, Copy)]
pub struct Specification<'a> {
    pub name: &'static str,
    pub operand: RawBsonRef<'a>,
    pub window: Option<RawBsonRef<'a>>,
    pub sort: Option<&'a Pattern>,
    pub context: &'a Context,
}

#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub parse: fn(Specification<'_>) -> Result<Arc<dyn Function>>,
    pub help: &'static str,
}

const fn row(
    name: &'static str,
    parse: fn(Specification<'_>) -> Result<Arc<dyn Function>>,
    help: &'static str,
) -> Row {
    Row { name, parse, help }
}

/// The functions beside the accumulators.
pub const ROWS: &[Row] = &[
    row("$covariancePop", covariance::parse, "the covariance of a population"),
    row("$covarianceSamp", covariance::parse, "the covariance of a sample"),
    row("$denseRank", rank::parse, "the rank, without gaps"),
    row("$derivative", derivative::parse, "the rate of change over the window"),
    row("$documentNumber", rank::parse, "the position"),
    row("$expMovingAvg", exp_moving_avg::parse, "the exponential moving average"),
    row("$integral", integral::parse, "the area under the curve"),
    row("$linearFill", linear_fill::parse, "nulls filled on a line"),
    row("$locf", locf::parse, "nulls filled with the value before"),
    row(
        "$minMaxScaler",
        min_max_scaler::parse,
        "the place between the least and the greatest value",
    ),
    row("$rank", rank::parse, "the rank, with gaps"),
    row("$shift", shift::parse, "the value of another document"),
];

/// The functions that take no arguments at all.
const PLACES: [&str; 3] = ["$denseRank", "$documentNumber", "$rank"];

/// Accumulators that may not be used in windows.
const NOT_IN_WINDOWS: [&str; 2] = ["$accumulator", "$mergeObjects"];

/// Parses `{$sum: …, window: {…}}`.
pub fn parse(
    value: RawBsonRef<'_>,
    sort: Option<&Pattern>,
    context: &Context,
) -> Result<Arc<dyn Function>> {
    let RawBsonRef::Document(document) = value else {
        return Err(failed(format!(
            "The field specification must be an object, found {}",
            coerce::type_name(Some(value))
        )));
    };
    let Some(function) = elements(document).find(|element| element.key.starts_with('$')) else {
        return Err(failed("Expected a $-prefixed window function"));
    };
    let mut window = None;
    for element in elements(document).filter(|element| element.key != function.key) {
        match element.key {
            "window" => window = Some(element.value()),
            _ if PLACES.contains(&function.key) => return Err(rank::other_arguments()),
            key => {
                return Err(failed(format!("Window function found an unknown argument: {key}")));
            }
        }
    }
    let operand = function.value();
    if let Some(row) = ROWS.iter().find(|row| row.name == function.key) {
        return (row.parse)(Specification { name: row.name, operand, window, sort, context });
    }
    match accumulators::find(function.key) {
        Some(row) if !NOT_IN_WINDOWS.contains(&row.name) => accumulated::parse(
            row,
            Specification { name: row.name, operand, window, sort, context },
        ),
        _ => Err(failed(format!("Unrecognized window function, {}", function.key))),
    }
}

pub fn failed(message: impl Into<String>) -> Error {
    Code::FailedToParse.error(message)
}

impl Specification<'_> {
    /// Refuses a window where the function has its own.
    fn no_window(&self) -> Result<()> {
        match self.window {
            Some(_) => Err(failed(format!("'window' field is not allowed in {}", self.name))),
            None => Ok(()),
        }
    }
}
