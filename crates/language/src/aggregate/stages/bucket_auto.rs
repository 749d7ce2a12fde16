//! `$bucketAuto`: groups into ranges of about the same number of documents.

use super::bucket::{count_field, is_expression, parse_output};
use super::granularity::Granularity;
use super::sorter::{Item, Sorted, Sorter};
use super::{Documents, Foreign, Specification, Stage, one};
use crate::aggregate::accumulators::Accumulation;
use crate::aggregate::expressions::{Expression, coerce};
use crate::aggregate::limits::STAGE_MEMORY_BYTES_MAX;
use crate::describe;
use crate::{Needs, interrupt};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{elements, get_value};
use value::key::{Direction, Key};
use value::{Collator, DocumentWriter, wide};

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

    fn sort(&self, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<(Sorted, usize)> {
        let mut sorter = Sorter::new("$bucketAuto", STAGE_MEMORY_BYTES_MAX, foreign.clone());
        let mut count = 0;
        for document in input {
            let document = document?;
            let value = self.key(&document)?;
            let mut key = Key::default();
            let collator = self.collator.as_deref();
            key.push(value.as_raw_bson_ref(), Direction::Ascending, collator);
            sorter.push(key.bytes, Member::encode(&value, count, &document))?;
            count += 1;
        }
        Ok((sorter.finish()?, count))
    }

    /// The rounded boundary above a value, where boundaries are rounded.
    fn rounded_up(&self, value: &RawBson) -> Option<RawBson> {
        self.granularity.as_ref().map(|granularity| round(granularity, value, true))
    }

    /// Whether a value belongs below a rounded boundary.
    fn is_below(&self, value: &RawBson, boundary: &RawBson) -> bool {
        let (value, boundary) = (value.as_raw_bson_ref(), boundary.as_raw_bson_ref());
        value::order::compare_with(value, boundary, self.collator.as_deref()).is_lt()
    }
}

/// A document in the order of what it is grouped by.
struct Member {
    key: Vec<u8>,
    value: RawBson,
    /// Its place in the input, as a key.
    order: Vec<u8>,
    document: RawDocumentBuf,
}

impl Member {
    fn encode(value: &RawBson, order: usize, document: &RawDocument) -> RawDocumentBuf {
        let mut row = DocumentWriter::with_capacity(document.as_bytes().len() + 64);
        row.append("value", value.as_raw_bson_ref());
        row.append_i64("order", order as i64);
        row.append_document("document", document);
        row.finish()
    }

    fn decode(item: Item) -> Result<Member> {
        let row = &item.document;
        match (get_value(row, "value"), get_value(row, "order"), get_value(row, "document")) {
            (Some(value), Some(RawBsonRef::Int64(order)), Some(RawBsonRef::Document(document))) => {
                Ok(Member {
                    value: value::value::to_owned(value),
                    order: order.to_be_bytes().to_vec(),
                    document: document.to_owned(),
                    key: item.key,
                })
            }
            _ => Err(Code::InternalError.error("a sorted document is not what was sorted")),
        }
    }
}

/// A run of the stage: one bucket after the other.
struct Buckets {
    stage: Arc<BucketAuto>,
    foreign: Arc<dyn Foreign>,
    sorted: Sorted,
    /// The first document of the next bucket.
    next: Option<Member>,
    /// Documents that a bucket is to have.
    size: usize,
    given: usize,
    /// The upper bound of the bucket before.
    previous: Option<RawBson>,
}

impl Buckets {
    fn new(
        stage: Arc<BucketAuto>,
        input: Documents,
        foreign: &Arc<dyn Foreign>,
    ) -> Result<Buckets> {
        let (sorted, count) = stage.sort(input, foreign)?;
        let size = ((count as f64 / stage.buckets as f64).round() as usize).max(1);
        let foreign = foreign.clone();
        let mut buckets =
            Buckets { stage, foreign, sorted, next: None, size, given: 0, previous: None };
        buckets.advance()?;
        Ok(buckets)
    }

