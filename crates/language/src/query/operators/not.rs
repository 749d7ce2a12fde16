//! `$not`

use super::{Argument, FieldOperator, Regex};
use crate::query::{Predicate, parse};
use bson::RawBsonRef;
use error::{Code, Result};
use value::elements;

pub const ROW: FieldOperator =
    FieldOperator { name: "$not", help: "The field does not satisfy these.", parse };

fn parse(argument: &Argument<'_>) -> Result<Predicate> {
    let inner = match argument.element.value() {
        RawBsonRef::RegularExpression(regex) => {
            Predicate::Regex(Regex::new(regex.pattern.as_str(), regex.options.as_str())?)
        }
        RawBsonRef::Document(conditions) => {
            if elements(conditions).next().is_none() {
                return Err(Code::BadValue.error("$not cannot be empty"));
            }
            let mut all = parse::predicates(conditions, argument.field, argument.scope)?;
            if all.len() == 1 { all.remove(0) } else { Predicate::And(all) }
        }
        _ => return Err(Code::BadValue.error("$not needs a regex or a document")),
    };
    Ok(Predicate::Not(Box::new(inner)))
}
