//! A head that has run empty while there are pages takes in what is next to it. Whoever
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
        let Some(page) = self.end_page(self.rule.keep == Keep::Newest).await? else {
            return Ok(done);
        };
        let items = page.items(self.rule);
        let (head, rest) = self.divide(&items);
        if head.is_empty() {
            return Ok(done);
        }
        self.replace_page(&page, rest).await?;
        let pages = done.counters.pages.saturating_sub(usize::from(rest.is_empty()));
        Ok(Done {
            head: Head::Becomes(array(head)),
            counters: Counters { pages, ..done.counters },
            paged: true,
        })
    }
}
