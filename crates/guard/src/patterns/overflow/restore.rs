//! Arrays put back into their documents: head and pages become one array again.

use super::page::{Look, Page, Walk};
use super::whole::join;
use super::{Counters, Work, array, items, limits};
use crate::patterns::place;
use bson::RawArrayBuf;
use bson::spec::ElementType;
use error::Result;
use language::{Needs, interrupt};
use write::limits::DOCUMENT_BYTES_MAX;
use write::{StoredRow, Transaction};

/// All of an array that has pages.
pub enum Gathered<R> {
    /// It has none: the document holds it whole.
    Whole,
    Paged {
        /// All elements, in order,
        array: RawArrayBuf,
        elements: usize,
        /// and the pages that hold some of them.
        pages: Vec<Page<R>>,
    },
    /// The elements alone weigh more than a document may.
    TooLarge { elements: usize, bytes: usize },
}

impl<T: Transaction> Work<'_, T> {
    /// Loads all elements of an array, and changes nothing. There must be as many as are counted.
    pub async fn gather(&mut self, row: &T::Row, loaded: &Needs) -> Result<Gathered<T::Row>> {
        let (mut bytes, mut pages) = (0, Vec::new());
        let mut walk = Walk::new(Look::Array);
        while let Some(next) = self.next(&mut walk).await? {
            for page in next {
                let items = page.items(self.rule);
                bytes += items.iter().map(|item| item.bytes.len()).sum::<usize>();
                pages.push(page);
            }
            if bytes > DOCUMENT_BYTES_MAX {
                return self.weigh(row, loaded).await;
            }
        }
        if pages.is_empty() {
            return Ok(Gathered::Whole);
        }
        let holder = self.head(row, loaded).await?;
        let document = holder.as_deref().unwrap_or(row);
        let found = place::find(document, &self.rule.path);
        if found.is_some_and(|found| found.kind != ElementType::Array) {
            return Err(limits::no_array(self.rule));
        }
        interrupt::check_now()?;
        let all = join(self.rule, &items(document, self.rule), &pages);
        let counted = Counters::read(row.version(), self.rule);
        if let Some(count) = counted.count.filter(|count| self.rule.counted && *count != all.len())
        {
            return Err(limits::miscounted(self.rule, count, all.len()));
        }
        Ok(Gathered::Paged { array: array(&all), elements: all.len(), pages })
    }

    /// How much there is of an array that is too large.
    async fn weigh(&mut self, row: &T::Row, loaded: &Needs) -> Result<Gathered<T::Row>> {
        let pages = self.page_sizes().await?;
        let holder = self.head(row, loaded).await?;
        let document = holder.as_deref().unwrap_or(row);
        let head = place::find(document, &self.rule.path).map_or(0, |head| head.bytes.len());
        Ok(Gathered::TooLarge {
            elements: items(document, self.rule).len()
                + pages.iter().map(|page| page.mass.count).sum::<usize>(),
            bytes: head + pages.iter().map(|page| page.bytes).sum::<usize>(),
        })
    }

    /// Reads a restored array back: the document must hold these very bytes, and there must be
    /// no pages.
    pub async fn prove_whole(&mut self, expected: &RawArrayBuf) -> Result<()> {
        let needs = Needs::Paths(vec![self.rule.path.clone()]);
        let row = self.transaction.get(&self.policy.namespace, self.parent, &needs).await?;
        let found = row.as_deref().and_then(|row| place::find(row, &self.rule.path));
        let is_whole = found.is_some_and(|found| found.bytes == expected.as_bytes());
        match is_whole && self.end_page(true).await?.is_none() {
            true => Ok(()),
            false => Err(limits::not_restored(self.rule)),
        }
    }
}
