//! `$push` at the front, and with a `$slice`: what it costs is what it adds and what it drops,
//! whatever lies between.

use super::{Counters, Done, Head, Mass, Work, array};
use crate::policy::Keep;
use error::Result;
use language::update::{Ends, Update};
use value::Element;
use write::Transaction;

/// What a push with a slice drops: elements at both ends of the array, and of those it adds.
struct Cut<'s, 'e> {
    front: usize,
    back: usize,
    added: &'s [Element<'e>],
}

impl<'s, 'e> Cut<'s, 'e> {
    /// Of an array of so many elements.
    fn of(ends: Ends, len: usize, added: &'s [Element<'e>]) -> Cut<'s, 'e> {
        let over = |kept: i64| {
            let kept = usize::try_from(kept.unsigned_abs()).unwrap_or(usize::MAX);
            (len + added.len()).saturating_sub(kept)
        };
        let (front, back) = match ends.slice {
            None => (0, 0),
            Some(slice) if slice >= 0 => (0, over(slice)),
            Some(slice) => (over(slice), 0),
        };
        // What is dropped at the end where elements are added is dropped of these first.
        let (near, far) = if ends.front { (front, back) } else { (back, front) };
        let of_added = near.min(added.len()) + far.saturating_sub(len);
        let stay = added.len() - of_added;
        let added = match (ends.front, near > 0) {
            (true, true) | (false, false) => added.get(of_added..),
            (true, false) | (false, true) => added.get(..stay),
        };
        let (near, far) = (near.saturating_sub(of_added), far.min(len));
        let (front, back) = if ends.front { (near, far) } else { (far, near) };
        Cut { front, back, added: added.unwrap_or_default() }
    }
}

/// What is left of an array while it is cut.
struct Left<'h, 'e> {
    head: &'h [Element<'e>],
    /// Whether the head has lost elements.
    is_cut: bool,
    counters: Counters,
}