    /// Takes the next document, and looks at the one behind it.
    fn advance(&mut self) -> Result<Option<Member>> {
        let next = self.sorted.next().transpose()?.map(Member::decode).transpose()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn bucket(&mut self) -> Result<Option<RawDocumentBuf>> {
        if self.given == self.stage.buckets {
            return Ok(None);
        }
        let Some(first) = &self.next else { return Ok(None) };
        self.given += 1;
        let min = match (&self.stage.granularity, self.previous.take()) {
            (Some(_), Some(previous)) => previous,
            (Some(granularity), None) => round(granularity, &first.value, false),
            (None, _) => first.value.clone(),
        };
        // `$first` and its kin mean the order of the input.
        let mut members = Sorter::new("$bucketAuto", STAGE_MEMORY_BYTES_MAX, self.foreign.clone());
        let max = self.fill(&mut members)?;
        let bucket = self.accumulate(&min, &max, members)?;
        self.previous = Some(max);
        Ok(Some(bucket))
    }

    /// Takes in the documents of a bucket; gives its upper bound.
    fn fill(&mut self, members: &mut Sorter) -> Result<RawBson> {
        let last = self.given == self.stage.buckets;
        let mut left = if last { usize::MAX } else { self.size };
        let (mut greatest, mut key) = (RawBson::Null, Vec::new());
        let mut most = None;
        while let Some(next) = &self.next {
            if left == 0 {
                // Equal values are not parted.
                let most = most.get_or_insert_with(|| self.stage.rounded_up(&greatest));
                let below =
                    most.as_ref().is_some_and(|most| self.stage.is_below(&next.value, most));
                if next.key != key && !below {
                    break;
                }
            }
            let Some(member) = self.advance()? else { break };
            if left > 0 {
                left -= 1;
                (greatest, key) = (member.value, member.key);
            }
            members.push(member.order, member.document)?;
        }
        let next = self.next.as_ref().map(|next| &next.value);
        Ok(match (&self.stage.granularity, next) {
            (None, next) => next.unwrap_or(&greatest).clone(),
            (Some(granularity), next) => {
                let max = round(granularity, &greatest, true);
                let number = coerce::number(Some(max.as_raw_bson_ref()));
                match next {
                    Some(next) if number.is_some_and(|max| max.is_zero()) => {
                        round(granularity, next, false)
                    }
                    _ => max,
                }
            }
        })
    }

    fn accumulate(&self, min: &RawBson, max: &RawBson, members: Sorter) -> Result<RawDocumentBuf> {
        let fields = &self.stage.fields;
        let start = |(_, accumulation): &(Box<str>, Accumulation)| accumulation.start(None);
        let mut states = fields.iter().map(start).collect::<Result<Vec<_>>>()?;
        for member in members.finish()? {
            let document = member?.document;
            interrupt::check_sized(document.as_bytes().len())?;
            let _entered = wide::enter(&document);
            for ((_, accumulation), state) in fields.iter().zip(&mut states) {
                accumulation.add(&mut **state, &document)?;
            }
        }
        let mut out = DocumentWriter::new();
        out.begin_document("_id");
        out.append("min", min.as_raw_bson_ref());
        out.append("max", max.as_raw_bson_ref());
        out.end();
        for ((name, _), state) in fields.iter().zip(states) {
            let value = state.value()?.unwrap_or(RawBson::Null);
            out.append(name, value.as_raw_bson_ref());
        }
        Ok(out.finish())
    }
}

impl Iterator for Buckets {
    type Item = Result<RawDocumentBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.bucket().transpose()
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

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(Box::new(Buckets::new(self, input, foreign)?))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.by.needs(needs);
        self.fields.iter().for_each(|(_, accumulation)| accumulation.needs(needs));
        ControlFlow::Break(())
    }
}
