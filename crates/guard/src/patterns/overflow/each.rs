//! Updates of elements by themselves: `$pull`, `$pullAll`, `$[]`, `$[filter]`.

use super::pack::Packer;
use super::page::{Look, Page, Walk};
use super::piece::Piece;
use super::{Counters, Done, Head, Work, array, limits};
use crate::patterns::place::{EMPTY_ARRAY_BYTES, weight};
use error::Result;
use language::update::Update;
use value::Element;
use write::Transaction;

/// Pieces that an update has changed, not yet written.
pub struct Changed<R> {
    pub head: Option<Piece>,
    pages: Vec<(Page<R>, Piece)>,
    /// What they hold, before or after.
    bytes: usize,
    /// Pages that have been deleted, and the elements they held.
    deleted: usize,
    removed: usize,
}

impl<R> Default for Changed<R> {
    fn default() -> Self {
        Changed { head: None, pages: Vec::new(), bytes: 0, deleted: 0, removed: 0 }
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
                        changed.removed += page.items(self.rule).len();
                        changed.deleted += 1;
                        self.delete_page(&page).await?;
                    }
                    Some(piece) => self.note(&mut changed, page, piece)?,
                    None => {}
                }
            }
        }
        match self.write(changed, head, counters).await? {
            Some(done) => Ok(done),
            None => self.whole(update, head, counters).await,
        }
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

    /// Writes changed pieces; `None`, and none of them written, if one has outgrown
    /// its place, so that elements must move.
    pub async fn write(
        &mut self,
        changed: Changed<T::Row>,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Option<Done>> {
        let packer = Packer::new(self.rule, self.parent);
        let stays = |page: &Page<T::Row>, piece: &Piece| {
            packer.fits(&piece.items())
                || measure(&piece.items()).within(measure(&page.items(self.rule)))
        };
        let head_stays = changed.head.as_ref().is_none_or(|piece| {
            let now = measure(&piece.items());
            self.rule.head.hold(now.len, now.bytes) || now.within(measure(head))
        });
        if !head_stays || !changed.pages.iter().all(|(page, piece)| stays(page, piece)) {
            return Ok(None);
        }
        let mut count = counters.count.unwrap_or(0).saturating_sub(changed.removed);
        let pages = counters.pages.saturating_sub(changed.deleted);
        let mut new_head = Head::Stays;
        if let Some(piece) = &changed.head {
            let items = piece.items();
            count = (count + items.len()).saturating_sub(head.len());
            new_head = Head::Becomes(array(&items));
        }
        for (page, piece) in &changed.pages {
            let items = piece.items();
            count = (count + items.len()).saturating_sub(page.items(self.rule).len());
            self.replace_page(page, &items).await?;
        }
        Ok(Some(Done {
            head: new_head,
            counters: Counters::of(count, pages),
            paged: !changed.pages.is_empty() || changed.deleted > 0,
        }))
    }
}

#[derive(Clone, Copy)]
struct Measure {
    len: usize,
    bytes: usize,
}

impl Measure {
    fn within(self, other: Measure) -> bool {
        self.len <= other.len && self.bytes <= other.bytes
    }
}

fn measure(items: &[Element<'_>]) -> Measure {
    let weights = items.iter().enumerate().map(|(at, item)| weight(*item, at));
    Measure { len: items.len(), bytes: EMPTY_ARRAY_BYTES + weights.sum::<usize>() }
}
