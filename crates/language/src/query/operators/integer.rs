//! Reading integer arguments, with MongoDB's reasons where they are none.

use error::{Code, Result};
use value::{Element, Number};

/// The element's value as an int64. The errors have code 9 (FailedToParse), which
/// some operators replace by their own.
pub fn integer(element: Element<'_>) -> Result<i64> {
    let failed = |why: &str| {
        let shown = crate::describe::element(element);
        Err(Code::FailedToParse.error(format!("{why}: {shown}")))
    };
    let Some(number) = Number::from_value(element.value()) else {
        return failed("Expected a number in");
    };
    match number.to_i64_exact() {
        Some(value) => Ok(value),
        None if number.is_nan() => failed("Expected an integer, but found NaN in"),
        None if number.is_finite() && !number.is_integral() => failed("Expected an integer"),
        None => failed("Cannot represent as a 64-bit integer"),
    }
}

/// As `natural`, in 32 bits.
pub fn natural_i32(element: Element<'_>) -> Result<i32> {
    i32::try_from(natural(element)?).map_err(|_| {
        let shown = crate::describe::element(element);
        Code::FailedToParse.error(format!("Cannot represent as a 32-bit integer: {shown}"))
    })
}

/// As `integer`, not below zero.
pub fn natural(element: Element<'_>) -> Result<i64> {
    let value = integer(element)?;
    if value < 0 {
        let shown = crate::describe::element(element);
        let message = format!("Expected a non-negative number in: {shown}");
        return Err(Code::FailedToParse.error(message));
    }
    Ok(value)
}
