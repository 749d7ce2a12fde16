//! `$mergeObjects`: documents merged into one.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::DocumentWriter;
use value::element::{array_elements, elements, get};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut merged = RawDocumentBuf::new();
    match arguments.get(0) {
        Some(RawBsonRef::Array(array)) if arguments.len() == 1 => {
            for element in array_elements(array) {
                add(&mut merged, Some(element.value()))?;
            }
        }
        _ => {
            for value in arguments.iter() {
                add(&mut merged, value)?;
            }
        }
    }
    own(merged)
}

fn add(merged: &mut RawDocumentBuf, value: Option<RawBsonRef<'_>>) -> Result<()> {
    match value {
        value if coerce::is_nullish(value) => Ok(()),
        Some(RawBsonRef::Document(document)) => {
            *merged = merge(merged, document);
            coerce::check_size(merged.as_bytes().len())
        }
        other => Err(Code::location(40400).error(format!(
            "$mergeObjects requires object inputs, but input {} is of type {}",
            other.map(coerce::show).unwrap_or_default(),
            coerce::type_name(other)
        ))),
    }
}

/// The fields of both; a field of the second takes the place of the first's.
pub fn merge(first: &RawDocument, second: &RawDocument) -> RawDocumentBuf {
    if first.is_empty() {
        return second.to_owned();
    }
    let mut out = DocumentWriter::new();
    for element in elements(first) {
        out.copy(get(second, element.key).unwrap_or(element));
    }
    for element in elements(second) {
        if get(first, element.key).is_none() {
            out.copy(element);
        }
    }
    out.finish()
}
