//! `$slice`: some elements in a row.

use super::array;
use crate::Extent;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, Node};
use crate::interrupt;
use error::{Code, Result};
use value::ArrayWriter;
use value::element::{array_elements, array_len};

/// Where its bounds are constants, what is before the end of them: one element at least, since
/// what is no array is an error.
pub fn reach(operands: &[Option<Node>]) -> Option<Extent> {
    let start = operands.get(1)?.as_ref()?.integer()?;
    let distance = start.unsigned_abs() as usize;
    match operands.get(2) {
        _ if start < 0 => Extent::last(distance),
        None | Some(None) => Extent::first(distance.max(1)),
        Some(Some(count)) => {
            let count = usize::try_from(count.integer()?).ok()?;
            Extent::first(distance.saturating_add(count).max(1))
        }
    }
}

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) || arguments.nullish(1) {
        return null();
    }
    let input =
        array(&arguments, 0, 28724, "First argument to $slice must be an array, but is of type: ")?;
    let second = integer(&arguments, 1, "Second", 28725, 28726)?;
    let length = array_len(input) as i64;
    let (start, count) = if arguments.given(2) {
        if arguments.nullish(2) {
            return null();
        }
        let count = integer(&arguments, 2, "Third", 28727, 28728)?;
        if count <= 0 {
            return Err(Code::location(28729)
                .error(format!("Third argument to $slice must be positive: {count}")));
        }
        let start = if second < 0 { (length + second).max(0) } else { second.min(length) };
        (start, count)
    } else if second < 0 {
        ((length + second).max(0), -second)
    } else {
        (0, second)
    };
    let mut out = ArrayWriter::new();
    for element in array_elements(input).skip(start as usize).take(count as usize) {
        interrupt::check()?;
        out.copy(element);
    }
    own(out.finish())
}

fn integer(
    arguments: &Arguments<'_, '_>,
    at: usize,
    what: &str,
    not_numeric: i32,
    not_integral: i32,
) -> Result<i64> {
    let numeric = format!("{what} argument to $slice must be a numeric value, but is of type");
    let integral = format!("{what} argument to $slice can't be represented as a 32-bit integer");
    arguments.int32(at, (not_numeric, &numeric), (not_integral, &integral)).map(i64::from)
}
