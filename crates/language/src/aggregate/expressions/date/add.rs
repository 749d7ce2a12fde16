//! `$dateAdd`: a date and an amount of time.

use super::unit::{self, Unit};
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node, coerce};
use bson::DateTime;
use error::{Code, Result};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    match operands(&arguments)? {
        None => null(),
        Some((date, unit, amount, zone)) => {
            own(DateTime::from_millis(unit::add(date, unit, amount, &zone)?))
        }
    }
}

/// What `$dateAdd` and `$dateSubtract` take; `None` where an operand is null.
pub fn operands(arguments: &Arguments<'_, '_>) -> Result<Option<(i64, Unit, i64, Zone)>> {
    if arguments.nullish(0) || arguments.nullish(1) {
        return Ok(None);
    }
    let unit = Unit::of(arguments, 1)?;
    if arguments.nullish(2) {
        return Ok(None);
    }
    let Some(zone) = Zone::of(arguments, 3)? else { return Ok(None) };
    let Some(date) = arguments.get(0).and_then(coerce::date) else {
        return Err(Code::location(5166403)
            .error(format!("{} requires startDate to be convertible to a date", arguments.name)));
    };
    let Some(amount) = coerce::integral64(arguments.get(2)) else {
        return Err(Code::location(5166405)
            .error(format!("{} expects integer amount of time units", arguments.name)));
    };
    Ok(Some((date, unit, amount, zone)))
}

/// Finds constants that are no unit or zone.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    let operand = |at: usize| operands.get(at).and_then(Option::as_ref);
    Unit::check("$dateAdd", operand(1))?;
    Zone::check(operand(3))?;
    Ok(None)
}
