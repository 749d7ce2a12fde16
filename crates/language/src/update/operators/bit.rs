//! `$bit`: bitwise and, or, xor on an integer.

use super::super::operator::{Absent, Argument, Operator};
use super::super::place::{Place, id_of};
use super::super::walk::{Facts, Run};
use super::Row;
use crate::describe;
use bson::RawBsonRef;
use error::{Code, Result};
use std::sync::Arc;
use value::{DocumentWriter, Element};

pub const ROW: Row = Row { name: "$bit", parse, help: "bitwise and, or, xor on an integer" };

#[derive(Debug)]
struct Bit {
    steps: Vec<(Combine, Integer)>,
}

type Combine = fn(i64, i64) -> i64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Integer {
    Int32(i32),
    Int64(i64),
}

impl Integer {
    fn of(value: RawBsonRef<'_>) -> Option<Integer> {
        match value {
            RawBsonRef::Int32(number) => Some(Integer::Int32(number)),
            RawBsonRef::Int64(number) => Some(Integer::Int64(number)),
            _ => None,
        }
    }

    fn value(self) -> RawBsonRef<'static> {
        match self {
            Integer::Int32(number) => RawBsonRef::Int32(number),
            Integer::Int64(number) => RawBsonRef::Int64(number),
        }
    }

    /// 32 bits only where both sides have 32 bits.
    fn combine(self, combine: Combine, other: Integer) -> Integer {
        match (self, other) {
            (Integer::Int32(a), Integer::Int32(b)) => {
                Integer::Int32(combine(a.into(), b.into()) as i32)
            }
            (a, b) => Integer::Int64(combine(a.wide(), b.wide())),
        }
    }

    fn wide(self) -> i64 {
        match self {
            Integer::Int32(number) => number.into(),
            Integer::Int64(number) => number,
        }
    }
}

fn parse(argument: &Argument<'_>) -> Result<Arc<dyn Operator>> {
    let RawBsonRef::Document(_) = argument.value() else {
        return Err(Code::BadValue.error(format!(
            "The $bit modifier is not compatible with a {}. You must pass in an embedded \
             document: {{$bit: {{field: {{and/or/xor: #}}}}",
            argument.type_name()
        )));
    };
    let mut steps: Vec<(Combine, Integer)> = Vec::new();
    for step in argument.field.children() {
        let combine: Combine = match step.key {
            "and" => |a, b| a & b,
            "or" => |a, b| a | b,
            "xor" => |a, b| a ^ b,
            key => {
                return Err(Code::BadValue.error(format!(
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '{key}' which is \
                     an unknown operator: {{{}}}",
                    describe::element(step)
                )));
            }
        };
        let Some(operand) = Integer::of(step.value()) else {
            return Err(Code::BadValue.error(format!(
                "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported \
                 here: {{{}}}",
                describe::type_name(step.kind),
                describe::element(step)
            )));
        };
        steps.push((combine, operand));
    }
    if steps.is_empty() {
        return Err(Code::BadValue.error(
            "You must pass in at least one bitwise operation. The correct format is: {$bit: \
             {field: {and/or/xor: #}}",
        ));
    }
    Ok(Arc::new(Bit { steps }))
}

impl Bit {
    fn apply(&self, start: Integer) -> Integer {
        self.steps.iter().fold(start, |value, (combine, operand)| value.combine(*combine, *operand))
    }
}

impl Operator for Bit {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        let Some(number) = Integer::of(old.value()) else {
            return Err(Code::BadValue.error(format!(
                "Cannot apply $bit to a value of non-integral type.{} has the field {} of \
                 non-integer type {}",
                id_of(run.facts.before),
                place.name(),
                describe::type_name(old.kind)
            )));
        };
        let result = self.apply(number);
        if result == number {
            return Ok(());
        }
        run.edits.replace(old, |out| out.append(old.key, result.value()))
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Creates)
    }

    fn create(
        &self,
        key: &str,
        _: &Place<'_>,
        _: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        out.append(key, self.apply(Integer::Int32(0)).value());
        Ok(())
    }
}
