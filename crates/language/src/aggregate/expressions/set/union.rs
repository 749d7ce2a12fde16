//! `$setUnion`: elements that are in any set, in order.

use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use value::ArrayWriter;
use value::element::array_elements;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut all = Vec::new();
    let mut bytes = 0;
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let array = super::array(&arguments, at, 17043)?;
        bytes += array.as_bytes().len();
        coerce::check_size(bytes)?;
        all.extend(array_elements(array).map(|element| element.value()));
    }
    all.sort_by(|a, b| value::order::compare_with(*a, *b, arguments.collator));
    all.dedup_by(|a, b| value::order::compare_with(*a, *b, arguments.collator).is_eq());
    let mut out = ArrayWriter::new();
    all.into_iter().for_each(|value| out.push(value));
    own(out.finish())
}
