//! The bounds of the whole array, head and pages together.
//!
//! What counts is growth, as with all bounds: an array that was over before the policy came may
//! stay as it is, and may shrink. Where the oldest elements go instead, a write that changes the
//! array drops what is too much from the front of the sequence, at the cost of what it drops: a
//! head that is dropped from runs empty by and by, and takes in the next page (`refill`).

use super::{Counters, Done, Head, Mass, Seen, Work, array, items};
use crate::patterns::bounds;
use crate::policy::{Bounds, Keep, OnTotal, Overflow};
use bson::RawArrayBuf;
use bson::spec::ElementType;
use error::Result;
use language::Needs;
use value::Element;
use value::element::array_elements;
use write::{Transaction, Version};

impl<T: Transaction> Work<'_, T> {
    /// What is to be kept of an array that is about to get pages.
    pub fn within_total<'s, 'e>(
        &self,
        all: &'s [Element<'e>],
        before: Mass,
    ) -> Result<&'s [Element<'e>]> {
        let mass = Mass::of(all);
        if mass.is_within(self.rule.total) {
            return Ok(all);
        }
        match self.rule.on_total {
            OnTotal::Reject => self.check_total(before, mass).map(|()| all),
            OnTotal::DropOldest => Ok(Front::new(mass, self.rule.total).split(all).1),
        }
    }

    /// Keeps an array with pages within its bounds, once an update has changed it. `before` is
    /// what it held.
    pub async fn bound(
        &mut self,
        done: Done,
        before: Counters,
        row: &T::Row,
        loaded: &Needs,
    ) -> Result<Done> {
        let mass = done.counters.mass();
        let is_changed = done.paged || mass != before.mass();
        if !is_changed || mass.is_within(self.rule.total) {
            return Ok(done);
        }
        match self.rule.on_total {
            OnTotal::Reject => self.check_total(before.mass(), mass).map(|()| done),
            OnTotal::DropOldest => self.drop_oldest(done, row, loaded).await,
        }
    }

    /// Refuses an array that is over a bound and has grown in what that is about.
    fn check_total(&self, before: Mass, after: Mass) -> Result<()> {
        let grown = |bound: Option<usize>, before: usize, after: usize| {
            bound.is_some_and(|bound| after > bound.max(before))
        };
        let Bounds { max, max_bytes } = self.rule.total;
        let bytes = after.array_bytes();
        if grown(max, before.count, after.count) {
            let max = max.unwrap_or_default();
            return Err(bounds::total_too_long(self.parent, &self.rule.path, max, after.count));
        }
        if grown(max_bytes, before.array_bytes(), bytes) {
            let max = max_bytes.unwrap_or_default();
            return Err(bounds::total_too_large(self.parent, &self.rule.path, max, bytes));
        }
        Ok(())
    }

    /// Drops elements from the front of the sequence until the rest is within bounds.
    pub async fn drop_oldest(&mut self, done: Done, row: &T::Row, loaded: &Needs) -> Result<Done> {
        let mut front = Front::new(done.counters.mass(), self.rule.total);
        let Done { mut head, mut counters, .. } = done;
        if self.rule.keep == Keep::Oldest {
            head = self.shorten_head(head, &mut front, row, loaded).await?;
        }
        self.shorten_pages(&mut front, &mut counters).await?;
        if self.rule.keep == Keep::Newest {
            head = self.shorten_head(head, &mut front, row, loaded).await?;
        }
        let Counters { pages, first, .. } = counters;
        Ok(Done {
            head,
            counters: Counters { first, ..Counters::of(front.mass, pages) },
            paged: true,
        })
    }

    async fn shorten_head(
        &mut self,
        head: Head,
        front: &mut Front,
        row: &T::Row,
        loaded: &Needs,
    ) -> Result<Head> {
        if front.is_within() {
            return Ok(head);
        }
        if let Head::Becomes(written) = &head {
            let held: Vec<Element<'_>> = array_elements(written).items().collect();
            return Ok(Head::Becomes(front.left(&held)));
        }
        let holder = self.head(row, loaded).await?;
        let held = items(holder.as_deref().unwrap_or(row), self.rule);
        Ok(Head::Becomes(front.left(&held)))
    }

    /// Drops pages, and then the first elements of one.
    async fn shorten_pages(&mut self, front: &mut Front, counters: &mut Counters) -> Result<()> {
        while !front.is_within()
            && let Some(page) = self.first_page(*counters).await?
        {
            let held = page.items(self.rule);
            let (_, left) = front.split(&held);
            let is_gone = left.is_empty();
            self.replace_page(&page, left).await?;
            counters.pages = counters.pages.saturating_sub(usize::from(is_gone));
            counters.first = Some(page.number + i64::from(is_gone));
        }
        Ok(())
    }
}

/// Whether so many elements more surely drop none. What they take is not known yet.
pub fn has_room(version: Version<'_>, rule: &Overflow, appended: usize) -> bool {
    let Bounds { max, max_bytes } = rule.total;
    let fits = |max| stored_len(version, rule).is_some_and(|len| len + appended <= max);
    let has_room = || max_bytes.is_none() && max.is_none_or(fits);
    !rule.drops() || (rule.counted && has_room())
}

/// How many elements there are; `None` if neither the document nor its counters say so.
fn stored_len(version: Version<'_>, rule: &Overflow) -> Option<usize> {
    let seen = Seen::of(version, rule);
    match (seen.counters(), seen.array) {
        (Counters { pages: 1.., count, .. }, _) => count,
        (_, None) => Some(0),
        (_, Some(array)) => (array.kind == ElementType::Array).then(|| array.children().count()),
    }
}

/// How far the front of a sequence has been dropped.
struct Front {
    /// What is left.
    mass: Mass,
    bounds: Bounds,
}

impl Front {
    fn new(mass: Mass, bounds: Bounds) -> Front {
        Front { mass, bounds }
    }

    fn is_within(&self) -> bool {
        self.mass.is_within(self.bounds)
    }

    /// The next elements of the sequence: those that go, and those that stay.
    fn split<'s, 'e>(
        &mut self,
        items: &'s [Element<'e>],
    ) -> (&'s [Element<'e>], &'s [Element<'e>]) {
        let mut gone = 0;
        while let Some(item) = items.get(gone).filter(|_| !self.is_within()) {
            self.mass = self.mass.without(item);
            gone += 1;
        }
        items.split_at(gone)
    }

    fn left(&mut self, items: &[Element<'_>]) -> RawArrayBuf {
        array(self.split(items).1)
    }
}
