//! `$dateFromString`: a date of text.

use super::conversion::{self, Operands};
use super::{format, parse as text};
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, coerce};
use bson::{DateTime, RawBsonRef};
use error::{Code, Result};
use value::Value;

const NAME: &str = "$dateFromString";

const FIELDS: &[Field] = &[
    required("dateString", 40542),
    optional("format"),
    optional("timezone"),
    optional("onNull"),
    optional("onError"),
];

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 40540, unknown: 40541, function: |_| null() };
    conversion::parse(parser, operand, NAME, &named, evaluate)
}

fn evaluate<'a>(operands: &'a Operands, scope: &'a Scope<'a>) -> Evaluated<'a> {
    let input = operands.get(0, scope)?.flatten();
    let _held = Held::value(input.as_ref())?;
    let format = operands.format(scope, format::check_from_text, (40684, NAME))?;
    let zone = operands.zone(scope)?;
    let input = input.as_ref().map(Value::get);
    if coerce::is_nullish(input) {
        return operands.or_null(3, scope);
    }
    let parsed = match input {
        Some(RawBsonRef::String(input)) => match (zone, format) {
            (None, _) | (_, Some(None)) => return null(),
            (Some(zone), Some(Some(format))) => text::parse_format(input, &format, &zone),
            (Some(zone), None) => text::parse_text(input, &zone),
        },
        other => Err(Code::ConversionFailure.error(format!(
            "{NAME} requires that 'dateString' be a string, found: {}",
            coerce::type_name(other)
        ))),
    };
    match parsed {
        Err(error) if error.code() == Code::ConversionFailure => {
            operands.get(4, scope)?.ok_or(error)
        }
        parsed => own(DateTime::from_millis(parsed?)),
    }
}
