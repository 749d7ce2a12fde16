//! Completes documents with the elements that are in pages, all as of one view.

use super::{Execution, Operator, Running, Shared, Stats, Work};
use crate::plan::{self, Paged, PagedArray, Query, Residual, Sort};
use crate::storage::{Document, RecordId};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::{Code, Result};
use guard::patterns::overflow::page_filter;
use guard::policy::Overflow;
use guard::read::{Pages, TakePage, show};
use language::projection::Projection;
use language::{Context, Needs};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use value::element::get_value;
use value::{Number, Path};
use write::Version;

pub struct Operation {
    input: Running,
    /// What only the completed document can decide.
    filter: Option<Arc<Residual>>,
}

impl Operation {
    pub fn new(input: Running, filter: Option<Arc<Residual>>) -> Operation {
        Operation { input, filter }
    }
}

impl Operator for Operation {
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
    // Only what a filter has seen larger than it is shown is completed once more.
    let again = (paged.bytes_max > paged.shown_bytes_max).then(|| stored.clone());
    let document = whole(shared, paged, paged.bytes_max, record, stored)?;
    if let Some(filter) = filter
        && !filter.matches(&document)?
    {
        return Ok(None);
    }
    match again.filter(|_| document.as_bytes().len() > paged.shown_bytes_max) {
        Some(stored) => whole(shared, paged, paged.shown_bytes_max, record, stored).map(Some),
        None => Ok(Some(document)),
    }
}

fn whole(
    shared: &Shared,
    paged: &Paged,
    bytes_max: usize,
    record: RecordId,
    document: Document,
) -> Result<Document> {
    if paged.arrays.is_empty() {
        return Ok(document);
    }
    let sidecar = sidecar(shared, record, &document)?;
    let mut completed: Option<RawDocumentBuf> = None;
    for array in &paged.arrays {
        let seen = completed.as_deref().unwrap_or(&document);
        let version = Version { document: seen, sidecar: sidecar.as_deref() };
        let mut pages = Stored { shared, array, record };
        let shown = show(&array.rule, &array.show, version, &mut pages, bytes_max);
        completed = now(shown)??.or(completed);
    }
    Ok(completed.map_or(document, Document::Built))
}

/// What policies keep beside a document. One that was put together, or has been sorted, has lost
/// it on the way.
fn sidecar(
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
struct Stored<'a> {
    shared: &'a Shared,
    array: &'a PagedArray,
    record: RecordId,
}

impl Stored<'_> {
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

impl Pages for Stored<'_> {
    async fn head(&mut self, rule: &Overflow) -> Result<Option<RawBson>> {
        let Shared { view, collection, .. } = self.shared;
        let Some(record) = view.record(*collection, self.record)? else { return Ok(None) };
        let needs = Needs::Paths(vec![rule.path.clone()]);
        let document = record.load(view, &needs)?;
        let found = guard::patterns::place::find(&document, &rule.path);
        Ok(found.map(|found| RawBson::from(found.value())))
    }

    /// From the keys of the pages' index alone.
    async fn counts(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
    ) -> Result<Vec<(i64, usize)>> {
        let pages = self.pages(|| {
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
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> Result<()> {
        let pages = self.pages(|| {
            let mut query = Query::new(page_filter(rule, parent, Some(numbers.start() - 1))?);
            query.needs = Needs::Paths(vec![Path::new(rule.name())]);
            Ok(query)
        })?;
        for page in pages {
            let page = page?.document;
            if number(&page, "page") > *numbers.end() {
                break;
            }
            take(&page)?;
        }
        Ok(())
    }
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
