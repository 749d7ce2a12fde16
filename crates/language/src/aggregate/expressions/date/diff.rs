//! `$dateDiff`: how many borders of a unit lie between two dates.

use super::date;
use super::unit::{self, Unit, check_day_of_week, day_of_week};
use super::zone::Zone;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node};
use error::Result;

/// Weeks begin on Sunday unless another day is asked for.
pub const SUNDAY: i64 = 7;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if (0..3).any(|at| arguments.nullish(at)) {
        return null();
    }
    let unit = Unit::of(&arguments, 2)?;
    let mut first_day = SUNDAY;
    if unit == Unit::Week && arguments.given(4) {
        if arguments.nullish(4) {
            return null();
        }
        first_day = day_of_week(&arguments, 4)?;
    }
    let Some(zone) = Zone::of(&arguments, 3)? else { return null() };
    let start = date(&arguments, 0, "startDate")?;
    let end = date(&arguments, 1, "endDate")?;
    own(unit::difference(start, end, unit, &zone, first_day)?)
}

/// Finds constants that are no unit, zone or day.
pub fn check(operands: &[Option<Node>]) -> Result<Option<Node>> {
    let operand = |at: usize| operands.get(at).and_then(Option::as_ref);
    Unit::check("$dateDiff", operand(2))?;
    // No day at all makes the whole null, whatever the unit.
    if check_day_of_week("$dateDiff", operand(4))? {
        return Ok(Some(Node::null()));
    }
    Zone::check(operand(3))?;
    Ok(None)
}
