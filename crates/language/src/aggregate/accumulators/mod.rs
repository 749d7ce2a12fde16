//! Accumulators of `$group`, `$bucket` and `$setWindowFields`, one file each,
//! and their table.

pub mod add_to_set;
pub mod avg;
pub mod concat_arrays;
pub mod count;
pub mod first;
pub mod last;
pub mod merge_objects;
pub mod min_max;
pub mod n;
pub mod percentile;
pub mod push;
pub mod set_union;
pub mod sliding;
pub mod std_dev;
pub mod sum;
pub mod summation;
pub mod top;

use super::expressions::{Expression, coerce};
use super::limits::ACCUMULATOR_BYTES_MAX;
use crate::{Context, Needs};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use sliding::{Slide, StartSlide};
use value::Value;
use value::element::elements;

/// The state of an accumulator over one group or window.
pub trait Accumulator: Send {
    /// Takes the value of the argument for one document; `None` is missing.
    fn add(&mut self, value: Option<RawBsonRef<'_>>, root: &RawDocument) -> Result<()>;

    /// What has been accumulated so far; `None` is missing.
    fn value(&self) -> Result<Option<RawBson>>;

    /// The value where it is kept as it is given, so that it need not be copied.
    fn held(&self) -> Option<RawBsonRef<'_>> {
        None
    }

    /// The memory of what it keeps beside its own size.
    fn bytes(&self) -> usize {
        0
    }
}

/// Makes the state for a new group. The value is what the initializer gave.
pub type Start = Box<dyn Fn(Option<RawBsonRef<'_>>) -> Result<Box<dyn Accumulator>> + Send + Sync>;

/// A parsed accumulator: `{$sum: "$a"}`.
pub struct Accumulation {
    /// What is evaluated for each document.
    pub argument: Expression,
    /// What is evaluated once for each group, over its `_id`: `n` of `$firstN`.
    pub initializer: Option<Expression>,
    pub start: Start,
    /// Makes the state for windows that move on, of those that may stand there.
    pub slide: Option<StartSlide>,
    /// What it reads beside its argument.
    pub reads: Needs,
}

impl std::fmt::Debug for Accumulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accumulation").field("argument", &self.argument).finish_non_exhaustive()
    }
}

/// One accumulator.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub parse: fn(&'static str, RawBsonRef<'_>, &Context) -> Result<Accumulation>,
    pub help: &'static str,
}

const fn row(
    name: &'static str,
    parse: fn(&'static str, RawBsonRef<'_>, &Context) -> Result<Accumulation>,
    help: &'static str,
) -> Row {
    Row { name, parse, help }
}

pub const ROWS: &[Row] = &[
    row("$accumulator", refuse_javascript, "refused: server-side JavaScript is not supported"),
    row("$addToSet", add_to_set::parse, "different values, each once"),
    row("$avg", avg::parse, "the average of numbers"),
    row("$bottom", top::parse, "the last by an order"),
    row("$bottomN", top::parse, "the last n by an order"),
    row("$concatArrays", concat_arrays::parse, "arrays, one after the other"),
    row("$count", count::parse, "how many documents there are"),
    row("$first", first::parse, "the first value"),
    row("$firstN", n::parse, "the first n values"),
    row("$last", last::parse, "the last value"),
    row("$lastN", n::parse, "the last n values"),
    row("$max", min_max::parse, "the greatest value"),
    row("$maxN", n::parse, "the n greatest values"),
    row("$median", percentile::parse_median, "the middle of numbers"),
    row("$mergeObjects", merge_objects::parse, "documents, merged"),
    row("$min", min_max::parse, "the least value"),
    row("$minN", n::parse, "the n least values"),
    row("$percentile", percentile::parse, "percentiles of numbers"),
    row("$push", push::parse, "all values"),
    row("$setUnion", set_union::parse, "different elements of arrays, each once"),
    row("$stdDevPop", std_dev::parse, "the standard deviation of a population"),
    row("$stdDevSamp", std_dev::parse, "the standard deviation of a sample"),
    row("$sum", sum::parse, "the sum of numbers"),
    row("$top", top::parse, "the first by an order"),
    row("$topN", top::parse, "the first n by an order"),
];

pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

fn refuse_javascript(name: &'static str, _: RawBsonRef<'_>, _: &Context) -> Result<Accumulation> {
    Err(Code::CommandNotSupported
        .error(format!("{name} is not supported: server-side JavaScript is not supported")))
}

