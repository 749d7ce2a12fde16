//! `$setIntersection`: elements that are in every set.

use super::{contains, sorted};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};
use value::ArrayWriter;

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut common = None;
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let set = sorted(super::array(&arguments, at, 17047)?, arguments.collator);
        common = Some(match common {
            None => set,
            Some(mut common) => {
                Vec::retain(&mut common, |value| contains(&set, *value, arguments.collator));
                common
            }
        });
    }
    let mut out = ArrayWriter::new();
    common.unwrap_or_default().into_iter().for_each(|value| out.push(value));
    own(out.finish())
}
