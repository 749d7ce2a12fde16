//! Where in the document the walk stands.

use bson::RawDocument;
use value::element;

/// A field or array element on the way, linked to the one that holds it. It
/// lives on the stack; its text is made only for error messages.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    name: &'p str,
    /// 1 for a field of the document itself.
    pub level: usize,
    /// Whether this is an element of an array.
    pub in_array: bool,
}

impl<'p> Place<'p> {
    /// A field of `parent`, or of the document itself.
    pub fn field(parent: Option<&'p Place<'p>>, name: &'p str) -> Place<'p> {
        let level = parent.map_or(0, |parent| parent.level) + 1;
        Place { parent, name, level, in_array: false }
    }

    /// An element of the array at `parent`.
    pub fn item(parent: &'p Place<'p>, name: &'p str) -> Place<'p> {
        Place { in_array: true, ..Place::field(Some(parent), name) }
    }

    pub fn name(&self) -> &'p str {
        self.name
    }

    /// The innermost array that the path goes through, if any.
    pub fn array(&self) -> Option<&'p Place<'p>> {
        let mut place = *self;
        loop {
            let parent = place.parent?;
            if place.in_array {
                return Some(parent);
            }
            place = *parent;
        }
    }

    /// The dotted path from the root.
    pub fn path(&self) -> String {
        match self.parent {
            Some(parent) => format!("{}.{}", parent.path(), self.name),
            None => self.name.to_owned(),
        }
    }
}

/// `_id: 5`, for messages that name the document.
pub fn id_of(document: &RawDocument) -> String {
    element::get(document, "_id").map_or_else(|| "no id".to_owned(), crate::describe::element)
}