/// Parses `{$sum: …}`, the accumulator of a field of `$group`.
pub fn parse_field(field: &str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let operator = match value {
        RawBsonRef::Document(document) => {
            elements(document).next().filter(|first| first.key.starts_with('$'))
        }
        _ => None,
    };
    let Some(operator) = operator else {
        return Err(Code::location(40234)
            .error(format!("The field '{field}' must be an accumulator object")));
    };
    if field.contains('.') {
        return Err(
            Code::location(40235).error(format!("The field name '{field}' cannot contain '.'"))
        );
    }
    if field.starts_with('$') {
        return Err(Code::location(40236)
            .error(format!("The field name '{field}' cannot be an operator name")));
    }
    if value.as_document().is_some_and(|document| elements(document).nth(1).is_some()) {
        return Err(Code::location(40238)
            .error(format!("The field '{field}' must specify one accumulator")));
    }
    if matches!(operator.value(), RawBsonRef::Array(_)) {
        return Err(Code::location(40237)
            .error(format!("The {} accumulator is a unary operator", operator.key)));
    }
    match find(operator.key) {
        Some(row) => (row.parse)(row.name, operator.value(), context),
        None => {
            Err(Code::location(15952).error(format!("unknown group operator '{}'", operator.key)))
        }
    }
}

impl Accumulation {
    /// An accumulator of one expression, which a group cannot vary.
    fn unary<A: Accumulator + 'static>(
        value: RawBsonRef<'_>,
        context: &Context,
        start: fn() -> A,
    ) -> Result<Accumulation> {
        Ok(Accumulation {
            argument: Expression::parse(value, context)?,
            initializer: None,
            start: Box::new(move |_| Ok(Box::new(start()))),
            slide: None,
            reads: Needs::none(),
        })
    }

    /// The same, with what it is over windows that move on.
    fn sliding<S: Slide + 'static>(
        mut self,
        start: impl Fn() -> S + Send + Sync + 'static,
    ) -> Accumulation {
        self.slide = Some(Box::new(move |_| Ok(Box::new(start()))));
        self
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.argument.needs(needs);
        needs.merge(&self.reads);
    }

    /// The state for a group with this `_id`.
    pub fn start(&self, id: Option<RawBsonRef<'_>>) -> Result<Box<dyn Accumulator>> {
        (self.start)(self.initial(id)?.as_ref().map(RawBson::as_raw_bson_ref))
    }

    /// The state for a window that moves on; `None` for an accumulator that has none.
    pub fn start_slide(&self) -> Result<Option<Box<dyn Slide>>> {
        let Some(slide) = &self.slide else { return Ok(None) };
        let initial = self.initial(None)?;
        slide(initial.as_ref().map(RawBson::as_raw_bson_ref)).map(Some)
    }

    fn initial(&self, id: Option<RawBsonRef<'_>>) -> Result<Option<RawBson>> {
        let Some(initializer) = &self.initializer else { return Ok(None) };
        let empty = bson::RawDocumentBuf::new();
        let root = match id {
            Some(RawBsonRef::Document(id)) => id,
            _ => &*empty,
        };
        initializer.evaluate_owned(root)
    }

    /// Takes one document into the state of its group.
    pub fn add(&self, state: &mut dyn Accumulator, document: &RawDocument) -> Result<()> {
        let value = self.argument.evaluate(document)?;
        state.add(value.as_ref().map(Value::get), document)
    }
}

/// Refuses an accumulator that has outgrown its limit.
fn check_bytes(name: &str, bytes: usize) -> Result<()> {
    if bytes > ACCUMULATOR_BYTES_MAX {
        return Err(Code::ExceededMemoryLimit.error(format!(
            "{name} used too much memory and spilling to disk will not reduce it. Memory limit: {ACCUMULATOR_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}

/// About how much memory a value takes.
pub(super) fn size_of_value(value: RawBsonRef<'_>) -> usize {
    let inside = match value {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => text.len(),
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        RawBsonRef::Binary(binary) => binary.bytes.len(),
        _ => 0,
    };
    size_of::<RawBson>() + inside
}

/// The type of a value that an accumulator cannot take, for its message.
fn type_name(value: Option<RawBsonRef<'_>>) -> &'static str {
    coerce::type_name(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        assert!(ROWS.is_sorted_by_key(|row| row.name));
    }
}
