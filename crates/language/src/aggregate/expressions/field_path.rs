//! Field paths as aggregation reads them: arrays of sub-documents map, and a
//! numeric component is a field's name, never an index.

use crate::Metadatum;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::{array_elements, get};
use value::{ArrayWriter, Path, Value};

/// How many components a path may have.
pub const PATH_COMPONENTS_MAX: usize = 200;

/// `$`-prefixed names that are fields all the same: DBRefs and metadata.
const DOLLAR_FIELDS: [&str; 7] =
    ["$id", "$ref", "$db", "$sortKey", "$recordId", "$searchSortValues", "$searchScore"];

#[derive(Debug, Clone, PartialEq)]
pub struct FieldPath(Path);

impl FieldPath {
    /// Checks a path without its `$`.
    pub fn parse(text: &str) -> Result<FieldPath> {
        if text.is_empty() {
            return Err(
                Code::location(40352).error("FieldPath cannot be constructed with empty string")
            );
        }
        if text.ends_with('.') {
            return Err(Code::location(40353).error("FieldPath must not end with a '.'."));
        }
        let path = Path::new(text);
        if path.len() > PATH_COMPONENTS_MAX {
            return Err(Code::Overflow.error("FieldPath is too long"));
        }
        path.components().try_for_each(check_name)?;
        Ok(FieldPath(path))
    }

    /// The path of the field that carries a document's metadatum.
    pub fn of_metadatum(metadatum: Metadatum) -> FieldPath {
        FieldPath(Path::new(metadatum.field()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The value at the path in a document.
    pub fn resolve<'a>(&self, document: &'a RawDocument) -> Option<Value<'a>> {
        in_document(&self.0, 0, document)
    }

    /// The value at the path below a value.
    pub fn resolve_in<'a>(&self, value: RawBsonRef<'a>) -> Option<Value<'a>> {
        match value {
            RawBsonRef::Document(document) => in_document(&self.0, 0, document),
            RawBsonRef::Array(array) => Some(in_array(&self.0, 0, array)),
            _ => None,
        }
    }
}

/// Checks one field name of a path or an object expression.
pub fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Code::location(15998).error("FieldPath field names may not be empty strings."));
    }
    if name.starts_with('$') && !DOLLAR_FIELDS.contains(&name) {
        return Err(Code::location(16410).error(
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        ));
    }
    if name.contains('\0') {
        return Err(Code::location(16411).error("FieldPath field names may not contain '\\0'."));
    }
    if name.contains('.') {
        return Err(Code::location(16412).error(
            "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
        ));
    }
    Ok(())
}

fn in_document<'a>(path: &Path, at: usize, document: &'a RawDocument) -> Option<Value<'a>> {
    let value = get(document, path.component(at))?.value();
    if at + 1 == path.len() {
        return Some(Value::Ref(value));
    }
    match value {
        RawBsonRef::Document(inner) => in_document(path, at + 1, inner),
        RawBsonRef::Array(array) => Some(in_array(path, at + 1, array)),
        _ => None,
    }
}

fn in_array<'a>(path: &Path, at: usize, array: &'a bson::RawArray) -> Value<'a> {
    let mut found = ArrayWriter::new();
    for element in array_elements(array) {
        if let RawBsonRef::Document(document) = element.value()
            && let Some(value) = in_document(path, at, document)
        {
            found.push(value.get());
        }
    }
    Value::Own(RawBson::Array(found.finish()))
}
