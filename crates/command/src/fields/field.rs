//! One field, read by the type that its command declares.

use bson::spec::{BinarySubtype, ElementType};
use bson::{RawArray, RawBsonRef, RawDocument, Timestamp};
use error::{Code, Error, Result};
use value::Element;

use super::{Scope, is_absent, number, out_of_range, unknown, wrong_type};

const NUMBERS: &[ElementType] =
    &[ElementType::Int64, ElementType::Int32, ElementType::Decimal128, ElementType::Double];

const BOOL_OR_NUMBERS: &[ElementType] = &[
    ElementType::Boolean,
    ElementType::Int64,
    ElementType::Int32,
    ElementType::Decimal128,
    ElementType::Double,
];

#[derive(Debug, Clone, Copy)]
pub struct Field<'a, 's> {
    element: Element<'a>,
    scope: &'s Scope<'s>,
}

/// The index that a command is told to use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hint<'a> {
    Name(&'a str),
    /// A key pattern, or `{$natural: ±1}`.
    Key(&'a RawDocument),
}

impl<'a> Hint<'a> {
    /// As a value, for the planner.
    pub fn value(self) -> RawBsonRef<'a> {
        match self {
            Hint::Name(name) => RawBsonRef::String(name),
            Hint::Key(key) => RawBsonRef::Document(key),
        }
    }
}

