//! `$setIntersection`: elements that are in every set.

use super::{Sorted, array_of, sorted};
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut common: Option<Sorted<'_>> = None;
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let set = sorted(super::array(&arguments, at, 17047)?, arguments.collator)?;
        common = Some(match common {
            None => set,
            Some(mut common) => {
                let mut kept = Vec::new();
                for value in common.values {
                    if set.contains(value, arguments.collator)? {
                        kept.push(value);
                    }
                }
                common.values = kept;
                common
            }
        });
    }
    own(array_of(common.into_iter().flat_map(|common| common.values))?)
}
