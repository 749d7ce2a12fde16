//! `$bucketAuto`: groups into ranges of about the same number of documents.

use super::bucket::{count_field, is_expression, parse_output};
use super::granularity::Granularity;
use super::{Documents, Foreign, Specification, Stage, held, one};
use crate::Needs;
use crate::aggregate::accumulators::Accumulation;
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::elements;
use value::{Collator, DocumentWriter};

#[derive(Debug)]
struct BucketAuto {
    by: Expression,
    buckets: usize,
    fields: Vec<(Box<str>, Accumulation)>,
    granularity: Option<Granularity>,
    collator: Option<Arc<Collator>>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::location(40240).error(format!(
            "The argument to $bucketAuto must be an object, but found type: {}",
            coerce::type_name(Some(stage.value))
        )));
    };
    let (mut by, mut buckets, mut fields, mut granularity) = (None, None, Vec::new(), None);
    for element in elements(spec) {
        let value = element.value();
        match element.key {
            "groupBy" => {
                if !is_expression(value) {
                    return Err(Code::location(40239).error(format!(
                        "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: {}",
                        describe::value(value)
                    )));
                }
                by = Some(Expression::parse(value, stage.context)?);
            }
            "buckets" => buckets = Some(bucket_count(value)?),
            "output" => fields = parse_output("$bucketAuto", 40244, value, stage.context)?,
            "granularity" => match value {
                RawBsonRef::String(name) => granularity = Some(Granularity::parse(name)?),
                other => {
                    return Err(Code::location(40261).error(format!(
                        "The $bucketAuto 'granularity' field must be a string, but found type: {}",
                        coerce::type_name(Some(other))
                    )));
                }
            },
            key => {
                return Err(Code::location(40245)
                    .error(format!("Unrecognized option to $bucketAuto: {key}")));
            }
        }
    }
    let (Some(by), Some(buckets)) = (by, buckets) else {
        return Err(Code::location(40246)
            .error("$bucketAuto requires 'groupBy' and 'buckets' to be specified"));
    };
    if buckets <= 0 {
        return Err(Code::location(40243).error(format!(
            "The $bucketAuto 'buckets' field must be greater than 0, but found: {buckets}"
        )));
    }
    let varies = |(_, accumulation): &(Box<str>, Accumulation)| {
        accumulation.initializer.as_ref().is_some_and(|n| n.constant().is_none())
    };
    if fields.iter().any(varies) {
        return Err(Code::location(4544714).error("Can't refer to the group key in $bucketAuto"));
    }
    if fields.is_empty() {
        fields = count_field(stage.context)?;
    }
    let collator = stage.context.collator.clone();
    one(BucketAuto { by, buckets: buckets as usize, fields, granularity, collator })
}

fn bucket_count(value: RawBsonRef<'_>) -> Result<i32> {
    if !coerce::is_numeric(Some(value)) {
        return Err(Code::location(40241).error(format!(
            "The $bucketAuto 'buckets' field must be a numeric value, but found type: {}",
            coerce::type_name(Some(value))
        )));
    }
    coerce::integral32(Some(value)).ok_or_else(|| {
        Code::location(40242).error(format!(
            "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found {}",
            describe::value(value)
        ))
    })
}

impl BucketAuto {
    fn key(&self, document: &RawDocument) -> Result<RawBson> {
        let key = self.by.evaluate_owned(document)?.unwrap_or(RawBson::Null);
        if self.granularity.is_some() {
            let Some(number) = coerce::number(Some(key.as_raw_bson_ref())) else {
                return Err(Code::location(40258).error(format!(
                    "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: {}",
                    coerce::type_name(Some(key.as_raw_bson_ref()))
                )));
            };
            if number.is_nan() {
                return Err(Code::location(40259).error(
                    "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
                ));
            }
            if number.is_negative() && !number.is_zero() {
                return Err(Code::location(40260).error(
                    "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number",
                ));
            }
        }
        Ok(key)
    }

