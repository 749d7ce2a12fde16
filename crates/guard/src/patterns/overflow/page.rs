//! Pages: documents with a stretch of the array each, in order of their numbers.

use super::counters::{Counters, int, signed};
use super::pack::PageFill;
use super::{Work, limits};
use crate::patterns::place::EMPTY_ARRAY_BYTES;
use crate::policy::Overflow;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::Result;
use language::query::Filter;
use language::{Context, Needs, interrupt};
use std::ops::Deref;
use std::sync::Arc;
use value::element::{get, get_value};
use value::{DocumentWriter, Element, Number, Path};
use write::limits::DOCUMENT_BYTES_MAX;
use write::{Cause, Find, Transaction};

/// Pages that are read, or deleted, at once, and what they may take: those of large elements
/// are as large as documents can be.
const BATCH_PAGES: usize = 64;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

pub struct Page<R> {
    row: R,
    pub number: i64,
}

impl<R: Deref<Target = RawDocument>> Page<R> {
    fn new(row: R) -> Page<R> {
        let number = get_value(&row, "page").and_then(Number::from_value);
        Page { number: number.map_or(0, Number::to_i64_saturated), row }
    }

    pub fn items(&self, rule: &Overflow) -> Vec<Element<'_>> {
        self.array(rule).map(|array| array.children().items().collect()).unwrap_or_default()
    }

    fn array(&self, rule: &Overflow) -> Option<Element<'_>> {
        get(&self.row, rule.name())
    }

    /// How much it holds, by its count and its size: the elements are not
    /// looked at.
    pub fn held(&self, rule: &Overflow) -> PageFill {
        let bytes = self.array(rule).map_or(EMPTY_ARRAY_BYTES, |array| array.bytes.len());
        PageFill { len: self.count(), bytes: bytes.saturating_sub(EMPTY_ARRAY_BYTES) }
    }

    pub fn document(&self) -> &RawDocument {
        &self.row
    }

    /// The bytes of the whole page, be it loaded or not.
    pub fn size<T: Transaction<Row = R>>(&self, transaction: &T) -> usize {
        transaction.size(&self.row, &self.row)
    }

    /// How many elements it holds.
    pub fn count(&self) -> usize {
        let count = get_value(&self.row, "count").and_then(Number::from_value);
        count.map_or(0, |count| count.to_i64_saturated().max(0) as usize)
    }
}

