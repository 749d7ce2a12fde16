//! Reading a command's fields strictly, with MongoDB's answers to what is wrong.
//!
//! A view walks [`Fields`] once and takes each [`Field`] by the type it
//! declares. Arguments that every command takes are passed over here; `Common`
//! reads them. Where MongoDB declares a plain type, null and undefined mean that
//! the field was not given, so those readers return an `Option`.

mod field;
mod number;
mod scope;

use bson::spec::ElementType;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::element::Elements;
pub use value::text::type_name;

pub use field::{Field, Hint};
pub use number::{exact_i64, is_true, safe_f64, safe_i32, safe_i64};
pub use scope::Scope;

use crate::common::is_generic;
use crate::namespace::COLLECTIONLESS;
use crate::{Namespace, Request};

/// The fields of one document, in order.
pub struct Fields<'a, 's> {
    document: &'a RawDocument,
    rest: Elements<'a>,
    passed: usize,
    scope: Scope<'s>,
    /// Whether this is a command's body, where generic arguments may stand.
    command: bool,
    /// A filter over the names passed: a name whose bit is unset is new.
    names: u64,
}

impl<'a> Fields<'a, 'static> {
    /// A command's fields after the one that names it. `name` is the name in
    /// messages, whichever alias the client used.
    pub fn of_command(request: &'a Request, name: &'static str) -> Result<Fields<'a, 'static>> {
        Fields::with_sequences(request, name, &[])
    }

    /// As `of_command`, for a command whose named fields may come as sequences.
    pub fn with_sequences(
        request: &'a Request,
        name: &'static str,
        sequences: &[&str],
    ) -> Result<Fields<'a, 'static>> {
        let scope = Scope::new(name);
        for sequence in request.sequences() {
            if !sequences.contains(&sequence.name.as_str()) {
                return Err(unknown(&scope.path(&sequence.name)));
            }
        }
        let document = request.body();
        let mut rest = value::elements(document);
        rest.next();
        Ok(Fields { document, rest, passed: 1, scope, command: true, names: 0 })
    }

    /// The documents of a required field, from the body or a sequence.
    pub fn documents(&self, request: &'a Request, field: &str) -> Result<Vec<&'a RawDocument>> {
        if request.sequences().iter().any(|sequence| sequence.name == field) {
            return request.documents(field);
        }
        match value::element::get(request.body(), field) {
            Some(found) if is_absent(found.kind) => Err(self.missing(field)),
            Some(found) => objects(found.value(), found.kind, &self.scope.path(field)),
            None => Err(self.missing(field)),
        }
    }
}

impl<'a, 's> Fields<'a, 's> {
    /// The fields of a document inside a command.
    pub fn of_document(document: &'a RawDocument, scope: Scope<'s>) -> Fields<'a, 's> {
        let rest = value::elements(document);
        Fields { document, rest, passed: 0, scope, command: false, names: 0 }
    }

    /// The next field. A name that was there before is an error (40413).
    #[expect(clippy::should_implement_trait, reason = "a field borrows the reader's path")]
    pub fn next(&mut self) -> Result<Option<Field<'a, '_>>> {
        loop {
            let Some(element) = self.rest.next() else { return Ok(None) };
            self.check_new(element.key)?;
            self.passed += 1;
            if !(self.command && is_generic(element.key)) {
                return Ok(Some(Field::new(element, &self.scope)));
            }
        }
    }

    pub fn scope(&self) -> &Scope<'s> {
        &self.scope
    }

    /// The error for a required field that is not there (40414).
    pub fn missing(&self, name: &str) -> Error {
        missing(&self.scope.path(name))
    }

    /// The value of a required field, or the error that it is missing.
    pub fn required<T>(&self, value: Option<T>, name: &str) -> Result<T> {
        value.ok_or_else(|| self.missing(name))
    }

    fn check_new(&mut self, name: &str) -> Result<()> {
        let bytes = name.as_bytes();
        let [first, last] = [bytes.first(), bytes.last()].map(|byte| byte.copied().unwrap_or(0));
        let mixed = u32::from(first) * 7 + u32::from(last) * 31 + bytes.len() as u32;
        let bit = 1u64 << (mixed % 64);
        if self.names & bit != 0 {
            let mut before = value::elements(self.document).take(self.passed);
            if before.any(|element| element.key == name) {
                return Err(duplicate(&self.scope.path(name)));
            }
        }
        self.names |= bit;
        Ok(())
    }
}

/// The collection that a command's first field names (code 73).
pub fn namespace(request: &Request) -> Result<Namespace> {
    Namespace::new(request.database(), collection(request)?)
}

/// As `namespace`, where 1 stands for the database itself.
pub fn namespace_or_database(request: &Request) -> Result<Namespace> {
    let Some(first) = value::elements(request.body()).next() else {
        return namespace(request);
    };
    match safe_f64(first.value()) {
        Some(1.0) => Namespace::new(request.database(), COLLECTIONLESS),
        Some(_) => Err(Code::BadValue.error(format!(
            "Invalid command format: the '{}' field must specify a collection name or 1",
            first.key
        ))),
        None => namespace(request),
    }
}