impl<T: Transaction> Work<'_, T> {
    /// Adds elements at one end, and cuts the array to what it is to keep.
    pub async fn push(
        &mut self,
        update: &Update,
        (ends, added): (Ends, &[Element<'_>]),
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Done> {
        let len = counters.count.unwrap_or(0);
        let cut = Cut::of(ends, len, added);
        if added.is_empty() && cut.front + cut.back == 0 {
            return Ok(Done::stays(counters));
        }
        self.check_added(update, cut.added)?;
        let mut left = Left { head, is_cut: false, counters };
        if cut.front + cut.back >= len {
            self.clear().await?;
            let counters = Counters::of(Mass::default(), 0);
            left = Left { head: &[], is_cut: true, counters };
        } else {
            self.cut_front(cut.front, &mut left).await?;
            self.cut_back(cut.back, &mut left).await?;
        }
        match ends.front {
            true => self.add_front(cut.added, left).await,
            false => self.add_back(cut.added, left).await,
        }
    }

    async fn cut_front(&mut self, mut over: usize, left: &mut Left<'_, '_>) -> Result<()> {
        if self.rule.keep == Keep::Oldest {
            over -= left.cut_head(over, false);
        }
        while over > 0
            && let Some(page) = self.first_page(left.counters).await?
        {
            let held = page.items(self.rule);
            let (gone, stay) = held.split_at(over.min(held.len()));
            self.replace_page(&page, stay).await?;
            let first = page.number + i64::from(stay.is_empty());
            left.drop(gone, stay.is_empty(), Some(first));
            over -= gone.len();
        }
        if self.rule.keep == Keep::Newest {
            left.cut_head(over, false);
        }
        Ok(())
    }

    async fn cut_back(&mut self, mut over: usize, left: &mut Left<'_, '_>) -> Result<()> {
        if self.rule.keep == Keep::Newest {
            over -= left.cut_head(over, true);
        }
        while over > 0
            && let Some(page) = self.end_page(true).await?
        {
            let held = page.items(self.rule);
            let (stay, gone) = held.split_at(held.len().saturating_sub(over));
            self.replace_page(&page, stay).await?;
            left.drop(gone, stay.is_empty(), left.counters.first);
            over -= gone.len();
        }
        if self.rule.keep == Keep::Oldest {
            left.cut_head(over, true);
        }
        Ok(())
    }

    /// Adds elements behind all others.
    async fn add_back(&mut self, added: &[Element<'_>], left: Left<'_, '_>) -> Result<Done> {
        let Left { head, counters, .. } = left;
        if self.rule.keep == Keep::Oldest && counters.pages > 0 {
            let made = self.append(added, false).await?;
            return Ok(done(left.head(), counters, added, made, counters.first));
        }
        let all: Vec<Element<'_>> = head.iter().chain(added).copied().collect();
        let (kept, moved) = self.divide(&all);
        let is_fresh = counters.pages == 0;
        let made = self.append(moved, is_fresh).await?;
        Ok(done(becomes(kept), counters, added, made, counters.first.filter(|_| !is_fresh)))
    }

    /// Adds elements before all others.
    async fn add_front(&mut self, added: &[Element<'_>], left: Left<'_, '_>) -> Result<Done> {
        let Left { head, counters, .. } = left;
        if self.rule.keep == Keep::Newest && counters.pages > 0 {
            let made = self.prepend(added, counters).await?;
            return Ok(done(left.head(), counters, added, made.pages, made.first));
        }
        let all: Vec<Element<'_>> = added.iter().chain(head).copied().collect();
        let (kept, moved) = self.divide(&all);
        if counters.pages == 0 {
            let made = self.append(moved, true).await?;
            return Ok(done(becomes(kept), counters, added, made, None));
        }
        let made = self.prepend(moved, counters).await?;
        Ok(done(becomes(kept), counters, added, made.pages, made.first))
    }
}

impl Left<'_, '_> {
    /// The head as it is left: one that has lost nothing is not written.
    fn head(&self) -> Head {
        if self.is_cut { becomes(self.head) } else { Head::Stays }
    }

    /// Drops elements of the head, as many as it has of them at the most, and says how many.
    fn cut_head(&mut self, over: usize, at_end: bool) -> usize {
        let over = over.min(self.head.len());
        let (gone, stay) = match at_end {
            false => self.head.split_at(over),
            true => {
                let (stay, gone) = self.head.split_at(self.head.len() - over);
                (gone, stay)
            }
        };
        self.head = stay;
        self.is_cut |= over > 0;
        let (pages, first) = (self.counters.pages, self.counters.first);
        self.counters = self.counters.exchange(Mass::of(gone), Mass::default(), pages);
        self.counters.first = first;
        over
    }

    /// Counts elements of a page that are gone, and the page if it is.
    fn drop(&mut self, gone: &[Element<'_>], is_gone: bool, first: Option<i64>) {
        let pages = self.counters.pages.saturating_sub(usize::from(is_gone));
        self.counters = self.counters.exchange(Mass::of(gone), Mass::default(), pages);
        self.counters.first = first;
    }
}

fn becomes(head: &[Element<'_>]) -> Head {
    Head::Becomes(array(head))
}

/// What became of an array with this head, so many new pages, and some more elements.
fn done(
    head: Head,
    counters: Counters,
    added: &[Element<'_>],
    made: usize,
    first: Option<i64>,
) -> Done {
    let counters = counters.exchange(Mass::default(), Mass::of(added), counters.pages + made);
    Done { head, counters: Counters { first, ..counters }, paged: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use value::element::array_elements;

    /// A push on a plain list.
    fn plain(ends: Ends, len: i32, added: &[i32]) -> Vec<i32> {
        let old: Vec<i32> = (0..len).collect();
        let mut all = match ends.front {
            true => [added, &old].concat(),
            false => [&old, added].concat(),
        };
        match ends.slice {
            Some(slice) if slice >= 0 => all.truncate(slice as usize),
            Some(slice) => drop(all.drain(..all.len().saturating_sub(-slice as usize))),
            None => {}
        }
        all
    }

    #[test]
    fn what_is_cut_is_what_a_plain_push_cuts() {
        for (front, slice, len, added) in cases() {
            let ends = Ends { front, slice };
            let added: Vec<i32> = (100..100 + added).collect();
            let array: bson::RawArrayBuf = added.iter().copied().collect();
            let items: Vec<Element<'_>> = array_elements(&array).items().collect();
            let cut = Cut::of(ends, len as usize, &items);
            let kept = cut.added.iter().filter_map(|item| item.value().as_i32());
            let old = (0..len).skip(cut.front).take(len as usize - cut.front - cut.back);
            let all: Vec<i32> = match front {
                true => kept.chain(old).collect(),
                false => old.chain(kept).collect(),
            };
            assert_eq!(all, plain(ends, len, &added), "{ends:?} {len} {added:?}");
        }
    }

    fn cases() -> impl Iterator<Item = (bool, Option<i64>, i32, i32)> {
        let slices = [None].into_iter().chain((-6..7).map(Some));
        slices.flat_map(|slice| {
            let lengths = (0..5).flat_map(|len| (0..4).map(move |added| (len, added)));
            lengths
                .flat_map(move |(len, added)| [true, false].map(|front| (front, slice, len, added)))
        })
    }
}
