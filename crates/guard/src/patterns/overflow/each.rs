//! Updates of elements by themselves: `$pull`, `$pullAll`, `$[]`, `$[filter]`.

use super::pack::Packer;
use super::page::{Look, Page};
use super::piece::Piece;
use super::{Counters, Done, Work, array, limits};
use crate::patterns::place::{EMPTY_ARRAY_BYTES, weight};
use error::Result;
use language::update::Update;
use value::Element;
use write::Transaction;

/// Pieces that an update has changed, not yet written.
pub struct Changed<R> {
    pub head: Option<Piece>,
    pub pages: Vec<(Page<R>, Piece)>,
    bytes: usize,
}

impl<R> Default for Changed<R> {
    fn default() -> Self {
        Changed { head: None, pages: Vec::new(), bytes: 0 }
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
        let mut last = 0;
        loop {
            let pages = self.pages_after(last, Look::Array).await?;
            let Some(end) = pages.last() else { break };
            last = end.number;
            for page in pages {
                if let Some(piece) = self.apply(update, &page.items(self.rule))? {
                    self.note(&mut changed, page, piece)?;
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
        changed.bytes += piece.bytes();
        if changed.bytes > limits::CHANGED_BYTES_MAX {
            return Err(limits::too_much(self.rule));
        }
        changed.pages.push((page, piece));
        Ok(())
    }

    /// Writes changed pieces; `None`, and nothing written, if one has outgrown
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
        let mut count = counters.count.unwrap_or(0);
        let mut pages = counters.pages;
        let new_head = changed.head.as_ref().map(|piece| {
            let items = piece.items();
            count = (count + items.len()).saturating_sub(head.len());
            array(&items)
        });
        for (page, piece) in &changed.pages {
            let items = piece.items();
            count = (count + items.len()).saturating_sub(page.items(self.rule).len());
            pages -= usize::from(items.is_empty());
            self.replace_page(page, &items).await?;
        }
        Ok(Some(Done {
            head: new_head,
            counters: Counters::of(count, pages),
            paged: !changed.pages.is_empty(),
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
