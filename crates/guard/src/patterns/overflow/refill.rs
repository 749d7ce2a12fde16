//! A head that has run empty while there are pages takes in what is next to it. A client that
//! reads an array and writes it back would write `[]` otherwise, which clears everything.

use super::{Counters, Done, Head, Work, array};
use crate::policy::Keep;
use error::Result;
use value::element::array_len;
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Fills a head that an update has emptied from the page next to it. Where no element
    /// of that page fits the head's bounds, it stays empty.
    pub async fn refill(&mut self, done: Done) -> Result<Done> {
        let is_empty = matches!(&done.head, Head::Becomes(head) if array_len(head) == 0);
        if !is_empty || done.counters.pages == 0 {
            return Ok(done);
        }
        let page = match self.rule.keep {
            Keep::Oldest => self.first_page(done.counters).await?,
            Keep::Newest => self.end_page(true).await?,
        };
        let Some(page) = page else { return Ok(done) };
        let items = page.items(self.rule);
        let (head, rest) = self.divide(&items);
        if head.is_empty() {
            return Ok(done);
        }
        self.replace_page(&page, rest).await?;
        let pages = done.counters.pages.saturating_sub(usize::from(rest.is_empty()));
        // Its numbers are those from this page on, or from the next.
        let first = match self.rule.keep {
            Keep::Oldest => Some(page.number + i64::from(rest.is_empty())),
            Keep::Newest => done.counters.first,
        };
        Ok(Done {
            head: Head::Becomes(array(head)),
            counters: Counters { pages, first, ..done.counters },
            paged: true,
        })
    }
}
