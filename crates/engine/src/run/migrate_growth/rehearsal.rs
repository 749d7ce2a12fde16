//! A transaction that nobody sees: it reads a view, keeps what is written to itself, and is
//! dropped. What settling a document would do is found out by settling it here. Index keys are
//! made as well, and counted: where arrays are indexed, they are most of the work.

use crate::catalog::{Action, Catalog, Collection, Index};
use crate::index;
use crate::plan::{self, Interrupt, Query, Sort};
use crate::policies::page_indexes;
use crate::storage::large::{self, Secret};
use crate::storage::{Document, IndexId, Record, RecordId, View};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use error::Result;
use guard::patterns::Measured;
use guard::{Lease, Policy, Table};
use language::Needs;
use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use value::Number;
use value::element::{elements, get_value};
use write::{Cause, Find, Transaction};

/// What is there.
pub struct Survey<'a> {
    pub policy: &'a Policy,
    pub catalog: Arc<Catalog>,
    /// `None` if it is not there; its pages may be.
    pub collection: Option<Arc<Collection>>,
    pub view: View,
    pub interrupt: Interrupt,
}

pub struct Rehearsal<'a> {
    survey: &'a Survey<'a>,
    /// The policies that hold,
    table: &'a Table,
    /// and what would guard the collection.
    guard: Option<Lease>,
    secret: &'a Secret,
    written: BTreeMap<Namespace, Written>,
    /// The indexes that pages have, or would have.
    page_indexes: BTreeMap<Namespace, Vec<Index>>,
    /// Index entries added and removed, over all documents.
    pub entries: u64,
}

/// What has become of the pages of one array.
#[derive(Default)]
struct Written {
    /// Pages that are no longer as they are stored.
    gone: HashSet<RecordId>,
    /// What is there instead, in order of their numbers.
    pages: Vec<(i64, RawDocumentBuf)>,
}

pub struct Row {
    document: Document,
    /// `None` if it is not stored.
    record: Option<Record>,
}

impl Deref for Row {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        &self.document
    }
}

impl<'a> Rehearsal<'a> {
    pub fn new(
        survey: &'a Survey<'a>,
        table: &'a Table,
        secret: &'a Secret,
    ) -> Result<Rehearsal<'a>> {
        let namespace = &survey.policy.namespace;
        let guard = Table::default().with(survey.policy.clone()).get(namespace).cloned();
        let mut all = BTreeMap::new();
        for overflow in survey.policy.overflows() {
            let specs = page_indexes(overflow, survey.collection.as_deref());
            let indexes = specs.iter().map(|spec| Index::from_spec(IndexId(0), spec, true, 0));
            all.insert(overflow.into.clone(), indexes.collect::<Result<Vec<_>>>()?);
        }
        let written = BTreeMap::new();
        Ok(Rehearsal { survey, table, guard, secret, written, page_indexes: all, entries: 0 })
    }

    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.written.clear();
    }

    /// Counts the entries of a page that comes or goes.
    fn count(&mut self, namespace: &Namespace, page: &RawDocument) -> Result<()> {
        for index in self.page_indexes.get(namespace).into_iter().flatten() {
            self.entries += index::keys(index, page)?.keys.len() as u64;
        }
        Ok(())
    }

    /// Pages that are stored, and are as they were.
    fn stored(&self, namespace: &Namespace, find: &Find<'_>) -> Result<Vec<Row>> {
        // A policy that is not set yet has no pages, whatever stands in their place.
        if self.table.of_pages(namespace) != Some(&self.survey.policy.namespace) {
            return Ok(Vec::new());
        }
        let Some(collection) = self.survey.catalog.get(namespace) else { return Ok(Vec::new()) };
        let (view, interrupt) = (&self.survey.view, self.survey.interrupt.clone());
        let mut query = Query::new(find.filter.clone());
        query.needs = Needs::none();
        query.sort = Sort::parse(find.sort)?;
        let gone = self.written.get(namespace).map(|written| &written.gone);
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for found in plan::open(collection, query, view.clone(), interrupt)? {
            let found = found?.record;
            if gone.is_some_and(|gone| gone.contains(&found)) {
                continue;
            }
            if let Some(record) = view.record(collection.id, found)? {
                let document = record.load(view, find.needs)?;
                bytes += document.as_bytes().len();
                rows.push(Row { document, record: Some(record) });
            }
            if rows.len() >= find.limit || bytes >= find.bytes {
                break;
            }
        }
        Ok(rows)
    }
}

impl Written {
    /// The first pages that match, or the last. Filters ask for all of a document's pages or
    /// for those after a number, so that what matches is the end of the list.
    fn find(&self, find: &Find<'_>, descends: bool) -> Vec<Row> {
        let is_before = |page: &RawDocument| !find.filter.matches(page).unwrap_or(false);
        let begin = self.pages.partition_point(|(_, page)| is_before(page));
        let matching = self.pages.get(begin..).unwrap_or_default();
        let shown = match descends {
            true => matching.get(matching.len().saturating_sub(find.limit)..),
            false => matching.get(..matching.len().min(find.limit)),
        };
        let row = |page: &RawDocumentBuf| Document::Built(page.clone());
        let shown = shown.unwrap_or_default().iter();
        shown.map(|(_, page)| Row { document: row(page), record: None }).collect()
    }

