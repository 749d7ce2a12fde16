//! Pieces that an update has changed, written: what one cannot hold any more goes on to the
//! next, whose last elements may have to go on in their turn.

use super::each::Changed;
use super::pack::{Packer, PageFill};
use super::page::{Look, Page, Walk};
use super::piece::Piece;
use super::{Counters, Done, Head, Mass, Work, array, limits};
use crate::patterns::place::{EMPTY_ARRAY_BYTES, weight};
use crate::policy::Keep;
use bson::RawArrayBuf;
use error::Result;
use std::collections::VecDeque;
use value::Element;
use value::element::array_elements;
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Writes changed pieces. Pages that are not reached stay as they are.
    pub async fn write(
        &mut self,
        changed: Changed<T::Row>,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Done> {
        let Changed { head: piece, pages, bytes, deleted, removed } = changed;
        let (mut before, mut after) = (removed, Mass::default());
        for (page, piece) in &pages {
            before = before + Mass::of(&page.items(self.rule));
            after = after + Mass::of(&piece.items());
        }
        let new_items = piece.as_ref().map(Piece::items);
        let mut new_head = Head::Stays;
        let mut moved: &[Element<'_>] = &[];
        if let Some(items) = &new_items {
            before = before + Mass::of(head);
            after = after + Mass::of(items);
            let kept;
            (kept, moved) = match self.head_holds(items, head) {
                true => (items.as_slice(), &[][..]),
                false => self.divide(items),
            };
            new_head = Head::Becomes(array(kept));
        }
        // An update that writes the value already stored still counts as a write.
        let paged = piece.is_some() || !pages.is_empty() || deleted > 0;
        let (ahead, behind) = match self.rule.keep {
            Keep::Oldest => (moved, &[][..]),
            Keep::Newest => (&[][..], moved),
        };
        let mut ripple = Ripple::new(pages, array(ahead), bytes);
        while self.step(&mut ripple).await? {}
        let left: Vec<Element<'_>> = array_elements(&ripple.carried).items().collect();
        let made = self.append(&left, false).await? + self.append(behind, false).await?;
        let pages = counters.pages.saturating_sub(deleted) + made;
        Ok(Done { head: new_head, counters: counters.exchange(before, after, pages), paged })
    }

    /// Whether the head may hold these: they are within its bounds, or it was over them before
    /// and they are no more.
    fn head_holds(&self, items: &[Element<'_>], before: &[Element<'_>]) -> bool {
        let now = measure(items);
        self.rule.head.hold(now.len, now.bytes) || now.within(measure(before))
    }

    /// Writes the next page that changes; false if there is none.
    async fn step(&mut self, ripple: &mut Ripple<T::Row>) -> Result<bool> {
        let Some((page, piece)) = self.next_changed(ripple).await? else { return Ok(false) };
        let held = page.items(self.rule);
        let own = piece.as_ref().map_or_else(|| held.clone(), Piece::items);
        let stays = ripple.carries_nothing() && measure(&own).within(measure(&held));
        let carried = array_elements(&ripple.carried).items();
        let items: Vec<Element<'_>> = carried.chain(own.iter().copied()).collect();
        let packer = Packer::new(self.rule, self.parent);
        let fits = match stays {
            true => items.len(),
            false => packer.take(PageFill::default(), &items),
        };
        let (fit, more) = items.split_at(fits);
        let more = array(more);
        self.replace_page(&page, fit).await?;
        ripple.carried = more;
        Ok(true)
    }

    /// The next page that an update has changed, or, while elements are carried on, the one
    /// that follows.
    async fn next_changed(
        &mut self,
        ripple: &mut Ripple<T::Row>,
    ) -> Result<Option<(Page<T::Row>, Option<Piece>)>> {
        if ripple.carries_nothing() {
            let next = ripple.changed.pop_front();
            return Ok(next.map(|(page, piece)| {
                ripple.last = page.number;
                (page, Some(piece))
            }));
        }
        let Some(page) = self.following(ripple).await? else { return Ok(None) };
        ripple.last = page.number;
        ripple.bytes += page.document().as_bytes().len();
        if ripple.bytes > limits::CHANGED_BYTES_MAX {
            return Err(limits::too_far(self.rule));
        }
        let is_changed = ripple.changed.front().is_some_and(|(it, _)| it.number == page.number);
        Ok(match is_changed {
            true => ripple.changed.pop_front().map(|(page, piece)| (page, Some(piece))),
            false => Some((page, None)),
        })
    }

    /// The page that follows the last one written.
    async fn following(&mut self, ripple: &mut Ripple<T::Row>) -> Result<Option<Page<T::Row>>> {
        loop {
            while let Some(page) = ripple.read.pop_front() {
                if page.number > ripple.last {
                    return Ok(Some(page));
                }
            }
            let mut walk = Walk::after(ripple.last, Look::Array);
            match self.next(&mut walk).await? {
                Some(pages) => ripple.read = pages.into(),
                None => return Ok(None),
            }
        }
    }
}

/// How far the changes have come.
struct Ripple<R> {
    /// Pages that are still to be written.
    changed: VecDeque<(Page<R>, Piece)>,
    /// Elements for which the pages so far had no room.
    carried: RawArrayBuf,
    /// Pages that have been read ahead.
    read: VecDeque<Page<R>>,
    /// The number of the last page written.
    last: i64,
    /// What the pages weigh that change.
    bytes: usize,
}

impl<R> Ripple<R> {
    fn new(changed: Vec<(Page<R>, Piece)>, carried: RawArrayBuf, bytes: usize) -> Ripple<R> {
        let last = i64::MIN;
        Ripple { changed: changed.into(), carried, read: VecDeque::new(), last, bytes }
    }

    fn carries_nothing(&self) -> bool {
        self.carried.is_empty()
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
