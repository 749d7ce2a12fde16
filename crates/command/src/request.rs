//! A command as it travels between layers: raw, checked BSON.

use std::sync::LazyLock;

use bson::spec::ElementType;
use bson::{RawDocument, RawDocumentBuf};
use bytes::Bytes;
use error::{Code, Result};
use value::element;

/// What an object that was not given reads as.
static EMPTY: LazyLock<RawDocumentBuf> = LazyLock::new(RawDocumentBuf::new);

pub(crate) fn empty_document() -> &'static RawDocument {
    &EMPTY
}

/// One command. Its documents have passed `value::check`.
#[derive(Debug, Clone)]
pub struct Request {
    body: Bytes,
    sequences: Vec<Sequence>,
}

/// An OP_MSG document sequence: `documents` of an insert, `updates`, `deletes` …
#[derive(Debug, Clone)]
pub struct Sequence {
    pub name: String,
    /// Documents back to back.
    pub documents: Bytes,
}

impl Request {
    /// The caller has checked `body` and every document of `sequences`.
    pub fn new(body: Bytes, sequences: Vec<Sequence>) -> Request {
        Request { body, sequences }
    }

    pub fn body(&self) -> &RawDocument {
        RawDocument::from_bytes(&self.body).unwrap_or(&EMPTY)
    }

    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// Length of the body and all sequences.
    pub fn bytes(&self) -> usize {
        let sequences: usize = self.sequences.iter().map(|sequence| sequence.documents.len()).sum();
        self.body.len() + sequences
    }

    /// The first field's name, which names the command.
    pub fn name(&self) -> &str {
        value::elements(self.body()).next().map_or("", |first| first.key)
    }

    /// `$db`, empty where it is missing; `Common` reports that.
    pub fn database(&self) -> &str {
        element::get(self.body(), "$db").and_then(|field| field.value().as_str()).unwrap_or("")
    }

    /// The documents of a field, whether they came as a sequence or in the body.
    /// A field that is in neither has none.
    pub fn documents<'a>(&'a self, field: &str) -> Result<Vec<&'a RawDocument>> {
        let in_body = element::get(self.body(), field);
        if let Some(sequence) = self.sequences.iter().find(|sequence| sequence.name == field) {
            if in_body.is_some() {
                return Err(Code::location(40433)
                    .error(format!("Duplicate field between body and document sequence {field}")));
            }
            return Ok(sequence.iter().collect());
        }
        let Some(array) = in_body else { return Ok(Vec::new()) };
        let path = format!("{}.{field}", self.name());
        let Some(values) = array.value().as_array() else {
            return Err(crate::fields::wrong_type(&path, array.kind, &[ElementType::Array]));
        };
        let mut documents = Vec::new();
        for (position, entry) in element::array_elements(values).enumerate() {
            let Some(document) = entry.value().as_document() else {
                let path = format!("{path}.{position}");
                return Err(crate::fields::wrong_type(
                    &path,
                    entry.kind,
                    &[ElementType::EmbeddedDocument],
                ));
            };
            documents.push(document);
        }
        Ok(documents)
    }
}

impl From<RawDocumentBuf> for Request {
    fn from(body: RawDocumentBuf) -> Request {
        Request::new(Bytes::from(body.into_bytes()), Vec::new())
    }
}

impl Sequence {
    /// The documents in order; malformed bytes end the sequence.
    pub fn iter(&self) -> impl Iterator<Item = &RawDocument> {
        let mut rest: &[u8] = &self.documents;
        std::iter::from_fn(move || {
            let length = i32::from_le_bytes(*rest.first_chunk()?);
            let (document, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            rest = after;
            RawDocument::from_bytes(document).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn a_request_names_its_command_and_database() {
        let request = Request::from(rawdoc! { "ping": 1, "$db": "admin" });
        assert_eq!(request.name(), "ping");
        assert_eq!(request.database(), "admin");
    }

    #[test]
    fn malformed_bytes_are_an_empty_command() {
        let request = Request::new(Bytes::from_static(b"\x01\x02"), Vec::new());
        assert_eq!(request.name(), "");
        assert_eq!(request.database(), "");
    }

    #[test]
    fn documents_come_from_the_body_or_a_sequence() {
        let one = rawdoc! { "_id": 1 };
        let two = rawdoc! { "_id": 2 };
        let inline =
            Request::from(rawdoc! { "insert": "c", "documents": [one.clone(), two.clone()] });
        assert_eq!(inline.documents("documents").unwrap(), [&*one, &*two]);

        let bytes = [one.as_bytes(), two.as_bytes()].concat();
        let sequence = Sequence { name: "documents".into(), documents: bytes.into() };
        let body = Bytes::from(rawdoc! { "insert": "c" }.into_bytes());
        let split = Request::new(body, vec![sequence.clone()]);
        assert_eq!(split.documents("documents").unwrap(), [&*one, &*two]);

        let body = Bytes::from(rawdoc! { "insert": "c", "documents": [one] }.into_bytes());
        let both = Request::new(body, vec![sequence]);
        assert_eq!(both.documents("documents").unwrap_err().code().number(), 40433);
    }

    #[test]
    fn what_is_not_a_document_is_named_by_its_position() {
        let request = Request::from(rawdoc! { "insert": "c", "documents": [{}, 1] });
        let error = request.documents("documents").unwrap_err();
        assert_eq!(error.code(), Code::TypeMismatch);
        assert_eq!(
            error.message(),
            "BSON field 'insert.documents.1' is the wrong type 'int', expected type 'object'"
        );
    }
}
