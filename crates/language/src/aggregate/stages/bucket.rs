//! `$bucket`: groups by ranges of a value. Short for a `$group` by the lower
//! boundary of a value's range, and a `$sort`.

use super::{Group, Sort, Specification, Stage, group};
use crate::aggregate::accumulators::{self, Accumulation};
use crate::aggregate::expressions::{Evaluated, Expression, Node, Parser, Scope, Special, coerce};
use crate::sort::Pattern;
use crate::{Context, describe, interrupt};
use bson::{RawBson, RawBsonRef, rawdoc};
use error::{Code, Result};
use value::element::{array_elements, elements, get};
use value::{Path, Value};

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::location(40201).error(format!(
            "Argument to $bucket stage must be an object, but found type: {}.",
            coerce::type_name(Some(stage.value))
        )));
    };
    let (mut by, mut boundaries, mut default, mut output) = (None, Vec::new(), None, None);
    for element in elements(spec) {
        let value = element.value();
        match element.key {
            "groupBy" => {
                if !is_expression(value) {
                    return Err(Code::location(40202).error(format!(
                        "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {}.",
                        describe::value(value)
                    )));
                }
                by = Some(value);
            }
            "boundaries" => boundaries = parse_boundaries(value, stage.context)?,
            "default" => {
                let expression = Expression::parse(value, stage.context)?;
                let Some(value) = expression.constant() else {
                    return Err(Code::location(40195).error(format!(
                        "The $bucket 'default' field must be a constant expression, but found: {}.",
                        describe::value(value)
                    )));
                };
                default = value.map(value::value::to_owned);
            }
            "output" => {
                output = Some(parse_output("$bucket", 40196, value, stage.context)?);
                if value.as_document().is_some_and(|fields| get(fields, "_id").is_some()) {
                    return Err(group::second_id());
                }
            }
            key => {
                return Err(
                    Code::location(40197).error(format!("Unrecognized option to $bucket: {key}."))
                );
            }
        }
    }
    let (Some(by), [first, .., last]) = (by, boundaries.as_slice()) else {
        return Err(Code::location(40198)
            .error("$bucket requires 'groupBy' and 'boundaries' to be specified."));
    };
    if let Some(default) = &default {
        check_default(default, first, last, stage.context)?;
    }
    let by = Parser::new(stage.context).operand(by)?;
    let bucket = Node::Special(Box::new(Bucket { by, boundaries, default }));
    let id = Expression::from_node(bucket, stage.context)?;
    let fields = match output {
        Some(fields) => fields,
        None => count_field(stage.context)?,
    };
    let pattern = Pattern::ascending(Path::new("_id"));
    Ok(vec![
        Box::new(Group::new(id, fields, stage.context)),
        Box::new(Sort::new(pattern, stage.context.collator.clone())),
    ])
}

/// A `$`-path or an operator.
pub fn is_expression(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::String(path) => path.starts_with('$'),
        RawBsonRef::Document(document) => {
            elements(document).next().is_some_and(|element| element.key.starts_with('$'))
        }
        _ => false,
    }
}

fn parse_boundaries(value: RawBsonRef<'_>, context: &Context) -> Result<Vec<RawBson>> {
    let RawBsonRef::Array(array) = value else {
        return Err(Code::location(40200).error(format!(
            "The $bucket 'boundaries' field must be an array, but found type: {}.",
            coerce::type_name(Some(value))
        )));
    };
    let mut boundaries: Vec<RawBson> = Vec::new();
    for element in array_elements(array) {
        interrupt::check()?;
        let expression = Expression::parse(element.value(), context)?;
        let Some(Some(value)) = expression.constant() else {
            return Err(Code::location(40191).error(format!(
                "The $bucket 'boundaries' field must be an array of constant values, but found value: {}.",
                describe::value(element.value())
            )));
        };
        if let Some(lower) = boundaries.last() {
            check_pair(lower.as_raw_bson_ref(), value, context)?;
        }
        boundaries.push(value::value::to_owned(value));
    }
    if boundaries.len() < 2 {
        return Err(Code::location(40192).error(format!(
            "The $bucket 'boundaries' field must have at least 2 values, but found {} value(s).",
            boundaries.len()
        )));
    }
    Ok(boundaries)
}

