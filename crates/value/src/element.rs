//! Walking the elements of a raw document without parsing what is passed over.

use bson::{RawArray, RawBsonRef, RawDocument, spec::ElementType};

/// One element: its type byte, key, and the bytes of its value, still in place.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    pub kind: ElementType,
    pub key: &'a str,
    /// The value's bytes, without type and key.
    pub bytes: &'a [u8],
}

impl<'a> Element<'a> {
    pub fn value(&self) -> RawBsonRef<'a> {
        todo!()
    }
}

/// The elements of a document in order.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    _rest: &'a [u8],
}

pub fn elements(document: &RawDocument) -> Elements<'_> {
    Elements { _rest: document.as_bytes() }
}

/// The elements of an array; keys are whatever was stored and mean nothing.
pub fn array_elements(array: &RawArray) -> Elements<'_> {
    Elements { _rest: array.as_bytes() }
}

/// The first element with this key.
pub fn get<'a>(document: &'a RawDocument, key: &str) -> Option<Element<'a>> {
    elements(document).find(|element| element.key == key)
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        todo!()
    }
}
