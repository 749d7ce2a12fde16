//! Elements by number: `a.3`, `a.1500.name`.

use super::each::Changed;
use super::page::{Look, Walk};
use super::{Counters, Done, Head, Mass, Work, array};
use crate::policy::Keep;
use error::Result;
use language::Needs;
use language::update::Part;
use value::{Element, Path};
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Updates the pieces that hold the numbered elements. A number past the end
    /// appends, with nulls in between, as in any array.
    pub async fn numbered(
        &mut self,
        part: &Part,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<Done> {
        let count = counters.count.unwrap_or(0);
        let paged = count.saturating_sub(head.len());
        let (head_start, pages_start) = match self.rule.keep {
            Keep::Oldest => (0, head.len()),
            Keep::Newest => (paged, 0),
        };
        let mut changed = Changed::default();
        if let Some(update) = part.window(head_start..head_start + head.len()) {
            changed.head = self.apply(&update, head)?;
        }
        self.number_pages(part, pages_start..pages_start + paged, &mut changed).await?;
        let mut done = self.write(changed, head, counters).await?;
        if let Some(update) = part.window(count..usize::MAX)
            && let Some(piece) = self.apply(&update, &[])?
        {
            self.add_behind(&piece.items(), head, &mut done).await?;
        }
        Ok(done)
    }

    /// Updates the elements of the pages, which have these numbers together.
    async fn number_pages(
        &mut self,
        part: &Part,
        numbers: std::ops::Range<usize>,
        changed: &mut Changed<T::Row>,
    ) -> Result<()> {
        let wanted = part.numbers();
        let whole = Needs::Paths(vec![Path::new(self.rule.name())]);
        let mut start = numbers.start;
        let mut walk = Walk::new(Look::Count);
        // Pages are counted only as far as there are numbers ahead.
        let is_wanted = |start: usize| {
            let next = wanted.partition_point(|number| *number < start);
            wanted.get(next).is_some_and(|number| *number < numbers.end)
        };
        while is_wanted(start)
            && let Some(pages) = self.next(&mut walk).await?
        {
            for page in pages {
                let end = start + page.count();
                if let Some(update) = part.window(start..end) {
                    let page = self.reload(page, &whole).await?;
                    if let Some(piece) = self.apply(&update, &page.items(self.rule))? {
                        self.note(changed, page, piece)?;
                    }
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Adds elements after the last of the sequence.
    async fn add_behind(
        &mut self,
        added: &[Element<'_>],
        head: &[Element<'_>],
        done: &mut Done,
    ) -> Result<()> {
        let made = match self.rule.keep {
            Keep::Oldest => self.append(added, false).await?,
            Keep::Newest => {
                let mut all: Vec<Element<'_>> = match &done.head {
                    Head::Becomes(held) => value::element::array_elements(held).items().collect(),
                    _ => head.to_vec(),
                };
                all.extend_from_slice(added);
                let kept = super::pack::head_len(self.rule, &all);
                let (moved, kept) = all.split_at(all.len() - kept);
                let made = self.append(moved, false).await?;
                done.head = Head::Becomes(array(kept));
                made
            }
        };
        done.paged = true;
        let pages = done.counters.pages + made;
        done.counters = done.counters.exchange(Mass::default(), Mass::of(added), pages);
        Ok(())
    }
}