fn collection(request: &Request) -> Result<&str> {
    let Some(first) = value::elements(request.body()).next() else { return Ok("") };
    match first.value() {
        RawBsonRef::String(name) | RawBsonRef::Symbol(name) => Ok(name),
        RawBsonRef::Binary(binary) if binary.subtype == bson::spec::BinarySubtype::Uuid => {
            Err(Code::InvalidNamespace
                .error("Collection name must be provided. UUID is not valid in this context"))
        }
        _ => Err(Code::InvalidNamespace
            .error(format!("Collection name has invalid type {}", type_name(first.kind)))),
    }
}

/// The documents of an `array<object>`; null entries are passed over, as
/// MongoDB's parser does.
pub fn objects<'a>(
    value: RawBsonRef<'a>,
    kind: ElementType,
    path: &str,
) -> Result<Vec<&'a RawDocument>> {
    let Some(array) = value.as_array() else {
        return Err(wrong_type(path, kind, &[ElementType::Array]));
    };
    let mut documents = Vec::new();
    for (position, entry) in value::element::array_elements(array).enumerate() {
        match entry.value().as_document() {
            Some(document) => documents.push(document),
            None if is_absent(entry.kind) => {}
            None => {
                let path = format!("{path}.{position}");
                return Err(wrong_type(&path, entry.kind, &[ElementType::EmbeddedDocument]));
            }
        }
    }
    Ok(documents)
}

pub(crate) fn is_absent(kind: ElementType) -> bool {
    matches!(kind, ElementType::Null | ElementType::Undefined)
}

/// Code 14, `BSON field '…' is the wrong type`.
pub fn wrong_type(path: &str, found: ElementType, expected: &[ElementType]) -> Error {
    let names: Vec<_> = expected.iter().map(|kind| type_name(*kind)).collect();
    let expected = match names.as_slice() {
        [one] => format!("expected type '{one}'"),
        many => format!("expected types '[{}]'", many.join(", ")),
    };
    Code::TypeMismatch
        .error(format!("BSON field '{path}' is the wrong type '{}', {expected}", type_name(found)))
}

/// Code 40413.
pub fn duplicate(path: &str) -> Error {
    Code::IDLDuplicateField.error(format!("BSON field '{path}' is a duplicate field"))
}

/// Code 40414.
pub fn missing(path: &str) -> Error {
    Code::IDLFailedToParse.error(format!("BSON field '{path}' is missing but a required field"))
}

/// Code 40415.
pub fn unknown(path: &str) -> Error {
    Code::IDLUnknownField.error(format!("BSON field '{path}' is an unknown field."))
}

/// Code 2, for a number outside its range.
pub fn out_of_range(name: &str, relation: &str, limit: i64, actual: i64) -> Error {
    Code::BadValue.error(format!(
        "BSON field '{name}' value must be {relation} {limit}, actual value '{actual}'"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn a_name_may_stand_once() {
        let request = Request::from(rawdoc! { "x": 1, "abc": 1, "adc": 2, "abc": 3 });
        let mut fields = Fields::of_command(&request, "x").unwrap();
        assert_eq!(fields.next().unwrap().unwrap().name(), "abc");
        assert_eq!(fields.next().unwrap().unwrap().name(), "adc");
        let error = fields.next().err().unwrap();
        assert_eq!(error.code().number(), 40413);
        assert_eq!(error.message(), "BSON field 'x.abc' is a duplicate field");
    }

    #[test]
    fn generic_arguments_are_passed_over() {
        let request = Request::from(rawdoc! { "x": 1, "$db": "d", "lsid": 1, "mine": 1 });
        let mut fields = Fields::of_command(&request, "x").unwrap();
        assert_eq!(fields.next().unwrap().unwrap().name(), "mine");
        assert!(fields.next().unwrap().is_none());
    }

    #[test]
    fn a_sequence_of_another_name_is_an_unknown_field() {
        let sequence = crate::Sequence { name: "others".into(), documents: Default::default() };
        let body = rawdoc! { "insert": "c" }.into_bytes().into();
        let request = Request::new(body, vec![sequence]);
        let error = Fields::with_sequences(&request, "insert", &["documents"]).err().unwrap();
        assert_eq!(error.code().number(), 40415);
    }

    #[test]
    fn the_first_field_names_a_collection() {
        let name = |body| namespace(&Request::from(body)).map(|found| found.to_string());
        assert_eq!(name(rawdoc! { "find": "c", "$db": "d" }).unwrap(), "d.c");
        for body in [
            rawdoc! { "find": 1, "$db": "d" },
            rawdoc! { "find": "", "$db": "d" },
            rawdoc! { "find": bson::Binary::from(bson::Uuid::new()), "$db": "d" },
            rawdoc! { "find": bson::RawBson::Null, "$db": "d" },
            rawdoc! { "find": "c", "$db": "" },
        ] {
            assert_eq!(name(body).unwrap_err().code().number(), 73);
        }
    }

    #[test]
    fn one_stands_for_the_database() {
        let name = |body| namespace_or_database(&Request::from(body));
        assert!(name(rawdoc! { "aggregate": 1.0, "$db": "d" }).unwrap().is_collectionless());
        assert_eq!(name(rawdoc! { "aggregate": 2, "$db": "d" }).unwrap_err().code().number(), 2);
        assert_eq!(
            name(rawdoc! { "aggregate": true, "$db": "d" }).unwrap_err().code().number(),
            73
        );
    }
}
