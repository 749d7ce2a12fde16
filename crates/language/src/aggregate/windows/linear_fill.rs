//! `$linearFill`: nulls filled on the line between the known values around them.

use super::arithmetic::{Place, Places, add, multiply, subtract};
use super::{Function, Run, Specification};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use value::Number;

#[derive(Debug)]
struct LinearFill {
    input: Expression,
    places: Places,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    function.no_window()?;
    if function.sort.is_none_or(|sort| sort.fields().len() != 1) {
        return Err(Code::location(605001).error(
            "$linearFill must be specified with a top level sortBy expression with exactly one element",
        ));
    }
    Ok(Arc::new(LinearFill {
        input: Expression::parse(function.operand, function.context)?,
        places: Places::by(function.sort),
    }))
}

/// A known point.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: Number,
    value: Number,
}

impl Point {
    /// The value at a place on the line to another point.
    fn on_line_to(self, other: Point, at: Number) -> Number {
        let slope = subtract(other.value, self.value).divide(subtract(other.at, self.at));
        add(self.value, multiply(subtract(at, self.at), slope))
    }
}

impl Function for LinearFill {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Filling {
            function: self,
            last: None,
            pending: VecDeque::new(),
            known: VecDeque::new(),
            before: None,
            value: RawBson::Null,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.input.needs(needs);
    }
}

struct Filling {
    function: Arc<LinearFill>,
    /// Where the last document stands that was taken in.
    last: Option<Place>,
    /// The documents that have no value yet: where they stand, and what they have.
    pending: VecDeque<(Number, Option<RawBson>)>,
    /// The known points among them.
    known: VecDeque<Point>,
    /// The last known point before them.
    before: Option<Point>,
    value: RawBson,
}

impl Filling {
    /// Where a document stands: all by numbers, or all by dates, and none twice.
    fn place(&self, document: &RawDocument) -> Result<Place> {
        let place = self.function.places.of(document).map_err(|found| {
            Code::TypeMismatch.error(format!(
                "Value of the sortBy field must be numeric or a date, but found {found}"
            ))
        })?;
        if let Some(last) = self.last {
            if last.is_date() != place.is_date() {
                return Err(Code::TypeMismatch.error("Conflicting sort value types"));
            }
            if last.number().compare(place.number()).is_eq() {
                return Err(Code::location(6050106)
                    .error("There can be no repeated values in the sort field"));
            }
        }
        Ok(place)
    }
}

impl Run for Filling {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let place = self.place(document)?;
        self.last = Some(place);
        let at = place.number();
        let value = self.function.input.evaluate_owned(document)?;
        let value = value.filter(|value| !coerce::is_nullish(Some(value.as_raw_bson_ref())));
        if let Some(value) = &value {
            let value = Some(value.as_raw_bson_ref());
            let Some(value) = coerce::number(value) else {
                return Err(Code::TypeMismatch.error(format!(
                    "Value to be filled must be numeric or nullish, but found {}",
                    coerce::type_name(value)
                )));
            };
            self.known.push_back(Point { at, value });
        }
        self.pending.push_back((at, value));
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let between = self.before.is_some() && self.known.is_empty();
        if between && !ended && self.pending.front().is_some_and(|(_, value)| value.is_none()) {
            return Ok(false);
        }
        let Some((at, value)) = self.pending.pop_front() else { return Ok(ended) };
        self.value = match (value, self.before, self.known.front()) {
            (Some(value), ..) => {
                self.before = self.known.pop_front();
                value
            }
            (None, Some(before), Some(behind)) => before.on_line_to(*behind, at).to_value(),
            _ => RawBson::Null,
        };
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        self.pending.len() * size_of::<(Number, Option<RawBson>)>()
            + self.known.len() * size_of::<Point>()
    }
}
