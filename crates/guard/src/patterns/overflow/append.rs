//! Elements added at the end of the pages.

use super::pack::{Packer, PageFill, pages_of};
use super::{Work, limits};
use error::Result;
use value::Element;
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Adds elements after the last page's, and gives back how many pages that
    /// made. `fresh`: there are no pages yet.
    pub async fn append(&mut self, items: &[Element<'_>], fresh: bool) -> Result<usize> {
        if items.is_empty() {
            return Ok(0);
        }
        let (_, bytes) = pages_of(self.rule, self.parent, items);
        if bytes > limits::CHANGED_BYTES_MAX {
            return Err(limits::too_much(self.rule));
        }
        let packer = Packer::new(self.rule, self.parent);
        let last = if fresh { None } else { self.end_page(true).await? };
        let mut number = 0;
        let mut rest = items;
        if let Some(last) = &last {
            number = last.number;
            let (fit, more) = rest.split_at(packer.take(last.held(self.rule), rest));
            if !fit.is_empty() {
                self.extend_page(last, fit).await?;
            }
            rest = more;
        }
        let mut made = 0;
        while !rest.is_empty() {
            let (fit, more) =
                rest.split_at(packer.take(PageFill::default(), rest).max(1).min(rest.len()));
            number += 1;
            made += 1;
            self.insert_page(number, fit).await?;
            rest = more;
        }
        Ok(made)
    }
}
