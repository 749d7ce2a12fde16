//! What is committed, as surveys, migrations and verification see it.

use crate::catalog::{Catalog, Collection};
use crate::plan::{self, Interrupt, Query, Sort};
use crate::storage::{Document, Record, View};
use bson::{RawBsonRef, RawDocument};
use command::Namespace;
use error::Result;
use language::Needs;
use language::query::Filter;
use std::ops::Deref;
use std::sync::Arc;
use value::Path;
use write::{Outline, Visit};

/// A view of the store, and the collections that it has.
pub struct SurveyView {
    pub catalog: Arc<Catalog>,
    /// Not older than the catalog.
    pub view: View,
    pub interrupt: Interrupt,
}

/// A document that nobody holds.
pub struct SurveyRow {
    record: Record,
    /// With the large values among its needs.
    document: Document,
}

impl write::StoredRow for SurveyRow {
    fn sidecar(&self) -> Option<&RawDocument> {
        self.record.sidecar()
    }
}

impl Deref for SurveyRow {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        &self.document
    }
}

impl SurveyView {
    fn collection(&self, namespace: &Namespace) -> Option<&Arc<Collection>> {
        self.catalog.get(namespace).filter(|collection| !collection.is_view())
    }

    fn row(&self, record: Record, needs: &Needs) -> Result<SurveyRow> {
        let document = record.load(&self.view, needs)?;
        Ok(SurveyRow { record, document })
    }
}

impl write::Snapshot for SurveyView {
    type Row = SurveyRow;

    async fn walk(
        &mut self,
        namespace: &Namespace,
        after: Option<RawBsonRef<'_>>,
        documents: usize,
        bytes: usize,
    ) -> Result<Vec<SurveyRow>> {
        self.interrupt.check()?;
        let Some(collection) = self.collection(namespace) else { return Ok(Vec::new()) };
        let (mut rows, mut taken) = (Vec::new(), 0);
        for record in collection.records_after(after, &self.view) {
            let row = self.row(record?, &Needs::none())?;
            taken += row.as_bytes().len();
            rows.push(row);
            if rows.len() >= documents || taken >= bytes {
                break;
            }
        }
        Ok(rows)
    }

    async fn load(&mut self, row: &SurveyRow, needs: &Needs) -> Result<SurveyRow> {
        if row.record.next_large().is_some() {
            self.interrupt.check()?;
        }
        self.row(row.record.clone(), needs)
    }

    fn size(&self, row: &SurveyRow) -> usize {
        row.record.size()
    }

    fn outline(&self, row: &SurveyRow, path: &Path) -> Option<Outline> {
        let large = row.record.large_at(&self.view, path).filter(|large| large.at_path)?;
        Some(Outline { bytes: large.bytes, items: large.items.map(|items| items as usize) })
    }

    async fn each(
        &mut self,
        namespace: &Namespace,
        filter: &Arc<Filter>,
        sort: &RawDocument,
        needs: &Needs,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.interrupt.check()?;
        let Some(collection) = self.collection(namespace) else { return Ok(()) };
        let mut query = Query::new(filter.clone());
        query.needs = Needs::none();
        query.sort = Sort::parse(sort)?;
        for row in plan::open(collection, query, self.view.clone(), self.interrupt.clone())? {
            if let Some(record) = self.view.record(collection.id, row?.record)? {
                visit(&record.load(&self.view, needs)?, record.size());
            }
        }
        Ok(())
    }

    async fn contains(&mut self, namespace: &Namespace, id: RawBsonRef<'_>) -> Result<bool> {
        match self.collection(namespace) {
            Some(collection) => Ok(collection.record_of(id, &self.view)?.is_some()),
            None => Ok(false),
        }
    }

    async fn count(&mut self, namespace: &Namespace) -> Result<u64> {
        match self.collection(namespace) {
            Some(collection) => Ok(self.view.counts(collection.id)?.documents),
            None => Ok(0),
        }
    }
}
