//! `$setUnion`: elements that are in any set, in order.

use super::{array_of, each_once};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce, held};
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut all = Vec::new();
    let mut helds = Vec::new();
    let mut bytes = 0;
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let array = super::array(&arguments, at, 17043)?;
        bytes += array.as_bytes().len();
        coerce::check_size(bytes)?;
        let (values, held) = held::collect(array_elements(array).map(|e| Ok(e.value())))?;
        helds.push(held);
        all.extend(values);
    }
    own(array_of(each_once(all, arguments.collator)?)?)
}