impl<'a: 's, 's> Field<'a, 's> {
    pub fn new(element: Element<'a>, scope: &'s Scope<'s>) -> Field<'a, 's> {
        Field { element, scope }
    }

    pub fn name(&self) -> &'a str {
        self.element.key
    }

    pub fn kind(&self) -> ElementType {
        self.element.kind
    }

    pub fn element(&self) -> Element<'a> {
        self.element
    }

    pub fn value(&self) -> RawBsonRef<'a> {
        self.element.value()
    }

    /// Null and undefined, which plain types take as "not given".
    pub fn is_absent(&self) -> bool {
        is_absent(self.element.kind)
    }

    pub fn path(&self) -> String {
        self.scope.path(self.name())
    }

    /// The scope of this field's own fields.
    pub fn scope(&self) -> Scope<'s> {
        Scope::within(self.name(), self.scope)
    }

    /// A field that the command does not have (40415).
    pub fn unknown(&self) -> Error {
        unknown(&self.path())
    }

    pub fn wrong_type(&self, expected: &[ElementType]) -> Error {
        wrong_type(&self.path(), self.element.kind, expected)
    }

    pub fn object(&self) -> Result<Option<&'a RawDocument>> {
        self.plain(RawBsonRef::as_document, ElementType::EmbeddedDocument)
    }

    /// An object that may not be null.
    pub fn object_not_null(&self) -> Result<&'a RawDocument> {
        self.value().as_document().ok_or_else(|| {
            Code::TypeMismatch.error(format!("Expected field {} to be of type object", self.name()))
        })
    }

    pub fn array(&self) -> Result<Option<&'a RawArray>> {
        self.plain(RawBsonRef::as_array, ElementType::Array)
    }

    pub fn objects(&self) -> Result<Option<Vec<&'a RawDocument>>> {
        if self.is_absent() {
            return Ok(None);
        }
        super::objects(self.value(), self.kind(), &self.path()).map(Some)
    }

    pub fn string(&self) -> Result<Option<&'a str>> {
        self.plain(RawBsonRef::as_str, ElementType::String)
    }

    /// Exactly an int32.
    pub fn int(&self) -> Result<Option<i32>> {
        self.plain(RawBsonRef::as_i32, ElementType::Int32)
    }

    /// Exactly an int64.
    pub fn long(&self) -> Result<Option<i64>> {
        self.plain(RawBsonRef::as_i64, ElementType::Int64)
    }

    /// Exactly a double.
    pub fn double(&self) -> Result<Option<f64>> {
        self.plain(RawBsonRef::as_f64, ElementType::Double)
    }

    /// Exactly a boolean.
    pub fn boolean(&self) -> Result<Option<bool>> {
        self.plain(RawBsonRef::as_bool, ElementType::Boolean)
    }

    /// A boolean that may not be null.
    pub fn boolean_not_null(&self) -> Result<bool> {
        self.value().as_bool().ok_or_else(|| {
            Code::TypeMismatch.error(format!(
                "Field '{}' should be a boolean value, but found: {}",
                self.name(),
                super::type_name(self.kind())
            ))
        })
    }

    /// A boolean, or a number where all but zero is true.
    pub fn safe_bool(&self) -> Result<Option<bool>> {
        if !BOOL_OR_NUMBERS.contains(&self.kind()) {
            return self.absent_or_wrong(BOOL_OR_NUMBERS);
        }
        Ok(Some(number::is_true(self.value())))
    }

    /// Any number, cut to an int64.
    pub fn safe_int64(&self) -> Result<Option<i64>> {
        self.number(number::safe_i64)
    }

    /// Any number, cut to an int32.
    pub fn safe_int(&self) -> Result<Option<i32>> {
        self.number(number::safe_i32)
    }

    pub fn safe_double(&self) -> Result<Option<f64>> {
        self.number(number::safe_f64)
    }

    /// A number that is an int64 by value (code 9).
    pub fn exact_int64(&self) -> Result<Option<i64>> {
        match self.number(Some)? {
            Some(value) => number::exact_i64(value, self.name()).map(Some),
            None => Ok(None),
        }
    }

    /// `safe_int64` of at least zero (code 2).
    pub fn count(&self) -> Result<Option<i64>> {
        let value = self.safe_int64()?;
        self.at_least(value, 0)
    }

    pub fn at_least(&self, value: Option<i64>, least: i64) -> Result<Option<i64>> {
        match value {
            Some(actual) if actual < least => Err(out_of_range(self.name(), ">=", least, actual)),
            value => Ok(value),
        }
    }

    pub fn at_most(&self, value: Option<i64>, most: i64) -> Result<Option<i64>> {
        match value {
            Some(actual) if actual > most => Err(out_of_range(self.name(), "<=", most, actual)),
            value => Ok(value),
        }
    }

    pub fn timestamp(&self) -> Result<Option<Timestamp>> {
        self.plain(RawBsonRef::as_timestamp, ElementType::Timestamp)
    }

    pub fn uuid(&self) -> Result<Option<[u8; 16]>> {
        let Some(binary) = self.plain(RawBsonRef::as_binary, ElementType::Binary)? else {
            return Ok(None);
        };
        if binary.subtype != BinarySubtype::Uuid {
            return Err(Code::TypeMismatch.error(format!(
                "BSON field '{}' is the wrong binData type '{}', expected type 'UUID'",
                self.path(),
                binary_name(binary.subtype)
            )));
        }
        match binary.bytes.try_into() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) => Err(Code::InvalidUUID
                .error("uuid must be a 16-byte binary field with UUID (4) subtype")),
        }
    }

    /// A name or a key pattern (code 9); an empty pattern is no hint.
    pub fn hint(&self) -> Result<Option<Hint<'a>>> {
        match self.value() {
            RawBsonRef::String(name) => Ok(Some(Hint::Name(name))),
            RawBsonRef::Document(key) if key.is_empty() => Ok(None),
            RawBsonRef::Document(key) => Ok(Some(Hint::Key(key))),
            _ => Err(Code::FailedToParse.error("Hint must be a string or an object")),
        }
    }

    /// One of a few words (code 2).
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(word) = self.string()? else { return Ok(None) };
        match choices.iter().find(|(name, _)| *name == word) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(Code::BadValue.error(format!(
                "Enumeration value '{word}' for field '{}' is not a valid value.",
                self.path()
            ))),
        }
    }

    fn plain<T>(
        &self,
        take: impl FnOnce(RawBsonRef<'a>) -> Option<T>,
        expected: ElementType,
    ) -> Result<Option<T>> {
        match take(self.value()) {
            Some(value) => Ok(Some(value)),
            None => self.absent_or_wrong(&[expected]),
        }
    }

    fn number<T>(&self, take: impl FnOnce(RawBsonRef<'a>) -> Option<T>) -> Result<Option<T>> {
        if !NUMBERS.contains(&self.kind()) {
            return self.absent_or_wrong(NUMBERS);
        }
        Ok(take(self.value()))
    }

    fn absent_or_wrong<T>(&self, expected: &[ElementType]) -> Result<Option<T>> {
        if self.is_absent() { Ok(None) } else { Err(self.wrong_type(expected)) }
    }
}

fn binary_name(subtype: BinarySubtype) -> &'static str {
    match subtype {
        BinarySubtype::Generic => "general",
        BinarySubtype::Function => "function",
        BinarySubtype::BinaryOld => "byteArrayDeprecated",
        BinarySubtype::UuidOld => "bdtUUID",
        BinarySubtype::Uuid => "UUID",
        BinarySubtype::Md5 => "MD5Type",
        BinarySubtype::Encrypted => "encrypt",
        BinarySubtype::Column => "column",
        BinarySubtype::Sensitive => "sensitive",
        BinarySubtype::Vector => "vector",
        _ => "Custom",
    }
}
