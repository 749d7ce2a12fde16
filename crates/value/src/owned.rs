//! A value on its own, as bytes.

use crate::Element;
use crate::element::array_elements;
use bson::spec::ElementType;
use bson::{RawArray, RawBsonRef, RawDocumentBuf};

/// A value of any kind. Unlike an array of the `bson` crate, one is not walked through to be made.
#[derive(Debug, Clone)]
pub struct OwnedValue {
    kind: ElementType,
    bytes: Vec<u8>,
}

impl OwnedValue {
    /// The value of an element, copied.
    pub fn of(element: Element<'_>) -> OwnedValue {
        OwnedValue { kind: element.kind, bytes: element.bytes.to_vec() }
    }

    /// An array from the document that it is stored as.
    pub fn array(items: RawDocumentBuf) -> OwnedValue {
        OwnedValue { kind: ElementType::Array, bytes: items.into_bytes() }
    }

    pub fn empty_array() -> OwnedValue {
        OwnedValue::array(RawDocumentBuf::new())
    }

    pub fn value(&self) -> RawBsonRef<'_> {
        Element { kind: self.kind, key: "", bytes: &self.bytes }.value()
    }

    /// `None` if it is something else.
    pub fn as_array(&self) -> Option<&RawArray> {
        match self.value() {
            RawBsonRef::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Whether it is an array without elements.
    pub fn is_empty_array(&self) -> bool {
        self.as_array().is_some_and(|array| array_elements(array).next().is_none())
    }
}
