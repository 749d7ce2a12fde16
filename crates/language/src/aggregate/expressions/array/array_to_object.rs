//! `$arrayToObject`: a document of pairs, `[key, value]` or `{k, v}`.

use super::array;
use crate::aggregate::expressions::node::{null, own};
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::{describe, interrupt};
use bson::RawBsonRef;
use error::{Code, Result};
use value::DocumentWriter;
use value::element::{array_elements, elements, get};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    if arguments.nullish(0) {
        return null();
    }
    let input = array(&arguments, 0, 40386, "$arrayToObject requires an array input, found: ")?;
    let mut pairs: Vec<(&str, RawBsonRef<'_>)> = Vec::new();
    let mut by_key = rustc_hash::FxHashMap::default();
    let mut first = None;
    for element in array_elements(input) {
        interrupt::check()?;
        let value = element.value();
        let arrays = *first.get_or_insert(matches!(value, RawBsonRef::Array(_)));
        let (key, value) = if arrays { pair(value)? } else { entry(value, pairs.is_empty())? };
        // A key that comes again takes the place of the first.
        match by_key.get(key) {
            Some(at) => pairs[*at] = (key, value),
            None => {
                by_key.insert(key, pairs.len());
                pairs.push((key, value));
            }
        }
    }
    let mut out = DocumentWriter::new();
    pairs.into_iter().for_each(|(key, value)| out.append(key, value));
    own(out.finish())
}

fn pair(value: RawBsonRef<'_>) -> Result<(&str, RawBsonRef<'_>)> {
    let RawBsonRef::Array(pair) = value else {
        return Err(Code::location(40396).error(format!(
            "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects. Array was detected, now found: {}",
            coerce::type_name(Some(value))
        )));
    };
    let mut parts = array_elements(pair);
    let (Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Code::location(40397).error(format!(
            "$arrayToObject requires an array of size 2 arrays, found array of size: {}",
            value::element::array_len(pair)
        )));
    };
    match key.value() {
        RawBsonRef::String(key) if key.contains('\0') => Err(embedded_null(4940400)),
        RawBsonRef::String(key) => Ok((key, value.value())),
        other => Err(Code::location(40395).error(format!(
            "$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: {}",
            coerce::type_name(Some(other))
        ))),
    }
}

fn entry(value: RawBsonRef<'_>, first: bool) -> Result<(&str, RawBsonRef<'_>)> {
    let RawBsonRef::Document(entry) = value else {
        let code = if first { 40398 } else { 40391 };
        return Err(Code::location(code).error(format!(
            "Unrecognised input type format for $arrayToObject: {}",
            coerce::type_name(Some(value))
        )));
    };
    let fields = elements(entry).count();
    if fields != 2 {
        return Err(Code::location(40392).error(format!(
            "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:{fields}"
        )));
    }
    let (Some(key), Some(value)) = (get(entry, "k"), get(entry, "v")) else {
        return Err(Code::location(40393).error(format!(
            "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: {}",
            describe::value(value)
        )));
    };
    match key.value() {
        RawBsonRef::String(key) if key.contains('\0') => Err(embedded_null(4940401)),
        RawBsonRef::String(key) => Ok((key, value.value())),
        other => Err(Code::location(40394).error(format!(
            "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: {}",
            coerce::type_name(Some(other))
        ))),
    }
}

fn embedded_null(code: i32) -> error::Error {
    Code::location(code).error("Key field cannot contain an embedded null byte")
}
