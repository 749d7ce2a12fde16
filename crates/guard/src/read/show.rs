//! Putting together what is shown of an array, from its head and its pages.

use super::Show;
use crate::patterns::fields::{self, Around};
use crate::patterns::overflow::Counters;
use crate::patterns::place;
use crate::policy::{Keep, Overflow, Read, TooLarge};
use bson::spec::ElementType;
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use language::Extent;
use std::future::Future;
use std::ops::{Range, RangeInclusive};
use value::element::{array_elements, array_len, get};
use value::{ArrayWriter, Element, OwnedValue, null_bytes};
use write::Version;
use write::limits::DOCUMENT_BYTES_MAX;

/// What a document may weigh with its arrays whole where it is not shown so, but only looked
/// at: by a filter, by the stages of a pipeline.
pub const SEEN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Where the parts of arrays come from, all as of one moment.
pub trait Pages: Send {
    /// What the document itself holds at the array's path, all of it loaded: the head, or
    /// something else.
    fn head(&mut self, rule: &Overflow) -> impl Future<Output = Result<Option<OwnedValue>>> + Send;

    /// The numbers of a document's pages and how many elements each holds, in order.
    fn counts(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
    ) -> impl Future<Output = Result<Vec<(i64, usize)>>> + Send;

    /// Takes the pages with these numbers in order, one after another, and no more of them
    /// once it fails: what is read is not in memory all at once.
    fn each_page(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> impl Future<Output = Result<()>> + Send;
}

pub type TakePage<'t> = dyn FnMut(&RawDocument) -> Result<()> + Send + 't;

/// The document with its array as it is to be shown, of so many bytes at the most; `None` if
/// that is how it is.
pub async fn show<P: Pages>(
    rule: &Overflow,
    how: &Show,
    version: Version<'_>,
    pages: &mut P,
    bytes_max: usize,
) -> Result<Option<RawDocumentBuf>> {
    if matches!(how, Show::Part(part) if *part == Extent::default()) {
        // That it is there shows as it is.
        return Ok(None);
    }
    let document = version.document;
    let counters = Counters::read(version, rule);
    let own = place::find(document, &rule.path);
    let is_sliced = matches!(how, Show::Slice(_));
    if counters.pages == 0 && !is_sliced && own.is_none_or(is_array) {
        // All of it is there.
        return Ok(None);
    }
    let own = own.map_or(0, |own| own.bytes.len());
    let rest = document.as_bytes().len() - own;
    let mut reading = Reading { rule, pages, weight: Weight { rest, bytes_max } };
    let Counters { pages: 1.., count, .. } = counters else {
        return put(rule, document, reading.head_alone(how).await?);
    };
    let parent = place::id(document);
    // What is long is written where it belongs, and not copied there.
    let mut around = Around::field(document, &rule.path)?;
    let mut out = around.array(&rule.path);
    let count = count.filter(|_| rule.counted);
    match reading.sequence(how, parent, count, &mut out).await {
        Ok(true) => Ok(Some(around.finish(out))),
        // The document says that there are pages, and is mistaken.
        Ok(false) => put(rule, document, reading.head_alone(how).await?),
        Err(error) if shows_head(rule, how, bytes_max, &error) => {
            put(rule, document, reading.pages.head(rule).await?)
        }
        Err(error) if error.code() == Code::BSONObjectTooLarge => {
            Err(too_large(rule, parent, bytes_max))
        }
        Err(error) => Err(error),
    }
}

/// The document with its array set; `None` if it stays as it is.
fn put(
    rule: &Overflow,
    document: &RawDocument,
    shown: Option<OwnedValue>,
) -> Result<Option<RawDocumentBuf>> {
    shown.map(|shown| fields::set(document, &rule.path, shown.value())).transpose()
}

/// The document with a part of its array in place of what it holds of it.
pub fn with_part(
    rule: &Overflow,
    document: &RawDocument,
    part: &OwnedValue,
) -> Result<RawDocumentBuf> {
    fields::set(document, &rule.path, part.value())
}

struct Reading<'a, P> {
    rule: &'a Overflow,
    pages: &'a mut P,
    weight: Weight,
}

/// What the result may weigh.
#[derive(Clone, Copy)]
struct Weight {
    /// What it weighs without the array.
    rest: usize,
    bytes_max: usize,
}