    fn put(&mut self, page: &RawDocument) {
        let number = number(page);
        match self.place(number) {
            Ok(at) => self.pages[at].1 = page.to_owned(),
            Err(at) => self.pages.insert(at, (number, page.to_owned())),
        }
    }

    fn remove(&mut self, row: &Row) {
        self.gone.extend(row.record.as_ref().map(|record| record.id));
        if let Ok(at) = self.place(number(row)) {
            self.pages.remove(at);
        }
    }

    /// Where the page of this number is, or would be.
    fn place(&self, number: i64) -> std::result::Result<usize, usize> {
        self.pages.binary_search_by_key(&number, |(number, _)| *number)
    }
}

impl Transaction for Rehearsal<'_> {
    type Row = Row;
    type Guard = Lease;

    async fn guard(&mut self, _: &Namespace) -> Result<Option<Lease>> {
        Ok(self.guard.clone())
    }

    async fn get(
        &mut self,
        _: &Namespace,
        id: RawBsonRef<'_>,
        needs: &Needs,
    ) -> Result<Option<Row>> {
        let Some(collection) = &self.survey.collection else { return Ok(None) };
        let view = &self.survey.view;
        let Some(found) = collection.record_of(id, view)? else { return Ok(None) };
        let Some(record) = view.record(collection.id, found)? else { return Ok(None) };
        Ok(Some(Row { document: record.load(view, needs)?, record: Some(record) }))
    }

    async fn load(&mut self, row: &Row, needs: &Needs) -> Result<Row> {
        let document = match &row.record {
            Some(record) => record.load(&self.survey.view, needs)?,
            None => row.document.clone(),
        };
        Ok(Row { document, record: row.record.clone() })
    }

    fn size(&self, row: &Row, document: &RawDocument) -> usize {
        match row.record.as_ref().and_then(Record::next_large) {
            Some(_) => large::size(document, self.secret),
            None => document.as_bytes().len(),
        }
    }

    async fn find(&mut self, namespace: &Namespace, find: &Find<'_>) -> Result<Vec<Row>> {
        // There may be many documents, each with many pages.
        self.survey.interrupt.check()?;
        tokio::task::yield_now().await;
        let mut rows = self.stored(namespace, find)?;
        let Some(written) = self.written.get(namespace) else { return Ok(rows) };
        let sort = elements(find.sort).next().map(|field| field.value());
        let descends = sort == Some(RawBsonRef::Int32(-1));
        rows.extend(written.find(find, descends));
        rows.sort_by_key(|row| number(row));
        if descends {
            rows.reverse();
        }
        // Stored pages may have been left out, all of them behind these.
        let mut bytes = 0;
        let wanted = rows.iter().take(find.limit).take_while(|row| {
            let wanted = bytes < find.bytes;
            bytes += row.as_bytes().len();
            wanted
        });
        let wanted = wanted.count();
        rows.truncate(wanted);
        Ok(rows)
    }

    async fn insert(
        &mut self,
        namespace: &Namespace,
        document: &RawDocument,
        _: Option<&Measured>,
    ) -> Result<()> {
        self.count(namespace, document)?;
        self.written.entry(namespace.clone()).or_default().put(document);
        Ok(())
    }

    async fn replace(
        &mut self,
        namespace: &Namespace,
        row: &Row,
        after: &RawDocument,
        _: Cause<'_, Self>,
    ) -> Result<()> {
        // The document itself is not read again.
        if *namespace == self.survey.policy.namespace {
            for index in self.survey.collection.iter().flat_map(|it| &it.indexes) {
                self.entries += changed(index, row, after)?;
            }
            return Ok(());
        }
        for index in self.page_indexes.get(namespace).into_iter().flatten() {
            self.entries += changed(index, row, after)?;
        }
        let written = self.written.entry(namespace.clone()).or_default();
        written.remove(row);
        written.put(after);
        Ok(())
    }

    async fn delete(&mut self, namespace: &Namespace, row: &Row) -> Result<()> {
        self.count(namespace, row)?;
        self.written.entry(namespace.clone()).or_default().remove(row);
        Ok(())
    }

    fn check(
        &mut self,
        _: &Namespace,
        before: Option<&RawDocument>,
        after: &RawDocument,
    ) -> Result<()> {
        let validator = self.survey.collection.as_ref().and_then(|it| it.validator.as_ref());
        match validator.filter(|it| it.action != Action::Warn) {
            Some(refusing) => refusing.failure_of(before, after)?.map_or(Ok(()), Err),
            None => Ok(()),
        }
    }

    fn check_needs(&self, _: &Namespace, needs: &mut Needs) {
        let validator = self.survey.collection.as_ref().and_then(|it| it.validator.as_ref());
        validator.into_iter().for_each(|it| needs.merge(it.needs()));
    }

    async fn retry(&mut self) -> Result<bool> {
        Ok(false)
    }
}

/// How many entries of an index change with a document.
fn changed(index: &Index, before: &RawDocument, after: &RawDocument) -> Result<u64> {
    let diff = index::diff(index, before, after)?;
    Ok((diff.add.len() + diff.remove.len()) as u64)
}

/// The number of a page.
fn number(page: &RawDocument) -> i64 {
    let number = get_value(page, "page").and_then(Number::from_value);
    number.map_or(0, Number::to_i64_saturated)
}
