//! `$dateSubtract`: a date less an amount of time.

use super::{add, unit};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use bson::DateTime;
use error::Code;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let Some((date, unit, amount, zone)) = add::operands(&arguments)? else { return null() };
    let Some(amount) = amount.checked_neg() else {
        return Err(Code::location(6045000)
            .error(format!("invalid $dateSubtract 'amount' parameter value: {amount}")));
    };
    own(DateTime::from_millis(unit::add(date, unit, amount, &zone)?))
}
