//! `$dateToString`: a date as text.

use super::conversion::{self, Operands};
use super::format;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Evaluated, Node, Parser, Scope, coerce};
use bson::RawBsonRef;
use error::Result;
use value::Value;

const NAME: &str = "$dateToString";

const FIELDS: &[Field] =
    &[required("date", 18628), optional("format"), optional("timezone"), optional("onNull")];

pub fn parse(parser: &mut Parser<'_>, operand: RawBsonRef<'_>) -> Result<Node> {
    let named = Named { fields: FIELDS, not_object: 18629, unknown: 18534, function: |_| null() };
    conversion::parse(parser, operand, NAME, &named, evaluate)
}

fn evaluate<'a>(operands: &'a Operands, scope: &'a Scope<'a>) -> Evaluated<'a> {
    let date = operands.get(0, scope)?.flatten();
    // A wrong format or zone is an error even where the date is null.
    let format = operands.format(scope, format::check_to_text, (18533, NAME))?;
    let zone = operands.zone(scope)?;
    let date = date.as_ref().map(Value::get);
    let Some(date) = date.filter(|date| !coerce::is_nullish(Some(*date))) else {
        return operands.or_null(3, scope);
    };
    let Some(zone) = zone else { return null() };
    let text = match &format {
        Some(None) => return null(),
        Some(Some(text)) => text,
        None => format::default(&zone),
    };
    own(format::format(coerce::to_date(date)?, &zone, text)?)
}
