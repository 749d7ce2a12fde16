//! Updates of elements by themselves: `$pull`, `$pullAll`, `$[]`, `$[filter]`.

use super::page::{Look, Page, Walk};
use super::piece::Piece;
use super::{Counters, Done, Mass, Work, limits};
use error::Result;
use language::update::Update;
use value::Element;
use write::Transaction;

/// Pieces that an update has changed, not yet written.
pub struct Changed<R> {
    pub head: Option<Piece>,
    /// In order.
    pub pages: Vec<(Page<R>, Piece)>,
    /// What they hold, before or after.
    pub bytes: usize,
    /// Pages that have been deleted, and the elements they held.
    pub deleted: usize,
    pub removed: Mass,
}

impl<R> Default for Changed<R> {
    fn default() -> Self {
        Changed { head: None, pages: Vec::new(), bytes: 0, deleted: 0, removed: Mass::default() }
    }
}

impl<T: Transaction> Work<'_, T> {
    /// Applies an update to each piece. `all`: every element is written.
    pub async fn each(
        &mut self,
        update: &Update,
        head: &[Element<'_>],
        counters: Counters,
        all: bool,
    ) -> Result<Done> {
        let count = counters.count.unwrap_or(0);
        if all && count > limits::LOOK_ELEMENTS_MAX {
            return Err(limits::too_long(self.rule, count));
        }
        let mut changed = Changed { head: self.apply(update, head)?, ..Changed::default() };
        let mut walk = Walk::new(Look::Array);
        while let Some(pages) = self.next(&mut walk).await? {
            for page in pages {
                match self.apply(update, &page.items(self.rule))? {
                    Some(piece) if piece.items().is_empty() => {
                        // It goes at once, whatever becomes of the others: many may go.
                        changed.removed = changed.removed + Mass::of(&page.items(self.rule));
                        changed.deleted += 1;
                        self.delete_page(&page).await?;
                    }
                    Some(piece) => self.note(&mut changed, page, piece)?,
                    None => {}
                }
            }
        }
        self.write(changed, head, counters).await
    }

    pub fn note(
        &self,
        changed: &mut Changed<T::Row>,
        page: Page<T::Row>,
        piece: Piece,
    ) -> Result<()> {
        changed.bytes += piece.bytes().max(page.document().as_bytes().len());
        if changed.bytes > limits::CHANGED_BYTES_MAX {
            return Err(limits::too_much(self.rule));
        }
        changed.pages.push((page, piece));
        Ok(())
    }
}
