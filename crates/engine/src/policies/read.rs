//! Arrays that overflow, as reads show them: rows put together with their pages,
//! all as of one view.

use crate::catalog::{Catalog, Collection};
use crate::plan::{self, Execution, Interrupt, Query, Sort};
use crate::storage::{Document, RecordId, View};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use error::{Code, Result};
use guard::patterns::overflow::page_filter;
use guard::policy::Overflow;
use guard::read::{Pages, SEEN_BYTES_MAX, Shape, TakePage, show};
use language::projection::Projection;
use language::query::Filter;
use language::{Context, Needs};
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use value::element::get_value;
use value::{Number, Path};

/// Where rows and pages are read.
pub struct Place {
    pub catalog: Arc<Catalog>,
    pub view: View,
    pub interrupt: Interrupt,
    /// The collection of the documents.
    pub collection: Arc<Collection>,
}

/// The rows of a plan, shown as a shape says.
pub struct Shown {
    pub rows: Execution,
    pub shape: Shape,
    pub place: Place,
    /// What is applied to each document in the end.
    pub projection: Option<(Projection, Arc<Filter>)>,
    /// What a document may weigh before that.
    pub bytes_max: usize,
    /// Whether each tells the number of its record.
    pub shows_record: bool,
}

impl Iterator for Shown {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        let shown = self.next_record().transpose()?;
        Some(shown.map(|(_, document)| Document::Built(document)))
    }
}

impl Shown {
    /// Documents that nobody is shown as they are.
    pub fn seen(rows: Execution, shape: Shape, place: Place) -> Shown {
        let bytes_max = SEEN_BYTES_MAX;
        Shown { rows, shape, place, projection: None, bytes_max, shows_record: false }
    }

    /// The next document, and the record it is made from.
    pub fn next_record(&mut self) -> Result<Option<(RecordId, RawDocumentBuf)>> {
        let Some(row) = self.rows.next().transpose()? else { return Ok(None) };
        Ok(Some((row.record, self.show(row.record, &row.document)?)))
    }

    fn show(&self, record: RecordId, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut shown = document.to_owned();
        let mut pages = Stored { place: &self.place, record };
        for (rule, how) in &self.shape.shown {
            shown = at_once(show(rule, how, &shown, &mut pages, self.bytes_max))??;
        }
        if let Some((projection, filter)) = &self.projection {
            let matched = match projection.needs_match() {
                true => filter.matches_at(&shown)?.unwrap_or_default(),
                false => Default::default(),
            };
            shown = projection.apply(&shown, matched)?;
        }
        match self.shows_record {
            true => Ok(plan::execute::with_record_id(record, &shown)),
            false => Ok(shown),
        }
    }
}

/// Head and pages of one record.
struct Stored<'a> {
    place: &'a Place,
    record: RecordId,
}

impl Stored<'_> {
    fn rows(&self, rule: &Overflow, query: impl FnOnce() -> Result<Query>) -> Result<Execution> {
        let Some(collection) = self.place.catalog.get(&rule.into) else {
            return Err(Code::NamespaceNotFound
                .error(format!("the pages of '{}' in '{}' are gone", rule.path, rule.into)));
        };
        let (view, interrupt) = (self.place.view.clone(), self.place.interrupt.clone());
        plan::open(collection, query()?, view, interrupt)
    }
}

impl Pages for Stored<'_> {
    async fn head(&mut self, rule: &Overflow) -> Result<Option<RawBson>> {
        let Some(record) = self.place.view.record(self.place.collection.id, self.record)? else {
            return Ok(None);
        };
        let needs = Needs::Paths(vec![rule.path.clone()]);
        let document = record.load(&self.place.view, &needs)?;
        let found = guard::patterns::place::find(&document, &rule.path);
        Ok(found.map(|found| RawBson::from(found.value())))
    }

    /// From the keys of the pages' index alone.
    async fn counts(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
    ) -> Result<Vec<(i64, usize)>> {
        let rows = self.rows(rule, || {
            let mut query = Query::new(page_filter(rule, parent, None)?);
            let spec = rawdoc! { "_id": 0, "page": 1, "count": 1 };
            let projection = Projection::parse(&spec, None, &Context::new())?;
            query.projection = Some(Arc::new(projection));
            query.sort = Sort::parse(&rawdoc! { "page": 1 })?;
            Ok(query)
        })?;
        let number = |document: &RawDocument, key| {
            get_value(document, key)
                .and_then(Number::from_value)
                .map_or(0, Number::to_i64_saturated)
        };
        rows.map(|row| {
            let page = row?.document;
            Ok((number(&page, "page"), number(&page, "count").max(0) as usize))
        })
        .collect()
    }

    async fn each_page(
        &mut self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        numbers: RangeInclusive<i64>,
        take: &mut TakePage<'_>,
    ) -> Result<()> {
        let rows = self.rows(rule, || {
            let mut query = Query::new(page_filter(rule, parent, Some(numbers.start() - 1))?);
            query.needs = Needs::Paths(vec![Path::new(rule.name())]);
            query.sort = Sort::parse(&rawdoc! { "page": 1 })?;
            Ok(query)
        })?;
        for row in rows {
            let page = row?.document;
            let number = get_value(&page, "page").and_then(Number::from_value);
            if number.is_some_and(|number| number.to_i64_saturated() > *numbers.end()) {
                break;
            }
            take(&page)?;
        }
        Ok(())
    }
}

/// The outcome of what never waits: everything it reads is in the store.
fn at_once<T>(future: impl Future<Output = T>) -> Result<T> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(outcome) => Ok(outcome),
        Poll::Pending => Err(Code::InternalError.error("a read of pages waited")),
    }
}
