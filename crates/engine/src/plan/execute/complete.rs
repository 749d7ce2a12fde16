//! Completes documents with the elements that are in pages, all as of one view.

use super::{Execution, Operator, Running, Shared, Stats, Work};
use crate::plan::{self, Paged, PagedArray, Query, Residual, Sort};
use crate::storage::{Document, RecordId};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use budget::{Held, Kind};
use error::{Code, Result};
use guard::patterns::overflow::page_filter;
use guard::policy::Overflow;
use guard::read::{Pages, SEEN_BYTES_MAX, Show, TakePage, show};
use language::projection::Projection;
use language::{Context, Needs};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use value::element::get_value;
use value::{Number, OwnedValue, Path};
use write::Version;

pub struct CompleteOperation {
    input: Running,
    /// What only the completed document can decide.
    filter: Option<Arc<Residual>>,
}

impl CompleteOperation {
    pub fn new(input: Running, filter: Option<Arc<Residual>>) -> CompleteOperation {
        CompleteOperation { input, filter }
    }
}

impl Operator for CompleteOperation {
    fn work(&mut self, shared: &Shared, _: &mut Stats) -> Result<Work> {
        let mut member = match self.input.work(shared)? {
            Work::Advanced(member) => member,
            other => return Ok(other),
        };
        if let Some(stored) = member.document.take() {
            member.document = complete(shared, member.record, stored, self.filter.as_deref())?;
            if member.document.is_none() {
                return Ok(Work::Pending);
            }
        }
        Ok(Work::Advanced(member))
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.input]
    }
}

/// The document with its arrays as the query is to see them; `None` if it does not match.
pub fn complete(
    shared: &Shared,
    record: RecordId,
    stored: Document,
    filter: Option<&Residual>,
) -> Result<Option<Document>> {
    let Some(paged) = &shared.query.paged else { return Ok(Some(stored)) };
    let Some(filter) = filter else {
        return shown(shared, paged, record, stored).map(Some);
    };
    let arrays = paged.arrays.iter().map(|array| (array, &array.seen));
    let seen = with(shared, arrays, SEEN_BYTES_MAX, record, &stored)?;
    if !filter.matches(seen.as_deref().unwrap_or(&stored))? {
        return Ok(None);
    }
    match seen {
        Some(seen) if is_shown(paged, &seen) => Ok(Some(seen)),
        _ => shown(shared, paged, record, stored).map(Some),
    }
}

/// Whether what a filter has seen is what is shown.
fn is_shown(paged: &Paged, seen: &RawDocument) -> bool {
    let whole = |array: &PagedArray| match (&array.seen, &array.show) {
        (Show::Whole, Show::Whole) => true,
        _ => !array.shown,
    };
    paged.arrays.iter().all(whole) && seen.as_bytes().len() <= paged.shown_bytes_max
}

/// As it is shown, completed.
pub fn shown(
    shared: &Shared,
    paged: &Paged,
    record: RecordId,
    stored: Document,
) -> Result<Document> {
    let arrays = paged.arrays.iter().filter(|array| array.shown);
    let arrays = arrays.map(|array| (array, &array.show));
    let completed = with(shared, arrays, paged.shown_bytes_max, record, &stored)?;
    Ok(completed.unwrap_or(stored))
}

/// The same but for one array, which stays as it is stored.
pub fn shown_but(
    shared: &Shared,
    paged: &Paged,
    array: &Path,
    record: RecordId,
    stored: Document,
) -> Result<Document> {
    let arrays = paged.arrays.iter().filter(|it| it.shown && it.rule.path != *array);
    let arrays = arrays.map(|array| (array, &array.show));
    let completed = with(shared, arrays, paged.shown_bytes_max, record, &stored)?;
    Ok(completed.unwrap_or(stored))
}

/// The document with some of its arrays completed; `None` if that is how it is.
fn with<'a>(
    shared: &Shared,
    arrays: impl Iterator<Item = (&'a PagedArray, &'a Show)>,
    bytes_max: usize,
    record: RecordId,
    document: &Document,
) -> Result<Option<Document>> {
    let mut arrays = arrays.peekable();
    if arrays.peek().is_none() {
        return Ok(None);
    }
    let sidecar = sidecar(shared, record, document)?;
    let mut memory = Gathered { held: Held::new(Kind::Work), bytes: 0 };
    let mut completed: Option<RawDocumentBuf> = None;
    for (array, how) in arrays {
        let seen = completed.as_deref().unwrap_or(document);
        let version = Version { document: seen, sidecar: sidecar.as_deref() };
        let stored = StoredArray { shared, array, record };
        let mut pages = GatheredArray { array: stored, memory: &mut memory };
        let shown = show(&array.rule, how, version, &mut pages, bytes_max);
        completed = now(shown)??.or(completed);
    }
    completed.map(|completed| memory.document(completed)).transpose()
}