/// The document of a page.
pub fn document(
    rule: &Overflow,
    parent: RawBsonRef<'_>,
    number: i64,
    items: &[Element<'_>],
) -> RawDocumentBuf {
    extended(rule, parent, number, (None, 0), items)
}

/// The document of a page that begins with an array of so many elements.
fn extended(
    rule: &Overflow,
    parent: RawBsonRef<'_>,
    number: i64,
    (array, len): (Option<Element<'_>>, usize),
    items: &[Element<'_>],
) -> RawDocumentBuf {
    let added: usize = items.iter().map(|item| item.bytes.len() + 8).sum();
    let bytes = array.map_or(0, |array| array.bytes.len()) + added;
    let mut page = DocumentWriter::with_capacity(bytes + 256);
    page.begin_document("_id");
    write_id(rule, parent, number, &mut page);
    page.end();
    page.append(&rule.parent_key, parent);
    page.append("page", signed(number).as_raw_bson_ref());
    page.append("count", int(len + items.len()).as_raw_bson_ref());
    match array {
        Some(array) => page.begin_array_with(rule.name(), array, len),
        None => page.begin_array(rule.name()),
    }
    items.iter().for_each(|item| page.copy_next(*item));
    page.end();
    page.finish()
}

/// What a page takes beside its array.
pub fn bytes(rule: &Overflow, parent: RawBsonRef<'_>, number: i64) -> usize {
    document(rule, parent, number, &[]).as_bytes().len() - EMPTY_ARRAY_BYTES
}

/// The `_id` of a page.
pub fn id(rule: &Overflow, parent: RawBsonRef<'_>, number: i64) -> RawDocumentBuf {
    let mut id = DocumentWriter::with_capacity(64);
    write_id(rule, parent, number, &mut id);
    id.finish()
}

fn write_id(rule: &Overflow, parent: RawBsonRef<'_>, number: i64, out: &mut DocumentWriter) {
    out.append("parent", parent);
    out.append_str("path", rule.path.as_str());
    out.append("page", signed(number).as_raw_bson_ref());
}

/// The filter of a document's pages, from those after a number on.
pub fn filter(rule: &Overflow, parent: RawBsonRef<'_>, after: Option<i64>) -> Result<Arc<Filter>> {
    let mut filter = DocumentWriter::new();
    filter.begin_document(&rule.parent_key);
    filter.append("$eq", parent);
    filter.end();
    if let Some(after) = after {
        filter.append_document("page", &rawdoc! { "$gt": after });
    }
    Filter::parse(&filter.finish(), &Context::new()).map(Arc::new)
}

/// What of a page is read: all of it, or all but the array.
#[derive(Debug, Clone, Copy)]
pub enum Look {
    Array,
    Count,
}

/// A way through the pages in order, some at a time.
#[derive(Debug)]
pub struct Walk {
    /// The number of the last page that was met, and at first one that no page has.
    pub last: i64,
    look: Look,
}

impl Walk {
    pub fn new(look: Look) -> Walk {
        // Numbers are signed: what is prepended goes below.
        Walk::after(i64::MIN, look)
    }

    /// From the page after a number on.
    pub fn after(number: i64, look: Look) -> Walk {
        Walk { last: number, look }
    }
}

impl<T: Transaction> Work<'_, T> {
    /// The first page, or the last.
    pub async fn end_page(&mut self, last: bool) -> Result<Option<Page<T::Row>>> {
        let direction = if last { -1 } else { 1 };
        self.page_after(None, direction).await
    }

    /// The first page, looked for from where it is known to be on.
    pub async fn first_page(&mut self, counters: Counters) -> Result<Option<Page<T::Row>>> {
        self.page_after(counters.first.map(|first| first - 1), 1).await
    }

    async fn page_after(
        &mut self,
        after: Option<i64>,
        direction: i32,
    ) -> Result<Option<Page<T::Row>>> {
        let find = Find {
            filter: &filter(self.rule, self.parent, after)?,
            sort: &rawdoc! { "page": direction },
            limit: 1,
            bytes: BATCH_BYTES,
            needs: &self.needs(Look::Array),
        };
        let rows = self.transaction.find(&self.rule.into, &find).await?;
        Ok(rows.into_iter().next().map(Page::new))
    }

    /// The next pages, in order; `None` when there are no more.
    pub async fn next(&mut self, walk: &mut Walk) -> Result<Option<Vec<Page<T::Row>>>> {
        let find = Find {
            filter: &filter(self.rule, self.parent, Some(walk.last))?,
            sort: &rawdoc! { "page": 1 },
            limit: BATCH_PAGES,
            bytes: BATCH_BYTES,
            needs: &self.needs(walk.look),
        };
        let rows = self.transaction.find(&self.rule.into, &find).await?;
        let pages: Vec<_> = rows.into_iter().map(Page::new).collect();
        let Some(end) = pages.last() else { return Ok(None) };
        walk.last = end.number;
        Ok(Some(pages))
    }

    /// The parent's `_id`, by which pages are found, may be a large value itself.
    fn needs(&self, look: Look) -> Needs {
        let mut paths = vec![Path::new(&self.rule.parent_key)];
        if matches!(look, Look::Array) {
            paths.push(Path::new(self.rule.name()));
        }
        Needs::Paths(paths)
    }

    /// The same page with more of it loaded.
    pub async fn reload(&mut self, page: Page<T::Row>, needs: &Needs) -> Result<Page<T::Row>> {
        self.transaction.load(&page.row, needs).await.map(Page::new)
    }

    /// Writes a page with these elements.
    pub async fn insert_page(&mut self, number: i64, items: &[Element<'_>]) -> Result<()> {
        interrupt::check_now()?;
        let page = document(self.rule, self.parent, number, items);
        let bytes = page.as_bytes().len();
        if bytes > DOCUMENT_BYTES_MAX {
            return Err(limits::element_too_large(self.rule, bytes));
        }
        self.transaction.insert(&self.rule.into, (&page).into(), None).await
    }

    /// Gives a page other elements; without any it is deleted.
    pub async fn replace_page(&mut self, page: &Page<T::Row>, items: &[Element<'_>]) -> Result<()> {
        if items.is_empty() {
            return self.delete_page(page).await;
        }
        interrupt::check_now()?;
        let after = document(self.rule, self.parent, page.number, items);
        self.transaction.replace(&self.rule.into, &page.row, (&after).into(), Cause::UNKNOWN).await
    }

    /// Adds elements behind those of a page, which are copied as they are.
    pub async fn extend_page(&mut self, page: &Page<T::Row>, items: &[Element<'_>]) -> Result<()> {
        interrupt::check_now()?;
        let held = (page.array(self.rule), page.count());
        let after = extended(self.rule, self.parent, page.number, held, items);
        self.transaction.replace(&self.rule.into, &page.row, (&after).into(), Cause::UNKNOWN).await
    }

    pub async fn delete_page(&mut self, page: &Page<T::Row>) -> Result<()> {
        interrupt::check_now()?;
        self.transaction.delete(&self.rule.into, &page.row).await
    }

    /// Deletes all pages.
    pub async fn clear(&mut self) -> Result<()> {
        let mut walk = Walk::new(Look::Count);
        while let Some(pages) = self.next(&mut walk).await? {
            for page in &pages {
                self.delete_page(page).await?;
            }
        }
        Ok(())
    }
}
