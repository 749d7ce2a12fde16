//! `$densify`: documents for the values that a sequence lacks.

use super::add_fields::with;
use super::{Documents, Foreign, Specification, Stage, held, one};
use crate::aggregate::expressions::arithmetic::add::add;
use crate::aggregate::expressions::date::unit::{self, Unit};
use crate::aggregate::expressions::date::zone::Zone;
use crate::aggregate::expressions::{FieldPath, coerce};
use crate::aggregate::limits::DENSIFY_DOCUMENTS_MAX;
use crate::{Context, Needs};
use bson::{DateTime, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{array_elements, elements};
use value::key::{Direction, Key};
use value::{Number, Value};

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
    let (mut field, mut partition, mut range) = (None, Vec::new(), None);
    for element in elements(spec) {
        match (element.key, element.value()) {
            ("field", RawBsonRef::String(path)) => field = Some(FieldPath::parse(path)?),
            ("partitionByFields", RawBsonRef::Array(fields)) => {
                for element in array_elements(fields) {
                    let RawBsonRef::String(path) = element.value() else {
                        return Err(wrong_type("partitionByFields", "string", element.value()));
                    };
                    partition.push(FieldPath::parse(path)?);
                }
            }
            ("range", RawBsonRef::Document(document)) => range = Some(document),
            ("field", other) => return Err(wrong_type("field", "string", other)),
            ("partitionByFields", other) => {
                return Err(wrong_type("partitionByFields", "array", other));
            }
            ("range", other) => return Err(wrong_type("range", "object", other)),
            (key, _) => {
                return Err(Code::location(40415)
                    .error(format!("BSON field '$densify.{key}' is an unknown field.")));
            }
        }
    }
    let missing = |field: &str| {
        Code::location(40414)
            .error(format!("BSON field '$densify.{field}' is missing but a required field"))
    };
    let field = field.ok_or_else(|| missing("field"))?;
    let (step, unit, bounds) = parse_range(range.ok_or_else(|| missing("range"))?)?;
    if matches!(bounds, Bounds::Partition) && partition.is_empty() {
        return Err(Code::location(5733408).error(
            "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.",
        ));
    }
    let context = stage.context.clone();
    one(Densify { field, partition, step, unit, bounds, context })
}

fn wrong_type(field: &str, expected: &str, value: RawBsonRef<'_>) -> error::Error {
    Code::TypeMismatch.error(format!(
        "BSON field '$densify.{field}' is the wrong type '{}', expected type '{expected}'",
        coerce::type_name(Some(value))
    ))
}

fn parse_range(range: &RawDocument) -> Result<(Number, Option<Unit>, Bounds)> {
    let (mut step, mut unit, mut bounds) = (None, None, None);
    for element in elements(range) {
        match (element.key, element.value()) {
            ("step", value) => step = Some(value),
            ("unit", RawBsonRef::String(name)) => unit = Some(Unit::parse(name)?),
            ("unit", other) => return Err(wrong_type("range.unit", "string", other)),
            ("bounds", value) => bounds = Some(value),
            (key, _) => {
                return Err(Code::location(40415)
                    .error(format!("BSON field '$densify.range.{key}' is an unknown field.")));
            }
        }
    }
    let missing = |field: &str| {
        Code::location(40414)
            .error(format!("BSON field '$densify.range.{field}' is missing but a required field"))
    };
    let step = step.ok_or_else(|| missing("step"))?;
    let bounds = bounds.ok_or_else(|| missing("bounds"))?;
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
        (RawBsonRef::DateTime(_), _) => Err(Code::location(5733405)
            .error("A bounding array must contain either both dates or both numeric types")),
        _ => {
            let Some(low) = Number::from_value(*lower) else {
                return Err(
                    Code::location(5946800).error("Explicit bounds must be numeric or dates")
                );
            };
            if unit.is_some() {
                return Err(
                    Code::location(5733409).error("Numeric bounds may not have unit parameter")
                );
            }
            let Some(high) = Number::from_value(*upper) else {
                return Err(Code::location(5733406).error(
                    "A bounding array must contain either both dates or both numeric types",
                ));
            };
            let kind = std::mem::discriminant::<Number>;
            if kind(&low) != kind(&high) || kind(&low) != kind(&step) {
                return Err(Code::location(5876900)
                    .error("Upper bound, lower bound, and step must all have the same type"));
            }
            Ok(Bounds::Explicit(low, high))
        }
    }
}

/// The documents of one partition.
#[derive(Debug, Default)]
struct Group {
    /// By the value of the field; dates are milliseconds.
    members: Vec<(Number, RawDocumentBuf)>,
}

