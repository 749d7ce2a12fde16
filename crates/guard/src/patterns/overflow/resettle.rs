//! Arrays of documents that are there already, brought into shape: cut where no
//! write has cut them yet, repacked where the policy's bounds have come down, or up by far.
//! What was moved is read back and compared before the transaction commits.

use super::page::{Look, Walk};
use super::whole::join;
use super::{Counters, Done, Head, Mass, Work, array, items, limits, pages_of};
use crate::adopt::{Aim, Cost, PageSize};
use crate::patterns::place::{self, identical};
use crate::policy::Keep;
use bson::spec::ElementType;
use error::{Code, Result};
use language::Needs;
use value::Element;
use write::Transaction;

impl<T: Transaction> Work<'_, T> {
    /// Decides which head and counters the document is to have, and moves the rest.
    /// The row must have its array loaded.
    pub async fn resettle(
        &mut self,
        row: &T::Row,
        loaded: &Needs,
        aim: Aim,
    ) -> Result<(Done, Cost)> {
        let found = place::find(row, &self.rule.path);
        let found = found.filter(|found| found.kind == ElementType::Array);
        let head = items(row, self.rule);
        let fits = found.is_none_or(|it| self.rule.head.hold(head.len(), it.bytes.len()));
        let pages = self.page_sizes().await?;
        if pages.is_empty() {
            self.check_path(row)?;
            if fits || aim == Aim::Counters {
                let counters = found.map(|_| Counters::of_whole(head.len())).unwrap_or_default();
                return Ok((Done::stays(counters), Cost::default()));
            }
            let all = self.within_total(&head, Mass::of(&head))?;
            let (kept, moved) = self.divide(all);
            let pages = self.append(moved, true).await?;
            self.prove(0, moved).await?;
            let dropped = (head.len() - all.len()) as u64;
            let cost = Cost { dropped, ..self.cost(moved, pages) };
            return Ok((done(kept, Counters::of(Mass::of(all), pages)), cost));
        }
        let counters = self.recount(row, loaded).await?;
        if aim == Aim::Bounds && self.rule.drops() && !counters.mass().is_within(self.rule.total) {
            return self.shorten(row, loaded, counters).await;
        }
        let pages_fit = !pages.iter().any(|page| page.is_over(self.rule))
            && !PageSize::are_sparse(&pages, self.rule);
        if (fits && pages_fit) || aim == Aim::Counters {
            return Ok((Done::stays(counters), Cost::default()));
        }
        if pages_fit && self.rule.keep == Keep::Newest {
            return self.move_head(&head, counters).await;
        }
        self.repack_all(&head, counters).await
    }

    /// The oldest elements go; another look brings what is left into shape.
    async fn shorten(
        &mut self,
        row: &T::Row,
        loaded: &Needs,
        before: Counters,
    ) -> Result<(Done, Cost)> {
        let done = self.drop_oldest(Done::stays(before), row, loaded).await?;
        let done = self.refill(done).await?;
        let dropped = before.mass().count.saturating_sub(done.counters.mass().count) as u64;
        Ok((done, Cost { dropped, ..Cost::default() }))
    }

    /// The older part of a head goes behind the last page.
    async fn move_head(
        &mut self,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<(Done, Cost)> {
        let (kept, moved) = self.divide(head);
        let last = self.end_page(true).await?;
        let number = last.as_ref().map_or(0, |page| page.number);
        let mut expected = last.as_ref().map(|page| page.items(self.rule)).unwrap_or_default();
        expected.extend_from_slice(moved);
        let made = self.append(moved, false).await?;
        self.prove(number - 1, &expected).await?;
        let counters = Counters { pages: counters.pages + made, ..counters };
        Ok((done(kept, counters), self.cost(moved, made)))
    }

    /// The whole sequence is cut and packed once more.
    async fn repack_all(
        &mut self,
        head: &[Element<'_>],
        counters: Counters,
    ) -> Result<(Done, Cost)> {
        let pages = self.load_pages(head, counters).await.map_err(|error| match error.code() {
            Code::ExceededMemoryLimit => {
                limits::too_long_to_repack(self.rule, counters.count.unwrap_or_default())
            }
            _ => error,
        })?;
        let all = join(self.rule, head, &pages);
        let (kept, paged) = self.divide(&all);
        let made = self.repack(&pages, paged, 0).await?;
        self.prove(i64::MIN, paged).await?;
        Ok((done(kept, Counters::of(Mass::of(&all), made)), self.cost(paged, made)))
    }

    /// Gives pages the count of what they hold, and deletes those that hold nothing.
    pub async fn mend(&mut self) -> Result<()> {
        let mut walk = Walk::new(Look::Array);
        while let Some(pages) = self.next(&mut walk).await? {
            for page in &pages {
                let items = page.items(self.rule);
                if items.is_empty() || page.count() != items.len() {
                    self.replace_page(page, &items).await?;
                }
            }
        }
        Ok(())
    }

    pub async fn page_sizes(&mut self) -> Result<Vec<PageSize>> {
        let mut sizes = Vec::new();
        let mut walk = Walk::new(Look::Count);
        while let Some(pages) = self.next(&mut walk).await? {
            for page in &pages {
                let bytes = page.size(self.transaction);
                sizes.push(PageSize::of(self.rule, self.parent, page.document(), bytes));
            }
        }
        Ok(sizes)
    }

    /// Reads the pages after a number back: they must hold these elements, each
    /// once and in order.
    async fn prove(&mut self, after: i64, expected: &[Element<'_>]) -> Result<()> {
        let mut expected = expected.iter();
        let mut walk = Walk::after(after, Look::Array);
        while let Some(pages) = self.next(&mut walk).await? {
            for item in pages.iter().flat_map(|page| page.items(self.rule)) {
                if !expected.next().is_some_and(|moved| identical(moved, &item)) {
                    return Err(limits::not_proved(self.rule));
                }
            }
        }
        match expected.next() {
            None => Ok(()),
            Some(_) => Err(limits::not_proved(self.rule)),
        }
    }

    /// What moving these to so many new pages costs.
    fn cost(&self, moved: &[Element<'_>], pages: usize) -> Cost {
        let bytes = pages_of(self.rule, self.parent, moved).1 as u64;
        Cost { elements: moved.len() as u64, pages: pages as u64, bytes, dropped: 0 }
    }
}

fn done(head: &[Element<'_>], counters: Counters) -> Done {
    Done { head: Head::Becomes(array(head)), counters, paged: true }
}
