//! Putting together what is shown of an array, from its head and its pages.

use super::Show;
use crate::patterns::fields;
use crate::patterns::overflow::Counters;
use crate::patterns::place::{self, EMPTY_ARRAY_BYTES, weight};
use crate::policy::{Keep, Overflow, Read, TooLarge};
use bson::spec::ElementType;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Error, Result};
use std::future::Future;
use std::ops::{Range, RangeInclusive};
use value::element::{array_elements, array_len, get};
use value::{ArrayWriter, Element};
use write::Version;
use write::limits::DOCUMENT_BYTES_MAX;

/// What a document may weigh with its arrays whole where it is not shown so, but only looked
/// at: by a filter, by the stages of a pipeline.
pub const SEEN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Where the parts of arrays come from, all as of one moment.
pub trait Pages: Send {
    /// What the document itself holds at the array's path, all of it loaded: the head, or
    /// something else.
    fn head(&mut self, rule: &Overflow) -> impl Future<Output = Result<Option<RawBson>>> + Send;

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
    let document = version.document;
    let counters = Counters::read(version, rule);
    let own = place::find(document, &rule.path);
    if counters.pages == 0 && matches!(how, Show::Whole) && own.is_none_or(is_array) {
        // All of it is there.
        return Ok(None);
    }
    let own = own.map_or(0, |own| own.bytes.len());
    let bytes = document.as_bytes().len() - own + EMPTY_ARRAY_BYTES;
    let mut reading = Reading { rule, pages, weight: Weight { bytes, bytes_max, elements: 0 } };
    let shown = match counters {
        Counters { pages: 0, .. } => reading.head_alone(how).await?,
        Counters { count, .. } => {
            let parent = place::id(document);
            let whole = reading.sequence(how, parent, count.filter(|_| rule.counted)).await;
            match whole {
                Err(error) if shows_head(rule, how, bytes_max, &error) => {
                    reading.pages.head(rule).await?
                }
                Err(error) if error.code() == Code::BSONObjectTooLarge => {
                    return Err(too_large(rule, parent, bytes_max));
                }
                whole => whole?,
            }
        }
    };
    match shown {
        Some(_) => fields::edit(document, &[(&rule.path, shown)]).map(Some),
        None => Ok(None),
    }
}

struct Reading<'a, P> {
    rule: &'a Overflow,
    pages: &'a mut P,
    weight: Weight,
}

/// What the result weighs so far.
struct Weight {
    bytes: usize,
    /// What it may weigh.
    bytes_max: usize,
    /// How many elements it shows.
    elements: usize,
}

impl<P: Pages> Reading<'_, P> {
    /// Elements of an array without pages. What is no array is shown as it is: the document
    /// has it in name only where it is large.
    async fn head_alone(&mut self, how: &Show) -> Result<Option<RawBson>> {
        let head = match self.pages.head(self.rule).await? {
            Some(RawBson::Array(head)) => head,
            other => return Ok(other),
        };
        let mut out = ArrayWriter::new();
        let picked = how.range(array_len(&head));
        let items = array_elements(&head).items().skip(picked.start).take(picked.len());
        items.for_each(|item| out.copy(item));
        Ok(Some(RawBson::Array(out.finish())))
    }

    /// What the document holds of an array with pages.
    async fn head(&mut self) -> Result<Option<RawArrayBuf>> {
        match self.pages.head(self.rule).await? {
            Some(RawBson::Array(head)) => Ok(Some(head)),
            _ => Ok(None),
        }
    }

    /// Elements of an array with pages; only the pages that hold them are read.
    async fn sequence(
        &mut self,
        how: &Show,
        parent: RawBsonRef<'_>,
        count: Option<usize>,
    ) -> Result<Option<RawBson>> {
        let mut counted = None;
        let count = match count {
            Some(count) => count,
            None => {
                let counts = self.pages.counts(self.rule, parent).await?;
                if counts.is_empty() {
                    // The document says that there are pages, and is mistaken.
                    return self.head_alone(how).await;
                }
                let head = self.head().await?;
                let paged = sum(&counts);
                counted = Some(counts);
                paged + head.map_or(0, |head| array_len(&head))
            }
        };
        let picked = how.range(count);
        let mut reaches_head = self.may_reach_head(&picked, count);
        if !reaches_head && !picked.is_empty() {
            let counts = match counted.take() {
                Some(counts) => counts,
                None => self.pages.counts(self.rule, parent).await?,
            };
            // A head that is over its bound may reach further than it should.
            let span = self.head_span(count.saturating_sub(sum(&counts)), count);
            reaches_head = !intersection(&picked, &span).is_empty();
            counted = Some(counts);
        }
        let head = match reaches_head {
            true => self.head().await?,
            false => None,
        };
        let head_span = head.as_ref().map_or(0..0, |head| self.head_span(array_len(head), count));
        let from_head = intersection(&picked, &head_span);
        let mut out = ArrayWriter::new();
        let newest = self.rule.keep == Keep::Newest;
        if !newest && let Some(head) = &head {
            self.weight.copy(head, &from_head, head_span.start, &mut out)?;
        }
        if from_head.len() < picked.len() {
            let counts = match counted {
                Some(counts) => counts,
                None => self.pages.counts(self.rule, parent).await?,
            };
            self.copy_pages(parent, &counts, &picked, count, &mut out).await?;
        }
        if newest && let Some(head) = &head {
            self.weight.copy(head, &from_head, head_span.start, &mut out)?;
        }
        Ok(Some(RawBson::Array(out.finish())))
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
        let mut take = |page: &RawDocument| {
            let array = get(page, rule.name()).map(|array| array.value());
            match (rest.next(), array) {
                (Some((_, span)), Some(RawBsonRef::Array(array))) => {
                    weight.copy(array, &intersection(picked, span), span.start, out)
                }
                _ => Ok(()),
            }
        };
        pages.each_page(rule, parent, *first..=*last, &mut take).await
    }
}

impl Weight {
    /// Copies the elements in `picked` of an array that begins at `start`.
    fn copy(
        &mut self,
        array: &bson::RawArray,
        picked: &Range<usize>,
        start: usize,
        out: &mut ArrayWriter,
    ) -> Result<()> {
        let skipped = picked.start.saturating_sub(start);
        for item in array_elements(array).items().skip(skipped).take(picked.len()) {
            self.bytes += weight(item, self.elements);
            self.elements += 1;
            if self.bytes > self.bytes_max {
                return Err(Code::BSONObjectTooLarge.error("too large with its array"));
            }
            out.copy(item);
        }
        Ok(())
    }
}

impl Show {
    fn range(&self, len: usize) -> Range<usize> {
        match self {
            Show::Whole => 0..len,
            Show::Slice(slice) => slice.range(len),
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
