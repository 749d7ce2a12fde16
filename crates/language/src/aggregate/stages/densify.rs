//! `$densify`: documents for the values that a sequence lacks.
//!
//! It is parsed into a `$sort` and the stage itself, which gives out one document
//! after the other: each as it comes, and before it those that are missing up to
//! it. Every partition steps on by itself, from its last value on the step.

mod run;

use super::add_fields::with;
use super::options::Options;
use super::{Documents, Foreign, Sort, Specification, Stage};
use crate::aggregate::expressions::date::unit::{self, Unit};
use crate::aggregate::expressions::date::zone::Zone;
use crate::aggregate::expressions::{FieldPath, coerce};
use crate::aggregate::windows::arithmetic::{add, subtract};
use crate::sort::Pattern;
use crate::{Context, Needs};
use bson::{DateTime, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use run::Run;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{array_elements, get};
use value::key::{Direction, Key};
use value::path::Apart;
use value::{Number, Path, Value, wide};

#[derive(Debug, Clone, Copy)]
enum Bounds {
    Full,
    Partition,
    /// From the first, up to and without the second.
    Explicit(Number, Number),
}

#[derive(Debug)]
struct Densify {
    field: FieldPath,
    partition: Vec<FieldPath>,
    step: Number,
    unit: Option<Unit>,
    bounds: Bounds,
    context: Context,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::FailedToParse.error(format!(
            "The $densify stage specification must be an object, found {}",
            coerce::type_name(Some(stage.value))
        )));
    };
    let (mut field, mut partition, mut range) = (None, None, None);
    let options = Options::new("$densify", spec);
    options.each(|option| {
        match option.key {
            "field" => field = options.string(option)?,
            "partitionByFields" => partition = options.array(option)?,
            "range" => range = options.object(option)?,
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    let field = field.ok_or_else(|| options.missing("field"))?;
    let range = range.ok_or_else(|| options.missing("range"))?;
    let mut names = Vec::new();
    for name in partition.into_iter().flat_map(array_elements) {
        let RawBsonRef::String(path) = name.value() else {
            let path = format!("partitionByFields.{}", name.key);
            return Err(options.wrong(&path, "string", name.value()));
        };
        names.push(path);
    }
    let (step, unit, bounds) = parse_range(range)?;
    let mut known = FxHashSet::default();
    names.retain(|name| known.insert(*name));
    let partition = names.into_iter().map(FieldPath::parse).collect::<Result<Vec<_>>>()?;
    let field = FieldPath::parse(field)?;
    if matches!(bounds, Bounds::Partition) && partition.is_empty() {
        return Err(Code::location(5733408).error(
            "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.",
        ));
    }
    let context = stage.context.clone();
    let densify = Densify { field, partition, step, unit, bounds, context };
    let sort = Sort::new(densify.order(), stage.context.collator.clone());
    Ok(vec![Box::new(sort), Box::new(densify)])
}

fn parse_range(range: &RawDocument) -> Result<(Number, Option<Unit>, Bounds)> {
    let (mut step, mut unit, mut bounds) = (None, None, None);
    let options = Options::new("$densify.range", range);
    options.each(|option| {
        match option.key {
            "step" => step = Some(option.value()),
            "unit" => unit = options.string(option)?,
            "bounds" => bounds = Some(option.value()),
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    let step = step.ok_or_else(|| options.missing("step"))?;
    let bounds = bounds.ok_or_else(|| options.missing("bounds"))?;
    let positive = Number::from_value(step)
        .filter(|step| !step.is_nan() && !step.is_negative() && !step.is_zero());
    let Some(step) = positive else {
        return Err(Code::location(5733401).error(
            "The step parameter in a range statement must be a strictly positive numeric value",
        ));
    };
    if unit.is_some() && step.to_i64_exact().is_none() {
        return Err(Code::location(6586400).error(
            "The step parameter in a range statement must be a whole number when densifying a date range",
        ));
    }
    let unit = unit.map(Unit::parse).transpose()?;
    Ok((step, unit, parse_bounds(bounds, step, unit)?))
}

fn parse_bounds(bounds: RawBsonRef<'_>, step: Number, unit: Option<Unit>) -> Result<Bounds> {
    let array = match bounds {
        RawBsonRef::String("full") => return Ok(Bounds::Full),
        RawBsonRef::String("partition") => return Ok(Bounds::Partition),
        RawBsonRef::String(_) => {
            return Err(
                Code::location(5946802).error("Bounds string must either be 'full' or 'partition'")
            );
        }
        RawBsonRef::Array(array) => array,
        _ => {
            return Err(Code::location(5733404).error(
                "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates",
            ));
        }
    };
    let values: Vec<_> = array_elements(array).map(|element| element.value()).collect();
    let [lower, upper] = values.as_slice() else {
        return Err(Code::location(5733403)
            .error("A bounding array in a range statement must have exactly two elements"));
    };
    if value::order::compare(*lower, *upper).is_gt() {
        return Err(Code::location(5733402).error(
            "A bounding array must be an ascending array of either two dates or two numbers",
        ));
    }
    match (lower, upper) {
        (RawBsonRef::DateTime(lower), RawBsonRef::DateTime(upper)) => {
            if unit.is_none() {
                return Err(
                    Code::location(5733410).error("A bounding array of dates must specify a unit")
                );
            }
            let millis = |date: &DateTime| Number::Int64(date.timestamp_millis());
            Ok(Bounds::Explicit(millis(lower), millis(upper)))
        }
        (RawBsonRef::DateTime(_), _) => Err(mixed(5733405)),
        _ => numeric_bounds(*lower, *upper, step, unit),
    }
}

fn mixed(code: i32) -> error::Error {
    Code::location(code)
        .error("A bounding array must contain either both dates or both numeric types")
}

fn numeric_bounds(
    lower: RawBsonRef<'_>,
    upper: RawBsonRef<'_>,
    step: Number,
    unit: Option<Unit>,
) -> Result<Bounds> {
    let Some(low) = Number::from_value(lower) else {
        return Err(Code::location(5946800).error("Explicit bounds must be numeric or dates"));
    };
    if unit.is_some() {
        return Err(Code::location(5733409).error("Numeric bounds may not have unit parameter"));
    }
    let high = Number::from_value(upper).ok_or_else(|| mixed(5733406))?;
    let kind = std::mem::discriminant::<Number>;
    if kind(&low) != kind(&high) || kind(&low) != kind(&step) {
        return Err(Code::location(5876900)
            .error("Upper bound, lower bound, and step must all have the same type"));
    }
    Ok(Bounds::Explicit(low, high))
}

impl Densify {
    /// What the input is sorted by. Where all partitions span the same range they
    /// go on side by side.
    fn order(&self) -> Pattern {
        let partitions = match self.bounds {
            Bounds::Full => &[],
            _ => self.partition.as_slice(),
        };
        let is_partition = partitions.iter().any(|path| path.path() == self.field.path());
        let last = (!is_partition).then_some(&self.field);
        let paths = partitions.iter().chain(last);
        let fields = paths.map(|path| (path.path().clone(), Direction::Ascending));
        Pattern::from_fields(fields.collect())
    }

    /// The value to densify by; `None` is null.
    fn value(&self, document: &RawDocument) -> Result<Option<Number>> {
        let value = self.field.resolve(document);
        let value = value.as_ref().map(Value::get);
        if coerce::is_nullish(value) {
            return Ok(None);
        }
        match (value, coerce::number(value), self.unit) {
            (Some(RawBsonRef::DateTime(date)), _, Some(_)) => {
                Ok(Some(Number::Int64(date.timestamp_millis())))
            }
            (_, Some(number), None) => Ok(Some(number)),
            (Some(RawBsonRef::DateTime(_)), _, None) => Err(Code::location(6053600).error(
                "Encountered date densify value in collection when step does not have a date unit.",
            )),
            (_, Some(_), Some(_)) => Err(Code::location(6053600).error(
                "Encountered numeric densify value in collection when step has a date unit.",
            )),
            _ => Err(Code::location(5733201).error("Densify field type must be numeric or a date")),
        }
    }

    fn above(&self, value: Number) -> Result<Number> {
        self.moved(value, self.step.to_i64_saturated(), add)
    }

    fn below(&self, value: Number) -> Result<Number> {
        self.moved(value, -self.step.to_i64_saturated(), subtract)
    }

    fn moved(
        &self,
        value: Number,
        by: i64,
        number: fn(Number, Number) -> Number,
    ) -> Result<Number> {
        match self.unit {
            None => Ok(number(value, self.step)),
            Some(unit) => {
                let millis = unit::add(value.to_i64_saturated(), unit, by, &Zone::UTC)?;
                Ok(Number::Int64(millis))
            }
        }
    }

    /// The fields that every generated document of a partition has.
    fn template(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let _entered = wide::enter(document);
        let mut template = RawDocumentBuf::new();
        let mut rest: Vec<&FieldPath> = self.partition.iter().collect();
        // All at once, but for paths within others.
        while !rest.is_empty() {
            let mut apart = Apart::default();
            let (now, later): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|path| apart.add(path.path()));
            let values = now.iter().map(|path| {
                let value = path.resolve(document).map(Value::into_owned);
                (path.path(), value)
            });
            template = with(&template, values, &self.context)?;
            rest = later;
        }
        check_path(&template, self.field.path())?;
        Ok(template)
    }

    fn key(&self, document: &RawDocument) -> Vec<u8> {
        let _entered = wide::enter(document);
        let mut key = Key::default();
        for path in &self.partition {
            let part = path.resolve(document);
            let part = part.as_ref().map_or(RawBsonRef::Null, Value::get);
            key.push(part, Direction::Ascending, self.context.collator.as_deref());
        }
        key.bytes
    }

    fn document(&self, template: &RawDocument, value: Number) -> Result<RawDocumentBuf> {
        let value = match self.unit {
            Some(_) => RawBson::DateTime(DateTime::from_millis(value.to_i64_saturated())),
            None => value.to_value(),
        };
        with(template, [(self.field.path(), Some(value))], &self.context)
    }
}

/// The field must not lie inside an array or a plain value of the partition's.
fn check_path(template: &RawDocument, path: &Path) -> Result<()> {
    let mut at = template;
    for (depth, name) in path.components().enumerate() {
        match get(at, name).map(|element| element.value()) {
            None => return Ok(()),
            Some(RawBsonRef::Array(_)) => {
                return Err(Code::location(5733307)
                    .error("$densify cannot generate fields nested inside arrays"));
            }
            Some(RawBsonRef::Document(inner)) => at = inner,
            Some(_) if depth + 1 < path.len() => {
                return Err(Code::location(5733308)
                    .error("$densify cannot overwrite non-object values with objects"));
            }
            Some(_) => return Ok(()),
        }
    }
    Ok(())
}

impl Stage for Densify {
    fn name(&self) -> &'static str {
        "$densify"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(Run::new(self, input)))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.add(self.field.path());
        self.partition.iter().for_each(|path| needs.add(path.path()));
        ControlFlow::Continue(())
    }
}
