//! What `$inc` and `$mul` share.

use super::super::operator::{Absent, Argument, Operator};
use super::super::place::{Place, id_of};
use super::super::walk::{Facts, Run};
use crate::describe;
use error::{Code, Result};
use std::cmp::Ordering;
use std::sync::Arc;
use value::{DocumentWriter, Element, Number};

#[derive(Debug)]
pub struct Arithmetic {
    name: &'static str,
    operand: Number,
    /// `None` is an overflow.
    combine: fn(Number, Number) -> Option<Number>,
    /// What a field that does not exist becomes.
    initial: Number,
}

/// `verb` is for the message: "Cannot increment with non-numeric argument".
pub fn parse(
    argument: &Argument<'_>,
    name: &'static str,
    verb: &str,
    combine: fn(Number, Number) -> Option<Number>,
    initial: fn(Number) -> Option<Number>,
) -> Result<Arc<dyn Operator>> {
    let operand = Number::from_value(argument.value()).ok_or_else(|| {
        Code::TypeMismatch
            .error(format!("Cannot {verb} with non-numeric argument: {{{}}}", argument.describe()))
    })?;
    let initial = initial(operand).unwrap_or(operand);
    Ok(Arc::new(Arithmetic { name, operand, combine, initial }))
}

impl Operator for Arithmetic {
    fn update<'d>(&self, old: Element<'d>, place: &Place<'_>, run: &mut Run<'d>) -> Result<()> {
        let Some(number) = Number::from_value(old.value()) else {
            return Err(Code::TypeMismatch.error(format!(
                "Cannot apply {} to a value of non-numeric type. {{{}}} has the field '{}' of \
                 non-numeric type {}",
                self.name,
                id_of(run.facts.before),
                place.name(),
                describe::type_name(old.kind)
            )));
        };
        let Some(result) = (self.combine)(number, self.operand) else {
            return Err(Code::BadValue.error(format!(
                "Failed to apply {} operations to current value ({}) for document {{{}}}",
                self.name,
                typed(number),
                id_of(run.facts.before)
            )));
        };
        if unchanged(number, result) {
            return Ok(());
        }
        run.edits.replace(old, |out| out.append(old.key, result.to_ref()))
    }

    fn absent(&self, _: &Facts<'_>) -> Result<Absent> {
        Ok(Absent::Creates)
    }

    fn create(
        &self,
        key: &str,
        _: &Place<'_>,
        _: &Facts<'_>,
        out: &mut DocumentWriter,
    ) -> Result<()> {
        out.append(key, self.initial.to_ref());
        Ok(())
    }
}

/// Whether a number is what it was, type included. NaN never is: it is written
/// again and counts as a change.
fn unchanged(before: Number, after: Number) -> bool {
    match (before, after) {
        (Number::Int32(a), Number::Int32(b)) => a == b,
        (Number::Int64(a), Number::Int64(b)) => a == b,
        (Number::Double(a), Number::Double(b)) => a == b,
        (Number::Decimal(_), Number::Decimal(_)) => {
            !after.is_nan() && before.compare(after) == Ordering::Equal
        }
        _ => false,
    }
}

/// A number with its type, as the overflow message spells it.
fn typed(number: Number) -> String {
    let kind = match number {
        Number::Int32(_) => "NumberInt",
        Number::Int64(_) => "NumberLong",
        Number::Double(_) => "NumberDouble",
        Number::Decimal(_) => "NumberDecimal",
    };
    format!("({kind}){}", describe::value(number.to_ref()))
}