impl Densify {
    fn run(&self, input: Documents) -> Result<Vec<RawDocumentBuf>> {
        let mut out = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut by_key = rustc_hash::FxHashMap::default();
        for document in held::collect("$densify", input)? {
            let value = self.field.resolve(&document);
            let Some(value) = self.value(value.as_ref().map(Value::get))? else {
                out.push(document);
                continue;
            };
            let mut key = Key::default();
            for path in &self.partition {
                let part = path.resolve(&document);
                let part = part.as_ref().map_or(RawBsonRef::Null, Value::get);
                key.push(part, Direction::Ascending, self.context.collator.as_deref());
            }
            let at = *by_key.entry(key.bytes).or_insert_with(|| {
                groups.push(Group::default());
                groups.len() - 1
            });
            groups[at].members.push((value, document));
        }
        for group in &mut groups {
            group.members.sort_by(|(a, _), (b, _)| a.compare(*b));
        }
        let all = groups.iter().flat_map(|group| group.members.iter().map(|(value, _)| *value));
        let least = all.clone().min_by(|a, b| a.compare(*b));
        let most = all.max_by(|a, b| a.compare(*b));
        if groups.is_empty() && matches!(self.bounds, Bounds::Explicit(..)) {
            groups.push(Group::default());
        }
        let mut generated = 0;
        for group in groups {
            self.fill(group, least.zip(most), &mut generated, &mut out)?;
        }
        Ok(out)
    }

    /// The value to densify by; `None` is null.
    fn value(&self, value: Option<RawBsonRef<'_>>) -> Result<Option<Number>> {
        match (value, self.unit) {
            (value, _) if coerce::is_nullish(value) => Ok(None),
            (Some(RawBsonRef::DateTime(date)), Some(_)) => {
                Ok(Some(Number::Int64(date.timestamp_millis())))
            }
            (Some(RawBsonRef::DateTime(_)), None) => {
                Err(Code::location(6053600).error("$densify field of type Date requires a 'unit'"))
            }
            (value, None) => match coerce::number(value) {
                Some(number) => Ok(Some(number)),
                None => Err(Code::location(5733201).error(format!(
                    "$densify field must be numeric, but it was {}",
                    coerce::type_name(value)
                ))),
            },
            (value, Some(_)) => Err(Code::location(6053600).error(format!(
                "$densify with a unit requires the field to be a Date, but it was {}",
                coerce::type_name(value)
            ))),
        }
    }

    fn fill(
        &self,
        group: Group,
        extremes: Option<(Number, Number)>,
        generated: &mut usize,
        out: &mut Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let own = group.members.first().map(|(value, _)| *value);
        let own = own.zip(group.members.last().map(|(value, _)| *value));
        // The upper bound itself is in the range only where it is a document's.
        let (lower, upper, inclusive) = match (self.bounds, extremes, own) {
            (Bounds::Explicit(lower, upper), _, _) => (lower, upper, false),
            (Bounds::Full, Some((lower, upper)), _) => (lower, upper, true),
            (Bounds::Partition, _, Some((lower, upper))) => (lower, upper, true),
            _ => return Ok(()),
        };
        let template = match group.members.first() {
            Some((_, document)) => self.template(document)?,
            None => RawDocumentBuf::new(),
        };
        let mut members = group.members.into_iter().peekable();
        let mut steps: i64 = 0;
        let mut next = lower;
        let within = |value: Number| {
            let order = value.compare(upper);
            order.is_lt() || (inclusive && order.is_eq())
        };
        while within(next) {
            while members.peek().is_some_and(|(value, _)| value.compare(next).is_lt()) {
                out.extend(members.next().map(|(_, document)| document));
            }
            let present = members.peek().is_some_and(|(value, _)| value.compare(next).is_eq());
            while members.peek().is_some_and(|(value, _)| value.compare(next).is_eq()) {
                out.extend(members.next().map(|(_, document)| document));
            }
            if !present {
                *generated += 1;
                if *generated > DENSIFY_DOCUMENTS_MAX {
                    return Err(Code::location(5897900).error(format!(
                        "Generated {generated} documents in $densify, which is over the limit of {DENSIFY_DOCUMENTS_MAX}."
                    )));
                }
                out.push(self.document(&template, next)?);
            }
            steps += 1;
            let following = self.step_from(lower, next, steps)?;
            if !following.compare(next).is_gt() {
                break;
            }
            next = following;
        }
        out.extend(members.map(|(_, document)| document));
        Ok(())
    }

    fn step_from(&self, lower: Number, current: Number, steps: i64) -> Result<Number> {
        match self.unit {
            None => Ok(add(current, self.step)),
            // Months are counted from the start, so that their ends do not drift.
            Some(unit) => {
                let amount = self.step.to_i64_saturated().saturating_mul(steps);
                let millis = unit::add(lower.to_i64_saturated(), unit, amount, &Zone::UTC)?;
                Ok(Number::Int64(millis))
            }
        }
    }

    /// The fields that every generated document of a partition has.
    fn template(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut template = RawDocumentBuf::new();
        for path in &self.partition {
            let value = path.resolve(document).map(Value::into_owned);
            template = with(&template, path.path(), value, &self.context)?;
        }
        Ok(template)
    }

    fn document(&self, template: &RawDocument, value: Number) -> Result<RawDocumentBuf> {
        let value = match self.unit {
            Some(_) => RawBson::DateTime(DateTime::from_millis(value.to_i64_saturated())),
            None => value.to_value(),
        };
        with(template, self.field.path(), Some(value), &self.context)
    }
}

impl Stage for Densify {
    fn name(&self) -> &'static str {
        "$densify"
    }

    fn run(self: Box<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(Densify::run(&self, input)?.into_iter().map(Ok)))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.add(self.field.path());
        self.partition.iter().for_each(|path| needs.add(path.path()));
        ControlFlow::Continue(())
    }
}
