//! `$concat`: strings, one after the other.

use super::text;
use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut written = Held::default();
    let mut out = String::new();
    for at in 0..arguments.len() {
        if arguments.nullish(at) {
            return null();
        }
        let part = text(&arguments, at, 16702, " only supports strings, not ")?;
        written.write(out.len() + part.len())?;
        out.push_str(part);
    }
    own(out)
}
