//! What an expression sees while it is evaluated: the document and variables.

use bson::RawDocument;
use value::{Collator, Value};

#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    pub root: &'a RawDocument,
    pub collator: Option<&'a Collator>,
    pub frame: Option<&'a Frame<'a>>,
}

/// Values of consecutive slots; the parser gave each variable its slot.
#[derive(Debug)]
pub struct Frame<'a> {
    pub first: usize,
    pub values: &'a [Option<Value<'a>>],
    pub parent: Option<&'a Frame<'a>>,
}

impl<'a> Scope<'a> {
    pub fn new(root: &'a RawDocument, collator: Option<&'a Collator>) -> Scope<'a> {
        Scope { root, collator, frame: None }
    }

    /// The value of a variable; a slot that nobody bound is missing.
    pub fn variable(&self, slot: usize) -> Option<&'a Value<'a>> {
        let mut frame = self.frame;
        while let Some(at) = frame {
            if let Some(value) = slot.checked_sub(at.first).and_then(|slot| at.values.get(slot)) {
                return value.as_ref();
            }
            frame = at.parent;
        }
        None
    }
}
