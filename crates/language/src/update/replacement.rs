//! An update that is a whole new document.

use super::{COMPARED_BYTES_MIN, stored};
use crate::{Context, Needs, describe};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, Timestamp};
use error::{Code, Error, Result};
use value::{DocumentWriter, Element, Path, element, elements};

#[derive(Debug)]
pub struct Replacement {
    document: RawDocumentBuf,
    /// What is wrong with it; told only where it would replace a document.
    refused: Option<Error>,
    /// Where its large values are.
    compared: Vec<Path>,
}

impl Replacement {
    pub fn new(document: &RawDocument, context: &Context) -> Replacement {
        let is_path = |field: &Element<'_>| !field.key.is_empty() && !field.key.contains('.');
        let compared = elements(document)
            .filter(|field| field.bytes.len() >= COMPARED_BYTES_MIN && is_path(field));
        Replacement {
            document: with_timestamps(document, context),
            refused: check_dollar_fields(document).err(),
            compared: compared.map(|field| Path::new(field.key)).collect(),
        }
    }

    pub fn apply(&self, before: &RawDocument) -> Result<Option<RawDocumentBuf>> {
        if before.as_bytes() == self.document.as_bytes() {
            return Ok(None);
        }
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        replace(before, &self.document).map(Some)
    }

    /// The document that an upsert inserts: names may be what they are in an insert.
    pub fn insert_into(&self, found: &RawDocument) -> Result<RawDocumentBuf> {
        replace(found, &self.document)
    }

    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&Path::new("_id"));
        self.compared.iter().for_each(|path| needs.add(path));
    }
}

/// `after` in the place of `before`: the `_id` comes first and is `before`'s.
pub fn replace(before: &RawDocument, after: &RawDocument) -> Result<RawDocumentBuf> {
    stored::check(after)?;
    let id = match (element::get(before, "_id"), element::get(after, "_id")) {
        (Some(old), Some(new)) if value::compare(old.value(), new.value()).is_ne() => {
            return Err(Code::ImmutableField.error(format!(
                "After applying the update, the (immutable) field '_id' was found to have been \
                 altered to {}",
                describe::element(new)
            )));
        }
        (_, Some(new)) => new,
        (Some(old), None) => old,
        (None, None) => return Ok(after.to_owned()),
    };
    Ok(stored::with_id(id, after))
}

/// A field of the document itself may not begin with `$`, except for a DBRef's.
fn check_dollar_fields(document: &RawDocument) -> Result<()> {
    let fields: Vec<_> = elements(document).collect();
    for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.key.starts_with('$')) {
        let follows = |name: &str| at > 0 && fields[at - 1].key == name;
        let is_text = matches!(field.value(), RawBsonRef::String(_));
        let valid = match field.key {
            "$ref" => is_text && fields.get(at + 1).is_some_and(|next| next.key == "$id"),
            "$id" => follows("$ref"),
            "$db" => is_text && follows("$id"),
            _ => false,
        };
        if !valid {
            return Err(stored::dollar_field(field.key));
        }
    }
    Ok(())
}

/// An empty timestamp in a field of the document itself stands for the time.
fn with_timestamps(document: &RawDocument, context: &Context) -> RawDocumentBuf {
    let is_empty = |value| value == RawBsonRef::Timestamp(Timestamp { time: 0, increment: 0 });
    if !elements(document).any(|field| is_empty(field.value())) {
        return document.to_owned();
    }
    let mut out = DocumentWriter::with_capacity(document.as_bytes().len());
    for field in elements(document) {
        if field.key != "_id" && is_empty(field.value()) {
            out.append(field.key, RawBsonRef::Timestamp(super::timestamp(context)));
        } else {
            out.copy(field);
        }
    }
    out.finish()
}