impl<P: Pages> Reading<'_, P> {
    /// Elements of an array without pages. What is no array is shown as it is: the document
    /// has it in name only where it is large.
    async fn head_alone(&mut self, how: &Show) -> Result<Option<OwnedValue>> {
        let held = self.pages.head(self.rule).await?;
        let Some(head) = held.as_ref().and_then(OwnedValue::as_array) else { return Ok(held) };
        let mut out = ArrayWriter::new();
        let picked = how.range(array_len(head));
        let items = array_elements(head).items().skip(picked.start).take(picked.len());
        items.for_each(|item| out.copy(item));
        Ok(Some(out.finish_value()))
    }

    /// What the document holds of an array with pages.
    async fn head(&mut self) -> Result<Option<OwnedValue>> {
        let head = self.pages.head(self.rule).await?;
        Ok(head.filter(|head| head.as_array().is_some()))
    }

    /// Elements of an array with pages; only the pages that hold them are read. False if there
    /// are no pages.
    async fn sequence(
        &mut self,
        how: &Show,
        parent: RawBsonRef<'_>,
        count: Option<usize>,
        out: &mut ArrayWriter,
    ) -> Result<bool> {
        let mut counted = None;
        let count = match count {
            Some(count) => count,
            None => {
                let counts = self.pages.counts(self.rule, parent).await?;
                if counts.is_empty() {
                    return Ok(false);
                }
                let head = self.head().await?;
                let paged = sum(&counts);
                counted = Some(counts);
                paged + head.as_ref().and_then(OwnedValue::as_array).map_or(0, array_len)
            }
        };
        let (before, between, behind) = how.parts(count);
        self.copy(&before, parent, count, &mut counted, out).await?;
        self.weight.fill(between, out)?;
        self.copy(&behind, parent, count, &mut counted, out).await?;
        Ok(true)
    }

    /// Copies a range of the sequence.
    async fn copy(
        &mut self,
        picked: &Range<usize>,
        parent: RawBsonRef<'_>,
        count: usize,
        counted: &mut Option<Vec<(i64, usize)>>,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        if picked.is_empty() {
            return Ok(());
        }
        let is_whole = *picked == (0..count);
        let mut reaches_head = is_whole || self.may_reach_head(picked, count);
        if !reaches_head {
            let counts = self.counts(parent, counted).await?;
            // A head that is over its bound may reach further than it should.
            let span = self.head_span(count.saturating_sub(sum(counts)), count);
            reaches_head = !intersection(picked, &span).is_empty();
        }
        let head = match reaches_head {
            true => self.head().await?,
            false => None,
        };
        let head = head.as_ref().and_then(OwnedValue::as_array);
        let head_span = head.map_or(0..0, |head| self.head_span(array_len(head), count));
        let from_head = intersection(picked, &head_span);
        if let Some(head) = head.filter(|_| !head_span.is_empty()) {
            // The elements of an array are mostly of one size.
            let each = head.as_bytes().len() / head_span.len() + 1;
            out.reserve((each * picked.len()).min(self.weight.bytes_max));
        }
        let newest = self.rule.keep == Keep::Newest;
        if !newest && let Some(head) = head {
            self.weight.copy(head, &from_head, head_span.start, out)?;
        }
        if is_whole {
            self.copy_all_pages(parent, out).await?;
        } else if from_head.len() < picked.len() {
            let counts = self.counts(parent, counted).await?;
            self.copy_pages(parent, counts, picked, count, out).await?;
        }
        if newest && let Some(head) = head {
            self.weight.copy(head, &from_head, head_span.start, out)?;
        }
        Ok(())
    }

    /// What the pages hold, read once.
    async fn counts<'c>(
        &mut self,
        parent: RawBsonRef<'_>,
        counted: &'c mut Option<Vec<(i64, usize)>>,
    ) -> Result<&'c [(i64, usize)]> {
        let counts = match counted.take() {
            Some(counts) => counts,
            None => self.pages.counts(self.rule, parent).await?,
        };
        Ok(counted.insert(counts))
    }

    /// Whether elements in a range of the sequence may be in the head.
    fn may_reach_head(&self, picked: &Range<usize>, count: usize) -> bool {
        let longest = self.rule.head.max.unwrap_or(count);
        match self.rule.keep {
            Keep::Oldest => picked.start < longest,
            Keep::Newest => picked.end + longest > count,
        }
    }

    fn head_span(&self, len: usize, count: usize) -> Range<usize> {
        match self.rule.keep {
            Keep::Oldest => 0..len,
            Keep::Newest => count.saturating_sub(len)..count,
        }
    }

    /// Copies those elements in `picked` that are on pages, page by page: the first that
    /// passes what the result may weigh ends it.
    async fn copy_pages(
        &mut self,
        parent: RawBsonRef<'_>,
        counts: &[(i64, usize)],
        picked: &Range<usize>,
        count: usize,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        let mut start = match self.rule.keep {
            Keep::Oldest => count.saturating_sub(sum(counts)),
            Keep::Newest => 0,
        };
        let mut spans = Vec::new();
        for (number, count) in counts {
            let span = start..start + count;
            start = span.end;
            if !intersection(picked, &span).is_empty() {
                spans.push((*number, span));
            }
        }
        let (Some((first, _)), Some((last, _))) = (spans.first(), spans.last()) else {
            return Ok(());
        };
        let Reading { rule, pages, weight } = self;
        let mut rest = spans.iter();
        let mut take = |page: &RawDocument| match (rest.next(), items(rule, page)) {
            (Some((_, span)), Some(array)) => {
                weight.copy(array, &intersection(picked, span), span.start, out)
            }
            _ => Ok(()),
        };
        pages.each_page(rule, parent, *first..=*last, &mut take).await
    }

    /// Copies what is on all pages: how much each holds need not be known.
    async fn copy_all_pages(
        &mut self,
        parent: RawBsonRef<'_>,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        let Reading { rule, pages, weight } = self;
        let mut take = |page: &RawDocument| match items(rule, page) {
            Some(array) => weight.copy_all(array, out),
            None => Ok(()),
        };
        // The lowest number is left out, since nothing comes before it.
        pages.each_page(rule, parent, i64::MIN + 1..=i64::MAX, &mut take).await
    }
}

