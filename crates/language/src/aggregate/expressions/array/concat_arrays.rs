//! `$concatArrays`: arrays, one after the other.

use super::array;
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use crate::interrupt;
use value::ArrayWriter;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut written = Held::default();
    let mut out = ArrayWriter::new();
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let part = array(&arguments, at, 28664, "$concatArrays only supports arrays, not ")?;
        written.write(out.bytes() + part.as_bytes().len())?;
        for element in array_elements(part) {
            interrupt::check()?;
            out.copy(element);
        }
    }
    own(out.finish())
}
