//! Both ends of an array with pages: `$push` and `$pop`.

use super::pack::head_len;
use super::{Counters, Done, Head, Mass, Work, array};
use crate::policy::Keep;
use error::Result;
use language::update::Update;
use value::Element;
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Appends to the last page: the head keeps the oldest, and is not looked at.
    pub async fn append_end(&mut self, update: &Update, counters: Counters) -> Result<Done> {
        let Some(piece) = self.apply(update, &[])? else {
            return Ok(Done::stays(counters));
        };
        let added = piece.items();
        let made = self.append(&added, false).await?;
        let first = counters.first;
        let counters = counters.exchange(Mass::default(), Mass::of(&added), counters.pages + made);
        let counters = Counters { first, ..counters };
        Ok(Done { head: Head::Stays, counters, paged: !added.is_empty() })
    }

    /// Appends to the head, whose oldest elements make room on the last page.
    pub async fn append_head(
        &mut self,
        update: &Update,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Done> {
        let Some(piece) = self.apply(update, head)? else {
            return Ok(Done::stays(counters));
        };
        let all = piece.items();
        let (moved, kept) = all.split_at(all.len() - head_len(self.rule, &all));
        let made = self.append(moved, false).await?;
        let first = counters.first;
        let counters = counters.exchange(Mass::of(head), Mass::of(&all), counters.pages + made);
        Ok(Done {
            head: Head::Becomes(array(kept)),
            counters: Counters { first, ..counters },
            paged: !moved.is_empty(),
        })
    }

    /// Removes the last element of the sequence, or the first.
    pub async fn pop(
        &mut self,
        update: &Update,
        head: &[Element<'_>],
        counters: Counters,
        last: bool,
    ) -> Result<Done> {
        let head_is_at_end = (self.rule.keep == Keep::Newest) == last;
        let page = match head_is_at_end && !head.is_empty() {
            true => None,
            false => self.end_page(last).await?,
        };
        let Some(page) = page else {
            return Ok(match self.apply(update, head)? {
                Some(piece) => {
                    let left = piece.items();
                    let (before, after) = (Mass::of(head), Mass::of(&left));
                    Done {
                        head: Head::Becomes(array(&left)),
                        counters: counters.exchange(before, after, counters.pages),
                        paged: false,
                    }
                }
                None => Done::stays(counters),
            });
        };
        let held = page.items(self.rule);
        let Some(piece) = self.apply(update, &held)? else {
            return Ok(Done::stays(counters));
        };
        let left = piece.items();
        self.replace_page(&page, &left).await?;
        let pages = counters.pages.saturating_sub(usize::from(left.is_empty()));
        let counters = counters.exchange(Mass::of(&held), Mass::of(&left), pages);
        Ok(Done { head: Head::Stays, counters, paged: true })
    }
}