/// What completing a document takes of the memory budget: it is reserved as pages are read.
struct Gathered {
    held: Held,
    bytes: usize,
}

impl Gathered {
    fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        self.held.resize(self.bytes)
    }

    /// The document that has come of it, which keeps what it takes.
    fn document(mut self, document: RawDocumentBuf) -> Result<Document> {
        self.held.resize(document.as_bytes().len())?;
        Ok(Document::reserved(document, self.held))
    }
}

/// What policies keep beside a document. One that was put together, or has been sorted, has lost
/// it on the way.
pub fn sidecar(
    shared: &Shared,
    record: RecordId,
    document: &Document,
) -> Result<Option<RawDocumentBuf>> {
    if let Document::Stored(stored) = document {
        return Ok(stored.sidecar().map(RawDocument::to_owned));
    }
    let stored = shared.view.record(shared.collection, record)?;
    Ok(stored.and_then(|stored| stored.sidecar().map(RawDocument::to_owned)))
}

/// Head and pages of one array of a record.
pub struct StoredArray<'a> {
    pub shared: &'a Shared,
    pub array: &'a PagedArray,
    pub record: RecordId,
}

impl StoredArray<'_> {
    /// What the document itself holds at the array's path.
    pub fn own(&self) -> Result<Option<OwnedValue>> {
        let Shared { view, collection, .. } = self.shared;
        let Some(record) = view.record(*collection, self.record)? else { return Ok(None) };
        let path = &self.array.rule.path;
        let document = record.load(view, &Needs::Paths(vec![path.clone()]))?;
        Ok(guard::patterns::place::find(&document, path).map(OwnedValue::of))
    }

    /// All pages with their arrays, from a number on.
    pub fn all_after(&self, parent: RawBsonRef<'_>, after: Option<i64>) -> Result<Execution> {
        let rule = &self.array.rule;
        self.pages(|| {
            let mut query = Query::new(page_filter(rule, parent, after)?);
            query.needs = Needs::Paths(vec![Path::new(rule.name())]);
            Ok(query)
        })
    }

    /// The pages that a query finds, by their numbers.
    fn pages(&self, query: impl FnOnce() -> Result<Query>) -> Result<Execution> {
        let Some(collection) = &self.array.pages else {
            let Overflow { path, into, .. } = &*self.array.rule;
            return Err(Code::NamespaceNotFound
                .error(format!("the pages of '{path}' in '{into}' are gone")));
        };
        let mut query = query()?;
        query.sort = Sort::parse(&rawdoc! { "page": 1 })?;
        plan::open(collection, query, self.shared.view.clone(), self.shared.interrupt.clone())
    }
}

/// The same while a document is completed with it.
struct GatheredArray<'a> {
    array: StoredArray<'a>,
    memory: &'a mut Gathered,
}

impl Pages for GatheredArray<'_> {
    async fn head(&mut self, _: &Overflow) -> Result<Option<OwnedValue>> {
        let head = self.array.own()?;
        self.memory.add(array_bytes(head.as_ref()))?;
        Ok(head)
    }

    /// From the keys of the pages' index alone.
    async fn counts(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
    ) -> Result<Vec<(i64, usize)>> {
        let pages = self.array.pages(|| {
            let mut query = Query::new(page_filter(rule, parent, None)?);
            let spec = rawdoc! { "_id": 0, "page": 1, "count": 1 };
            let projection = Projection::parse(&spec, None, &Context::new())?;
            query.projection = Some(Arc::new(projection));
            Ok(query)
        })?;
        let counts = pages.map(|page| {
            let page = page?.document;
            Ok((number(&page, "page"), number(&page, "count").max(0) as usize))
        });
        counts.collect()
    }

    async fn each_page(
        &mut self,
        _: &Overflow,
        parent: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> Result<()> {
        for page in self.array.all_after(parent, Some(numbers.start() - 1))? {
            let page = page?.document;
            if number(&page, "page") > *numbers.end() {
                break;
            }
            self.memory.add(page.as_bytes().len())?;
            take(&page)?;
        }
        Ok(())
    }
}

/// What an array takes that is not part of a document.
pub fn array_bytes(array: Option<&OwnedValue>) -> usize {
    array.and_then(OwnedValue::as_array).map_or(0, |array| array.as_bytes().len())
}

fn number(page: &RawDocument, key: &str) -> i64 {
    get_value(page, key).and_then(Number::from_value).map_or(0, Number::to_i64_saturated)
}

/// The outcome of what never waits: everything it reads is in the store.
fn now<T>(future: impl Future<Output = T>) -> Result<T> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(outcome) => Ok(outcome),
        Poll::Pending => Err(Code::InternalError.error("a read of pages waited")),
    }
}