/// The elements on a page.
fn items<'p>(rule: &Overflow, page: &'p RawDocument) -> Option<&'p RawArray> {
    match get(page, rule.name())?.value() {
        RawBsonRef::Array(array) => Some(array),
        _ => None,
    }
}

impl Weight {
    /// Stands in for elements that nobody looks at.
    fn fill(self, elements: usize, out: &mut ArrayWriter) -> Result<()> {
        let added = null_bytes(out.len() + elements) - null_bytes(out.len());
        self.check(out.bytes() + added)?;
        out.push_nulls(elements);
        Ok(())
    }

    /// Refuses an array of so many bytes, without what ends it.
    fn check(self, array: usize) -> Result<()> {
        if self.rest + array + 1 > self.bytes_max {
            return Err(Code::BSONObjectTooLarge.error("too large with its array"));
        }
        Ok(())
    }

    /// Copies the elements in `picked` of an array that begins at `start`.
    fn copy(
        self,
        array: &RawArray,
        picked: &Range<usize>,
        start: usize,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        let skipped = picked.start.saturating_sub(start);
        self.copy_items(array_elements(array).items().skip(skipped).take(picked.len()), out)
    }

    fn copy_all(self, array: &RawArray, out: &mut ArrayWriter) -> Result<()> {
        self.copy_items(array_elements(array).items(), out)
    }

    fn copy_items<'a>(
        self,
        mut items: impl Iterator<Item = Element<'a>>,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        items.try_for_each(|item| {
            out.copy(item);
            self.check(out.bytes())
        })
    }
}

impl Show {
    /// What is shown of an array that is all in one place.
    fn range(&self, len: usize) -> Range<usize> {
        match self {
            Show::Whole | Show::Part(_) => 0..len,
            Show::Slice(slice) => slice.range(len),
        }
    }

    /// What is copied, how many elements come between, and what is copied behind them.
    fn parts(&self, len: usize) -> (Range<usize>, usize, Range<usize>) {
        match self {
            Show::Part(part) if part.first.saturating_add(part.last) < len => {
                let behind = len - part.last..len;
                let between = if part.len { behind.start - part.first } else { 0 };
                (0..part.first, between, behind)
            }
            how => (how.range(len), 0, len..len),
        }
    }
}

fn is_array(found: Element<'_>) -> bool {
    found.kind == ElementType::Array
}

/// How many elements the pages hold.
fn sum(counts: &[(i64, usize)]) -> usize {
    counts.iter().map(|(_, count)| count).sum()
}

fn intersection(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

/// Whether a document that is too large for a reply is shown with its head. What is only looked
/// at, by a filter or by stages, is seen whole or not at all.
fn shows_head(rule: &Overflow, how: &Show, bytes_max: usize, error: &Error) -> bool {
    error.code() == Code::BSONObjectTooLarge
        && rule.too_large == TooLarge::Head
        && rule.read == Read::Merged
        && matches!(how, Show::Whole)
        && bytes_max <= DOCUMENT_BYTES_MAX
}

fn too_large(rule: &Overflow, parent: RawBsonRef<'_>, bytes_max: usize) -> Error {
    Code::BSONObjectTooLarge.error(format!(
        "with so much of its array '{}' the document with _id {} would pass {bytes_max} bytes; \
         read the array in parts, with a $slice projection, or from the pages in '{}'",
        rule.path,
        value::text::short(parent),
        rule.into
    ))
}
