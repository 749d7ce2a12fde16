//! Tailable cursors on capped collections: they wait at the end for more.

use super::Rows;
use crate::Engine;
use crate::catalog::{Collection, CollectionState};
use crate::plan::{self, Interrupt, Query, ResultRow};
use crate::storage::RecordId;
use command::Namespace;
use error::{Code, Result};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Tail {
    pub namespace: Namespace,
    pub await_data: bool,
    pub interrupt: Interrupt,
    /// What is asked of each look, which goes on where the last one ended.
    query: Query,
    state: Arc<CollectionState>,
    place: Arc<Place>,
    /// The last record of the view that `rows` looks at.
    end: u64,
    rows: Option<Rows>,
}

/// How far a tailable cursor has come, over all its looks.
struct Place {
    /// The last record given out or passed over, or 0.
    last: AtomicU64,
    /// Documents still to be skipped.
    skip: AtomicU64,
    /// Documents that may still be given out. When there are none the cursor stays open, and
    /// has nothing to give.
    left: AtomicU64,
}

impl Tail {
    pub fn new(
        collection: &Collection,
        mut query: Query,
        await_data: bool,
        interrupt: Interrupt,
    ) -> Tail {
        let limit = query.limit.take().filter(|limit| *limit > 0);
        let place = Place {
            last: AtomicU64::new(0),
            skip: AtomicU64::new(std::mem::take(&mut query.skip)),
            left: AtomicU64::new(limit.unwrap_or(u64::MAX)),
        };
        // It goes through the collection whatever the hint.
        query.hint = None;
        Tail {
            namespace: collection.namespace.clone(),
            await_data,
            interrupt,
            query,
            state: collection.state.clone(),
            place: Arc::new(place),
            end: 0,
            rows: None,
        }
    }

    /// Whether the collection held anything yet.
    pub fn has_started(&self) -> bool {
        self.place.last.load(Ordering::Relaxed) > 0
    }

    /// What rings when something is inserted.
    pub fn inserted(&self) -> Arc<CollectionState> {
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
        self.place.last.fetch_max(self.end, Ordering::Relaxed);
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
        let last = RecordId(self.place.last.load(Ordering::Relaxed));
        if last.0 > 0 && view.record(collection.id, last)?.is_none() {
            return Err(gone());
        }
        let mut records = view.records(collection.id, (Bound::Unbounded, Bound::Unbounded));
        self.end = records.next_back().transpose()?.map_or(0, |(record, _)| record.0);
        let mut query = self.query.clone();
        query.after = (last.0 > 0).then_some(last);
        let rows = plan::open(&collection, query, view, self.interrupt.clone())?;
        Ok(self.place.clone().follow(rows))
    }
}

impl Place {
    /// The rows that are to be given out, each noted as it is.
    fn follow(
        self: Arc<Self>,
        rows: impl Iterator<Item = Result<ResultRow>> + Send + 'static,
    ) -> Rows {
        let left = usize::try_from(self.left.load(Ordering::Relaxed)).unwrap_or(usize::MAX);
        let wanted = rows.filter_map(move |row| match row {
            Ok(row) => {
                self.last.store(row.record.0, Ordering::Relaxed);
                self.admits().then_some(Ok(row.document))
            }
            Err(error) => Some(Err(error)),
        });
        Box::new(wanted.take(left))
    }

    fn admits(&self) -> bool {
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
            return false;
        }
        self.left.fetch_sub(1, Ordering::Relaxed);
        true
    }
}
