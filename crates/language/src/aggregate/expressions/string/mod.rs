//! Strings.

mod concat;
mod index_of_bytes;
mod index_of_cp;
mod regex;
mod regex_find;
mod regex_find_all;
mod regex_match;
mod replace;
mod split;
mod str_len_bytes;
mod str_len_cp;
mod strcasecmp;
mod substr_bytes;
mod substr_cp;
mod to_lower;
mod to_upper;
mod trim;

use super::table::Arity;
use super::{Arguments, Row, coerce};
use bson::RawBsonRef;
use error::{Code, Result};

pub const ROWS: &[Row] = &[
    Row::call("$concat", Arity::Any, concat::evaluate, "strings, one after the other"),
    Row::call(
        "$indexOfBytes",
        Arity::Between(2, 4),
        index_of_bytes::evaluate,
        "where a string is, in bytes",
    ),
    Row::call(
        "$indexOfCP",
        Arity::Between(2, 4),
        index_of_cp::evaluate,
        "where a string is, in code points",
    ),
    Row::named("$ltrim", trim::named(trim::left), "without characters at the beginning"),
    Row::own("$regexFind", regex_find::parse, "the first match of a pattern"),
    Row::own("$regexFindAll", regex_find_all::parse, "every match of a pattern"),
    Row::own("$regexMatch", regex_match::parse, "whether a pattern matches"),
    Row::named("$replaceAll", replace::named(replace::all), "every occurrence replaced"),
    Row::named("$replaceOne", replace::named(replace::one), "the first occurrence replaced"),
    Row::named("$rtrim", trim::named(trim::right), "without characters at the end"),
    Row::call("$split", Arity::Exactly(2), split::evaluate, "the parts between separators"),
    Row::call("$strLenBytes", Arity::Exactly(1), str_len_bytes::evaluate, "the length in bytes"),
    Row::call("$strLenCP", Arity::Exactly(1), str_len_cp::evaluate, "the length in code points"),
    Row::call(
        "$strcasecmp",
        Arity::Exactly(2),
        strcasecmp::evaluate,
        "the order of strings, their case apart",
    ),
    Row::call("$substr", Arity::Exactly(3), substr_bytes::evaluate, "a part of a string, by bytes"),
    Row::call(
        "$substrBytes",
        Arity::Exactly(3),
        substr_bytes::evaluate,
        "a part of a string, by bytes",
    ),
    Row::call(
        "$substrCP",
        Arity::Exactly(3),
        substr_cp::evaluate,
        "a part of a string, by code points",
    ),
    Row::call("$toLower", Arity::Exactly(1), to_lower::evaluate, "in lower case"),
    Row::call("$toUpper", Arity::Exactly(1), to_upper::evaluate, "in upper case"),
    Row::named("$trim", trim::named(trim::both), "without characters at both ends"),
];

/// The string an operand must be, or an error of `code` with these words.
fn text<'v>(
    arguments: &'v Arguments<'_, '_>,
    at: usize,
    code: i32,
    words: &str,
) -> Result<&'v str> {
    match arguments.get(at) {
        Some(RawBsonRef::String(text)) => Ok(text),
        other => Err(Code::location(code).error(format!(
            "{}{words}{}",
            arguments.name,
            coerce::type_name(other)
        ))),
    }
}

/// An optional index that must be an integer and not negative.
fn index(arguments: &Arguments<'_, '_>, at: usize, what: &str) -> Result<Option<usize>> {
    if !arguments.given(at) {
        return Ok(None);
    }
    let name = arguments.name;
    let Some(number) = coerce::integral32(arguments.get(at)) else {
        return Err(Code::location(40096).error(format!(
            "{name} requires an integral {what}, found a value of type: {}",
            coerce::type_name(arguments.get(at))
        )));
    };
    match usize::try_from(number) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Code::location(40097)
            .error(format!("{name} requires a nonnegative {what}, found: {number}"))),
    }
}

#[cfg(test)]
mod tests;
