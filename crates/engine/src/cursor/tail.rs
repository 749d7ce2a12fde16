//! Tailable cursors on capped collections: they wait at the end for more.

use super::Rows;
use crate::Engine;
use crate::catalog::{Collection, State};
use crate::plan::{self, Interrupt, Query};
use crate::storage::RecordId;
use command::Namespace;
use error::{Code, Result};
use language::projection::Projection;
use language::query::Filter;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Tail {
    pub namespace: Namespace,
    pub filter: Arc<Filter>,
    pub projection: Option<Arc<Projection>>,
    pub await_data: bool,
    pub interrupt: Interrupt,
    state: Arc<State>,
    /// The last record given out or passed over, or 0.
    last: Arc<AtomicU64>,
    /// The last record of the view that `rows` looks at.
    end: u64,
    rows: Option<Rows>,
}

impl Tail {
    pub fn new(
        collection: &Collection,
        filter: Arc<Filter>,
        projection: Option<Arc<Projection>>,
        await_data: bool,
        interrupt: Interrupt,
    ) -> Tail {
        Tail {
            namespace: collection.namespace.clone(),
            filter,
            projection,
            await_data,
            interrupt,
            state: collection.state.clone(),
            last: Arc::new(AtomicU64::new(0)),
            end: 0,
            rows: None,
        }
    }

    /// Whether the collection held anything yet.
    pub fn has_started(&self) -> bool {
        self.last.load(Ordering::Relaxed) > 0
    }

    /// What rings when something is inserted.
    pub fn inserted(&self) -> Arc<State> {
        self.state.clone()
    }

    /// The rows that are there now and have not been given out.
    pub fn rows(&mut self, engine: &Engine) -> Result<&mut Rows> {
        let rows = match self.rows.take() {
            Some(rows) => rows,
            None => self.open(engine)?,
        };
        Ok(self.rows.insert(rows))
    }

    /// The rows have run out; the next look begins behind the last one.
    pub fn rewind(&mut self) {
        self.rows = None;
        self.last.fetch_max(self.end, Ordering::Relaxed);
    }

    fn open(&mut self, engine: &Engine) -> Result<Rows> {
        let gone = || {
            Code::CappedPositionLost.error(format!(
                "CollectionScan died due to position in capped collection {} being deleted.",
                self.namespace
            ))
        };
        let collection = engine.registry.get(&self.namespace).ok_or_else(gone)?;
        if !Arc::ptr_eq(&collection.state, &self.state) {
            return Err(gone());
        }
        let view = engine.store.view();
        let last = RecordId(self.last.load(Ordering::Relaxed));
        if last.0 > 0 && view.record(collection.id, last)?.is_none() {
            return Err(gone());
        }
        let mut records = view.records(collection.id, (Bound::Unbounded, Bound::Unbounded));
        self.end = records.next_back().transpose()?.map_or(0, |(record, _)| record.0);
        let mut query = Query::new(self.filter.clone());
        query.projection = self.projection.clone();
        query.after = (last.0 > 0).then_some(last);
        let rows = plan::open(&collection, query, view, self.interrupt.clone())?;
        let seen = self.last.clone();
        Ok(Box::new(rows.map(move |row| {
            let row = row?;
            seen.store(row.record.0, Ordering::Relaxed);
            Ok(row.document)
        })))
    }
}
