//! `$replaceOne` and `$replaceAll`: occurrences of a string replaced.

use crate::aggregate::expressions::call::Function;
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, required};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::{describe, interrupt};
use bson::RawBsonRef;
use error::Code;

const FIELDS: &[Field] =
    &[required("input", 51749), required("find", 51748), required("replacement", 51747)];

pub const fn named(function: Function) -> Named {
    Named { fields: FIELDS, not_object: 51751, unknown: 51750, function }
}

pub fn one<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    replace(&arguments, 1)
}

pub fn all<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    replace(&arguments, usize::MAX)
}

fn replace<'a>(arguments: &Arguments<'_, 'a>, count: usize) -> Evaluated<'a> {
    // A wrong type is an error even beside a null.
    let mut parts = [None; 3];
    for (at, code) in [(0, 10503904), (1, 10503901), (2, 10503902)] {
        match arguments.get(at) {
            Some(RawBsonRef::String(text)) => parts[at] = Some(text),
            value if coerce::is_nullish(value) => {}
            other => {
                return Err(Code::location(code).error(format!(
                    "{} requires that '{}' be a string, found: {}",
                    arguments.name,
                    FIELDS[at].name,
                    other.map(describe::value).unwrap_or_default()
                )));
            }
        }
    }
    let [Some(input), Some(find), Some(replacement)] = parts else { return null() };
    let mut written = Held::default();
    let mut out = String::new();
    let mut done = 0;
    for (at, found) in input.match_indices(find).take(count) {
        written.write(out.len() + (at - done) + replacement.len())?;
        interrupt::check_sized(replacement.len())?;
        out.push_str(input.get(done..at).unwrap_or_default());
        out.push_str(replacement);
        done = at + found.len();
    }
    let rest = input.get(done..).unwrap_or_default();
    written.write(out.len() + rest.len())?;
    out.push_str(rest);
    own(out)
}
