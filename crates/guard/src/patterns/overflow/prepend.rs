//! Elements added before those of the pages.

use super::pack::{Packer, PageFill, pages_of};
use super::page::Page;
use super::{Counters, Work, limits};
use error::Result;
use value::Element;
use write::Transaction;

/// What prepending has made.
pub struct Prepended {
    pub pages: usize,
    /// The number of the first page now.
    pub first: Option<i64>,
}

impl<T: Transaction> Work<'_, T> {
    /// Adds elements before the first page's: to that page if all of them fit there, else to
    /// pages below it.
    pub async fn prepend(
        &mut self,
        items: &[Element<'_>],
        counters: Counters,
    ) -> Result<Prepended> {
        if items.is_empty() {
            return Ok(Prepended { pages: 0, first: counters.first });
        }
        let (pages, bytes) = pages_of(self.rule, self.parent, items);
        if bytes > limits::CHANGED_BYTES_MAX {
            return Err(limits::too_much(self.rule));
        }
        let first = self.first_page(counters).await?;
        if let Some(page) = &first
            && self.prepend_to(page, items).await?
        {
            return Ok(Prepended { pages: 0, first: Some(page.number) });
        }
        let packer = Packer::new(self.rule, self.parent);
        let lowest = first.map_or(1, |page| page.number - pages as i64);
        let (mut number, mut rest) = (lowest, items);
        while !rest.is_empty() {
            let taken = packer.take(PageFill::default(), rest).max(1).min(rest.len());
            let (fit, more) = rest.split_at(taken);
            self.insert_page(number, fit).await?;
            (number, rest) = (number + 1, more);
        }
        Ok(Prepended { pages, first: Some(lowest) })
    }

    /// Adds elements before those of a page; false if it has no room for all of them.
    async fn prepend_to(&mut self, page: &Page<T::Row>, items: &[Element<'_>]) -> Result<bool> {
        if page.count() + items.len() > self.rule.page {
            return Ok(false);
        }
        let mut all = items.to_vec();
        all.extend(page.items(self.rule));
        let packer = Packer::new(self.rule, self.parent);
        if packer.take(PageFill::default(), &all) < all.len() {
            return Ok(false);
        }
        self.replace_page(page, &all).await?;
        Ok(true)
    }
}
