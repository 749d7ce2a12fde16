//! `$mergeObjects`: documents merged into one.

use crate::aggregate::expressions::held::Held;
use crate::aggregate::expressions::node::own;
use crate::aggregate::expressions::{Arguments, Evaluated, coerce};
use crate::{describe, interrupt};
use bson::RawBsonRef;
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
    let mut written = Held::default();
    let mut out = DocumentWriter::new();
    for element in merged.fields {
        out.copy(element);
        written.write(out.len())?;
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
            interrupt::check()?;
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