    fn compare(&self, a: &RawBson, b: &RawBson) -> Ordering {
        let (a, b) = (a.as_raw_bson_ref(), b.as_raw_bson_ref());
        value::order::compare_with(a, b, self.collator.as_deref())
    }

    fn run(&self, input: Documents) -> Result<Vec<RawDocumentBuf>> {
        let mut sorted = Vec::new();
        for (order, document) in held::collect("$bucketAuto", input)?.into_iter().enumerate() {
            sorted.push((self.key(&document)?, order, document));
        }
        sorted.sort_by(|a, b| self.compare(&a.0, &b.0));
        let size = ((sorted.len() as f64 / self.buckets as f64).round() as usize).max(1);
        let mut out: Vec<RawDocumentBuf> = Vec::new();
        let mut start = 0;
        let mut previous: Option<RawBson> = None;
        while start < sorted.len() && out.len() < self.buckets {
            let last = out.len() + 1 == self.buckets;
            let end = if last { sorted.len() } else { (start + size).min(sorted.len()) };
            let (end, max) = self.boundary(&sorted, end);
            let min = match (&self.granularity, previous.take()) {
                (Some(_), Some(previous)) => previous,
                (Some(granularity), None) => round(granularity, &sorted[start].0, false),
                (None, _) => sorted[start].0.clone(),
            };
            out.push(self.bucket(&min, &max, &mut sorted[start..end])?);
            previous = Some(max);
            start = end;
        }
        Ok(out)
    }

    /// Where a bucket that is to end at `end` really ends, and its upper bound.
    fn boundary(
        &self,
        sorted: &[(RawBson, usize, RawDocumentBuf)],
        mut end: usize,
    ) -> (usize, RawBson) {
        let greatest = sorted[end - 1].0.clone();
        let Some(granularity) = &self.granularity else {
            // Equal values are not parted.
            while end < sorted.len() && self.compare(&sorted[end].0, &greatest).is_eq() {
                end += 1;
            }
            let max = sorted.get(end).map_or(greatest, |(next, ..)| next.clone());
            return (end, max);
        };
        let max = round(granularity, &greatest, true);
        while end < sorted.len()
            && (self.compare(&sorted[end].0, &max).is_lt()
                || self.compare(&sorted[end].0, &greatest).is_eq())
        {
            end += 1;
        }
        let zero = coerce::number(Some(max.as_raw_bson_ref())).is_some_and(|max| max.is_zero());
        match sorted.get(end) {
            Some((next, ..)) if zero => (end, round(granularity, next, false)),
            _ => (end, max),
        }
    }

    fn bucket(
        &self,
        min: &RawBson,
        max: &RawBson,
        members: &mut [(RawBson, usize, RawDocumentBuf)],
    ) -> Result<RawDocumentBuf> {
        // `$first` and its kin mean the order of the input.
        members.sort_by_key(|(_, order, _)| *order);
        let mut out = DocumentWriter::new();
        out.begin_document("_id");
        out.append("min", min.as_raw_bson_ref());
        out.append("max", max.as_raw_bson_ref());
        out.end();
        for (name, accumulation) in &self.fields {
            let mut state = accumulation.start(None)?;
            for (_, _, document) in members.iter() {
                accumulation.add(&mut *state, document)?;
            }
            let value = state.value()?.unwrap_or(RawBson::Null);
            out.append(name, value.as_raw_bson_ref());
        }
        Ok(out.finish())
    }
}

fn round(granularity: &Granularity, value: &RawBson, up: bool) -> RawBson {
    match coerce::number(Some(value.as_raw_bson_ref())) {
        Some(number) if up => granularity.round_up(number),
        Some(number) => granularity.round_down(number),
        None => value.clone(),
    }
}

impl Stage for BucketAuto {
    fn name(&self) -> &'static str {
        "$bucketAuto"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(BucketAuto::run(&self, input)?.into_iter().map(Ok)))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.by.needs(needs);
        self.fields.iter().for_each(|(_, accumulation)| accumulation.needs(needs));
        ControlFlow::Break(())
    }
}
