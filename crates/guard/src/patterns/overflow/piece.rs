//! A piece of the array, updated by itself.
//!
//! The language applies updates to documents, so a piece is put into one, at the
//! array's own path and beside the `_id`, which messages name.

use super::Work;
use crate::patterns::bounds;
use crate::patterns::place;
use bson::RawDocumentBuf;
use bson::spec::ElementType;
use error::Result;
use language::query::Matched;
use language::update::Update;
use value::{DocumentWriter, Element};
use write::Transaction;

/// A piece after an update.
pub struct Piece {
    document: RawDocumentBuf,
    path: value::Path,
}

impl Piece {
    pub fn items(&self) -> Vec<Element<'_>> {
        match place::find(&self.document, &self.path) {
            Some(array) if array.kind == ElementType::Array => array.children().items().collect(),
            _ => Vec::new(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.document.as_bytes().len()
    }
}

impl<T: Transaction> Work<'_, T> {
    /// What an update makes of some elements; `None` if they stay as they are.
    pub fn apply(&self, update: &Update, items: &[Element<'_>]) -> Result<Option<Piece>> {
        let before = self.piece(items);
        let after = update.apply(&before.document, Matched::default())?;
        let Some(document) = after else { return Ok(None) };
        bounds::check_undeclared(self.policy, Some(&before.document), &document)?;
        Ok(Some(Piece { document, path: before.path }))
    }

    /// Refuses elements that the update could not add to an empty array, and those that hold
    /// arrays which nobody declared, and which are too long.
    pub fn check_added(&self, update: &Update, added: &[Element<'_>]) -> Result<()> {
        let (before, after) = (self.piece(&[]), self.piece(added));
        update.apply(&before.document, Matched::default())?;
        bounds::check_undeclared(self.policy, Some(&before.document), &after.document)
    }

    fn piece(&self, items: &[Element<'_>]) -> Piece {
        let path = &self.rule.path;
        let bytes: usize = items.iter().map(|item| item.bytes.len() + 8).sum();
        let mut out = DocumentWriter::with_capacity(bytes + 128);
        out.append("_id", self.parent);
        for at in 0..path.len() - 1 {
            out.begin_document(path.component(at));
        }
        out.begin_array(path.last());
        items.iter().for_each(|item| out.copy_next(*item));
        Piece { document: out.finish(), path: path.clone() }
    }
}
