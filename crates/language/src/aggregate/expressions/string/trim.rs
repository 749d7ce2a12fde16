//! `$trim`, `$ltrim`, `$rtrim`: without characters at the ends.

use super::text;
use crate::aggregate::expressions::call::Function;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::table::{Field, Named, optional, required};
use crate::aggregate::expressions::{Arguments, Evaluated};
use rustc_hash::FxHashSet;

const FIELDS: &[Field] = &[required("input", 50695), optional("chars")];

/// What is trimmed where nothing is asked for.
const WHITESPACE: [char; 20] = [
    '\0', ' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}',
];

pub const fn named(function: Function) -> Named {
    Named { fields: FIELDS, not_object: 50696, unknown: 50694, function }
}

pub fn both<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    trim(&arguments, true, true)
}

pub fn left<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    trim(&arguments, true, false)
}

pub fn right<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    trim(&arguments, false, true)
}

fn trim<'a>(arguments: &Arguments<'_, 'a>, left: bool, right: bool) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let mut input = text(arguments, 0, 50699, " requires its input to be a string, got ")?;
    let mut characters = FxHashSet::from_iter(WHITESPACE);
    if arguments.given(1) {
        if arguments.nullish(1) {
            return null();
        }
        characters =
            text(arguments, 1, 50700, " requires 'chars' to be a string, got ")?.chars().collect();
    }
    let trimmed = |character: char| characters.contains(&character);
    if left {
        input = input.trim_start_matches(trimmed);
    }
    if right {
        input = input.trim_end_matches(trimmed);
    }
    own(input)
}
