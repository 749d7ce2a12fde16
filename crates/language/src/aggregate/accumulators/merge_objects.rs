//! `$mergeObjects`: documents merged, later fields winning in the place of
//! earlier ones.

use super::{Accumulation, Accumulator, check_bytes};
use crate::aggregate::expressions::coerce;
use crate::{Context, describe, interrupt};
use bson::spec::ElementType;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use rustc_hash::FxHashMap;
use value::{DocumentWriter, Element, elements};

/// What an element takes beside its name and value: its type, and the end of its name.
const ELEMENT_BYTES: usize = 2;

/// What a document takes that holds nothing.
const EMPTY_BYTES: usize = 5;

#[derive(Debug, Default)]
struct MergeObjects {
    /// In the order in which they came first, with the values they had last.
    fields: Vec<Field>,
    places: FxHashMap<Box<str>, usize>,
    /// What the fields weigh.
    bytes: usize,
    /// How many documents came.
    documents: u64,
}

#[derive(Debug)]
struct Field {
    name: Box<str>,
    kind: ElementType,
    value: Box<[u8]>,
    /// The document that the value is from; of a name that it has twice the first counts.
    document: u64,
}

impl MergeObjects {
    fn merge(&mut self, document: &RawDocument) -> Result<()> {
        self.documents += 1;
        for Element { kind, key, bytes } in elements(document) {
            interrupt::check_sized(bytes.len())?;
            let field =
                Field { name: key.into(), kind, value: bytes.into(), document: self.documents };
            match self.places.get(key).and_then(|at| self.fields.get_mut(*at)) {
                Some(known) if known.document == self.documents => {}
                Some(known) => {
                    self.bytes = self.bytes + bytes.len() - known.value.len();
                    *known = field;
                }
                None => {
                    self.bytes += bytes.len() + key.len() + ELEMENT_BYTES;
                    self.places.insert(key.into(), self.fields.len());
                    self.fields.push(field);
                }
            }
        }
        check_bytes("$mergeObjects", self.bytes())
    }
}

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Accumulation::unary(value, context, MergeObjects::default)
}

impl Accumulator for MergeObjects {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match value {
            value if coerce::is_nullish(value) => Ok(()),
            Some(RawBsonRef::Document(document)) => self.merge(document),
            other => Err(Code::location(40400).error(format!(
                "$mergeObjects requires object inputs, but input {} is of type {}",
                other.map(describe::value).unwrap_or_default(),
                coerce::type_name(other)
            ))),
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let mut merged = DocumentWriter::with_capacity(self.bytes());
        for Field { name, kind, value, .. } in &self.fields {
            merged.copy(Element { kind: *kind, key: name, bytes: value });
        }
        Ok(Some(RawBson::Document(merged.finish())))
    }

    fn bytes(&self) -> usize {
        self.bytes + EMPTY_BYTES
    }
}
