//! `$mergeObjects`: documents merged into one.

use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::describe;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use rustc_hash::FxHashMap;
use value::DocumentWriter;
use value::element::{Element, array_elements, elements};

pub fn evaluate<'a>(arguments: Arguments<'_, 'a>) -> Evaluated<'a> {
    let mut merged = Merged::default();
    match arguments.get(0) {
        Some(RawBsonRef::Array(array)) if arguments.len() == 1 => {
            for element in array_elements(array) {
                merged.add(Some(element.value()))?;
            }
        }
        _ => {
            for value in arguments.iter() {
                merged.add(value)?;
            }
        }
    }
    let mut out = DocumentWriter::new();
    for element in merged.fields {
        out.copy(element);
        coerce::check_size(out.len())?;
    }
    own(out.finish())
}

/// Fields in the order they came first, with the values they had last.
#[derive(Default)]
struct Merged<'v> {
    fields: Vec<Element<'v>>,
    places: FxHashMap<&'v str, usize>,
}

impl<'v> Merged<'v> {
    fn add(&mut self, value: Option<RawBsonRef<'v>>) -> Result<()> {
        let document = match value {
            value if coerce::is_nullish(value) => return Ok(()),
            Some(RawBsonRef::Document(document)) => document,
            other => {
                return Err(Code::location(40400).error(format!(
                    "$mergeObjects requires object inputs, but input {} is of type {}",
                    other.map(describe::value).unwrap_or_default(),
                    coerce::type_name(other)
                )));
            }
        };
        for element in elements(document) {
            match self.places.get(element.key) {
                Some(place) => self.fields[*place] = element,
                None => {
                    self.places.insert(element.key, self.fields.len());
                    self.fields.push(element);
                }
            }
        }
        Ok(())
    }
}

/// The fields of both; a field of the second takes the place of the first's.
pub fn merge(first: &RawDocument, second: &RawDocument) -> RawDocumentBuf {
    if first.is_empty() {
        return second.to_owned();
    }
    let mut later: FxHashMap<&str, Element<'_>> = FxHashMap::default();
    for element in elements(second) {
        later.entry(element.key).or_insert(element);
    }
    let mut out = DocumentWriter::new();
    for element in elements(first) {
        out.copy(later.remove(element.key).unwrap_or(element));
    }
    // What is left was in the second alone, and comes in its order.
    for element in elements(second) {
        if later.contains_key(element.key) {
            out.copy(element);
        }
    }
    out.finish()
}