fn check_pair(lower: RawBsonRef<'_>, upper: RawBsonRef<'_>, context: &Context) -> Result<()> {
    if value::order::class(lower) != value::order::class(upper) {
        return Err(Code::location(40193).error(format!(
            "All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types {} and {}.",
            coerce::type_name(Some(lower)),
            coerce::type_name(Some(upper))
        )));
    }
    if !value::order::compare_with(lower, upper, context.collator.as_deref()).is_lt() {
        return Err(Code::location(40194).error(format!(
            "The 'boundaries' option to $bucket must be sorted, but {} is not less than {}.",
            describe::value(lower),
            describe::value(upper)
        )));
    }
    Ok(())
}

fn check_default(
    default: &RawBson,
    first: &RawBson,
    last: &RawBson,
    context: &Context,
) -> Result<()> {
    let (default, first, last) =
        (default.as_raw_bson_ref(), first.as_raw_bson_ref(), last.as_raw_bson_ref());
    let collator = context.collator.as_deref();
    let inside = value::order::class(default) == value::order::class(first)
        && value::order::compare_with(default, first, collator).is_ge()
        && value::order::compare_with(default, last, collator).is_lt();
    if inside {
        return Err(Code::location(40199).error(
            "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
        ));
    }
    Ok(())
}

/// The accumulators of `output`.
pub fn parse_output(
    name: &str,
    code: i32,
    value: RawBsonRef<'_>,
    context: &Context,
) -> Result<Vec<(Box<str>, Accumulation)>> {
    let RawBsonRef::Document(output) = value else {
        return Err(Code::location(code).error(format!(
            "The {name} 'output' field must be an object, but found type: {}.",
            coerce::type_name(Some(value))
        )));
    };
    elements(output)
        .map(|element| {
            let accumulation = accumulators::parse_field(element.key, element.value(), context)?;
            Ok((element.key.into(), accumulation))
        })
        .collect()
}

/// What is put out where nothing is asked for.
pub fn count_field(context: &Context) -> Result<Vec<(Box<str>, Accumulation)>> {
    let sum = rawdoc! { "$sum": 1 };
    let count = accumulators::parse_field("count", RawBsonRef::Document(&sum), context)?;
    Ok(vec![("count".into(), count)])
}

/// The lower boundary of the range that a value lies in.
#[derive(Debug)]
struct Bucket {
    by: Node,
    /// In order, at least two.
    boundaries: Vec<RawBson>,
    /// Where the value lies in none of the ranges.
    default: Option<RawBson>,
}

impl Special for Bucket {
    fn evaluate<'a>(&'a self, scope: &'a Scope<'a>) -> Evaluated<'a> {
        let value = self.by.evaluate(scope)?;
        let value = value.as_ref().map(Value::get);
        let is_at_most = |boundary: &RawBson| {
            coerce::compare(Some(boundary.as_raw_bson_ref()), value, scope.collator).is_le()
        };
        let above = self.boundaries.partition_point(is_at_most);
        let lower = above.checked_sub(1).filter(|_| above < self.boundaries.len());
        let found = lower.and_then(|lower| self.boundaries.get(lower)).or(self.default.as_ref());
        match found {
            Some(found) => Ok(Some(Value::Ref(found.as_raw_bson_ref()))),
            None => Err(Code::location(40066).error(
                "$switch could not find a matching branch for an input, and no default was specified.",
            )),
        }
    }

    fn operands(&self) -> Vec<&Node> {
        vec![&self.by]
    }

    fn operands_mut(&mut self) -> Vec<&mut Node> {
        vec![&mut self.by]
    }
}
