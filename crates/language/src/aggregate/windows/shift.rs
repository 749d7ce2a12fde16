//! `$shift`: the value of another document, so many before or behind.

use super::{Function, Partition, Specification, failed};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use bson::{RawBson, RawBsonRef};
use error::Result;
use value::element::elements;

#[derive(Debug)]
struct Shift {
    output: Expression,
    by: i64,
    default: RawBson,
}

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
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
    Ok(Box::new(Shift { output, by: by.into(), default }))
}

impl Function for Shift {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        (0..partition.documents.len() as i64)
            .map(|at| {
                let other = usize::try_from(at + self.by).ok();
                match other.and_then(|other| partition.documents.get(other)) {
                    Some(document) => {
                        Ok(Some(self.output.evaluate_owned(document)?.unwrap_or(RawBson::Null)))
                    }
                    None => Ok(Some(self.default.clone())),
                }
            })
            .collect()
    }

    fn needs(&self, needs: &mut Needs) {
        self.output.needs(needs);
    }
}
