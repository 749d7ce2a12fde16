//! What a document tells of its large values without loading them.

use super::stub::{Secret, Stub};
use bson::RawDocument;
use bson::spec::ElementType;
use value::{Element, Path, elements};

/// The size of a record's document, or a successor's, with its large values.
pub fn size(document: &RawDocument, secret: &Secret) -> usize {
    let mut size = document.as_bytes().len();
    for element in elements(document) {
        size += grown(&element, secret);
    }
    size
}

/// What the stubs in an element stand for, beyond their own size.
fn grown(element: &Element<'_>, secret: &Secret) -> usize {
    match Stub::read(element, secret) {
        Some(stub) => (stub.length as usize).saturating_sub(element.bytes.len()),
        None if element.kind == ElementType::EmbeddedDocument => {
            element.children().map(|child| grown(&child, secret)).sum()
        }
        None => 0,
    }
}

/// What a value takes, be it out of line.
pub fn bytes(element: &Element<'_>, secret: &Secret) -> usize {
    element.bytes.len() + grown(element, secret)
}

/// How many elements an array has.
pub fn items(array: &Element<'_>) -> u32 {
    u32::try_from(array.children().count()).unwrap_or(u32::MAX)
}

/// A value that stands elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    pub kind: ElementType,
    /// How many elements an array has, where its stub knows.
    pub items: Option<u32>,
}

/// What an element stands for, if it is a stub; nothing is loaded for it.
pub fn hidden(element: &Element<'_>, secret: &Secret) -> Option<Hidden> {
    let stub = Stub::read(element, secret)?;
    Some(Hidden { kind: stub.kind, items: stub.items })
}

/// A value that is kept out of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Large {
    /// Whether it is the one at the path that was asked for, not one on the way.
    pub at_path: bool,
    pub bytes: usize,
    /// How many elements an array has, where its stub knows.
    pub items: Option<u32>,
}

/// The large value at a path of sub-documents, or the one on the way there.
pub fn find(document: &RawDocument, path: &Path, secret: &Secret) -> Option<Large> {
    let mut fields = elements(document);
    for at in 0..path.len() {
        let field = fields.find_key(path.component(at))?;
        if let Some(stub) = Stub::read(&field, secret) {
            return Some(Large {
                at_path: at + 1 == path.len(),
                bytes: stub.length as usize,
                items: stub.items,
            });
        }
        if field.kind != ElementType::EmbeddedDocument {
            return None;
        }
        fields = field.children();
    }
    None
}

/// The numbers of the large values a record holds, in order.
pub fn numbers(document: &RawDocument, secret: &Secret) -> Vec<u32> {
    let mut numbers = Vec::new();
    elements(document).for_each(|element| collect(&element, secret, &mut numbers));
    numbers.sort_unstable();
    numbers
}

fn collect(element: &Element<'_>, secret: &Secret, numbers: &mut Vec<u32>) {
    match Stub::read(element, secret) {
        Some(stub) => numbers.extend(stub.numbers()),
        None if element.kind == ElementType::EmbeddedDocument => {
            element.children().for_each(|child| collect(&child, secret, numbers));
        }
        None => {}
    }
}
