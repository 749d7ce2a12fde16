//! Reading a policy's document key by key, with errors that name the key.

use super::size;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use language::describe;
use value::element::get;
use value::{Element, Elements, Number, elements};

/// A document inside a policy, and the path that leads to it.
#[derive(Debug)]
pub struct Reader<'a> {
    document: &'a RawDocument,
    at: String,
}

impl<'a> Reader<'a> {
    pub fn new(document: &'a RawDocument) -> Reader<'a> {
        Reader { document, at: String::new() }
    }

    pub fn elements(&self) -> Elements<'a> {
        elements(self.document)
    }

    /// The path of one of its keys.
    pub fn path(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}.{key}", self.at) }
    }

    /// The document under a key.
    pub fn document(&self, key: &str) -> Result<Option<Reader<'a>>> {
        let Some(element) = get(self.document, key) else { return Ok(None) };
        match element.value() {
            RawBsonRef::Document(document) => Ok(Some(Reader { document, at: self.path(key) })),
            _ => Err(self.wrong_type(element, "a document")),
        }
    }

    /// Refuses keys that are not among these, and keys given twice.
    pub fn only(&self, known: &[&str]) -> Result<()> {
        for (at, element) in self.elements().enumerate() {
            if !known.contains(&element.key) {
                return Err(self.unknown(element.key, known.iter().copied()));
            }
            self.check_new(element.key, at)?;
        }
        Ok(())
    }

    /// Refuses a key that stands before this place already.
    pub fn check_new(&self, key: &str, at: usize) -> Result<()> {
        if self.elements().take(at).any(|earlier| earlier.key == key) {
            return Err(
                Code::BadValue.error(format!("the policy key '{}' is given twice", self.path(key)))
            );
        }
        Ok(())
    }

    /// A whole number above 0.
    pub fn count(&self, key: &str) -> Result<Option<usize>> {
        let Some(element) = get(self.document, key) else { return Ok(None) };
        let expected = "a whole number above 0";
        let Some(number) = Number::from_value(element.value()) else {
            return Err(self.wrong_type(element, expected));
        };
        match number.to_i64_exact().map(usize::try_from) {
            Some(Ok(count)) if count > 0 => Ok(Some(count)),
            _ => Err(self.wrong_value(element, expected)),
        }
    }

    /// A size in bytes: a number above 0, or a text such as `32KB`.
    pub fn bytes(&self, key: &str) -> Result<Option<usize>> {
        let Some(element) = get(self.document, key) else { return Ok(None) };
        let expected = "a number of bytes above 0, such as 32768 or \"32KB\"";
        let bytes = match element.value() {
            RawBsonRef::String(text) => size::parse(text),
            value => match Number::from_value(value) {
                Some(number) => number.to_i64_exact().and_then(|it| usize::try_from(it).ok()),
                None => return Err(self.wrong_type(element, expected)),
            },
        };
        match bytes {
            Some(bytes) if bytes > 0 => Ok(Some(bytes)),
            _ => Err(self.wrong_value(element, expected)),
        }
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        let Some(element) = get(self.document, key) else { return Ok(None) };
        match element.value() {
            RawBsonRef::String("") => Err(self.wrong_value(element, "a name")),
            RawBsonRef::String(text) if text.contains('\0') => {
                Err(self.wrong_value(element, "a name without zero bytes"))
            }
            RawBsonRef::String(text) => Ok(Some(text)),
            _ => Err(self.wrong_type(element, "a string")),
        }
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(element) = get(self.document, key) else { return Ok(None) };
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let expected = format!("one of {}", names.join(", "));
        let RawBsonRef::String(text) = element.value() else {
            return Err(self.wrong_type(element, &expected));
        };
        match words.iter().find(|(name, _)| *name == text) {
            Some((_, word)) => Ok(Some(*word)),
            None => Err(self.wrong_value(element, &expected)),
        }
    }

    pub fn unknown<'k>(&self, key: &str, known: impl Iterator<Item = &'k str>) -> Error {
        let known: Vec<&str> = known.collect();
        Code::IDLUnknownField.error(format!(
            "the policy key '{}' is unknown; expected one of {}",
            self.path(key),
            known.join(", ")
        ))
    }

    pub fn wrong_type(&self, element: Element<'_>, expected: &str) -> Error {
        Code::TypeMismatch.error(format!(
            "the policy key '{}' must be {expected}, but is of type {}",
            self.path(element.key),
            describe::type_name(element.kind)
        ))
    }

    pub fn wrong_value(&self, element: Element<'_>, expected: &str) -> Error {
        Code::BadValue.error(format!(
            "the policy key '{}' must be {expected}, but is {}",
            self.path(element.key),
            describe::value(element.value())
        ))
    }

    /// What is wrong with a key, in words.
    pub fn refuse(&self, key: &str, why: &str) -> Error {
        Code::BadValue.error(format!("the policy key '{}' {why}", self.path(key)))
    }
}
