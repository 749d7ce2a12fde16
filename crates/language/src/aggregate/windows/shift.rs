//! `$shift`: the value of another document, so many before or behind.

use super::{Function, Run, Specification, failed};
use crate::Needs;
use crate::aggregate::accumulators::size_of_value;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use value::element::elements;

#[derive(Debug)]
struct Shift {
    output: Expression,
    by: i64,
    default: RawBson,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    function.no_window()?;
    let RawBsonRef::Document(document) = function.operand else {
        return Err(failed("Argument to $shift must be an object"));
    };
    let (mut output, mut by, mut default) = (None, None, RawBson::Null);
    for element in elements(document) {
        match element.key {
            "output" => output = Some(Expression::parse(element.value(), function.context)?),
            "by" => match coerce::integral32(Some(element.value())) {
                Some(number) => by = Some(number),
                None => return Err(failed("'$shift:by' field must be an integer")),
            },
            "default" => {
                let value = Expression::parse(element.value(), function.context)?;
                match value.constant() {
                    Some(value) => {
                        default = value.map_or(RawBson::Null, value::value::to_owned);
                    }
                    None => {
                        return Err(failed(
                            "'$shift:default' expression must yield a constant value.",
                        ));
                    }
                }
            }
            key => return Err(failed(format!("Unknown argument in $shift: {key}"))),
        }
    }
    let (Some(output), Some(by)) = (output, by) else {
        return Err(failed("$shift requires an 'output' expression and a 'by' field"));
    };
    if function.sort.is_none() {
        return Err(failed("'$shift' requires a sortBy"));
    }
    Ok(Arc::new(Shift { output, by: by.into(), default }))
}

impl Function for Shift {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Shifted {
            function: self,
            values: VecDeque::new(),
            bytes: 0,
            first: 0,
            at: -1,
        }))
    }

    fn needs(&self, needs: &mut Needs) {
        self.output.needs(needs);
    }
}

struct Shifted {
    function: Arc<Shift>,
    /// The values of the documents from `first` on.
    values: VecDeque<RawBson>,
    bytes: usize,
    first: i64,
    /// The document that is being given its value.
    at: i64,
}

impl Shifted {
    /// The document whose value the current one is given.
    fn other(&self, at: i64) -> i64 {
        at + self.function.by
    }
}

impl Run for Shifted {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let value = self.function.output.evaluate_owned(document)?.unwrap_or(RawBson::Null);
        self.bytes += size_of_value(value.as_raw_bson_ref());
        self.values.push_back(value);
        Ok(())
    }

    fn advance(&mut self, ended: bool) -> Result<bool> {
        let other = self.other(self.at + 1);
        // What is before the other is not asked for again.
        while self.first < other
            && let Some(value) = self.values.pop_front()
        {
            self.first += 1;
            self.bytes -= size_of_value(value.as_raw_bson_ref());
        }
        if !ended && other >= self.first + self.values.len() as i64 {
            return Ok(false);
        }
        self.at += 1;
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        let place = usize::try_from(self.other(self.at) - self.first).ok();
        let value = place.and_then(|place| self.values.get(place));
        Some(value.unwrap_or(&self.function.default).as_raw_bson_ref())
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
