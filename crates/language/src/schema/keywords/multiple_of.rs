//! `multipleOf`

use super::{Given, Keyword, Parsed};
use crate::report::Report;
use crate::schema::{Rule, malformed};
use error::Result;
use value::{Element, Number};

pub const ROW: Keyword = Keyword { name: "multipleOf", help: "Divisible by this number.", parse };

#[derive(Debug)]
struct MultipleOf(Number);

fn parse(given: &Given<'_>) -> Result<Parsed> {
    let divisor = given.number()?;
    if divisor.compare(Number::Int32(0)).is_le() {
        return Err(malformed(given.name(), "must have a positive value"));
    }
    Ok(Some(Box::new(MultipleOf(divisor))))
}

impl Rule for MultipleOf {
    /// In decimal, so that 0.3 is a multiple of 0.1.
    fn accepts(&self, value: Element<'_>) -> Result<bool> {
        let Some(number) = Number::from_value(value.value()) else { return Ok(true) };
        let decimal = |number: Number| Number::Decimal(number.to_decimal());
        let remainder = decimal(number).remainder(decimal(self.0));
        Ok(remainder.is_some_and(Number::is_zero))
    }

    fn explain(&self, value: Element<'_>, report: &mut Report) {
        report.reason("considered value is not a multiple of the specified value");
        report.considered("consideredValue", value);
    }
}
