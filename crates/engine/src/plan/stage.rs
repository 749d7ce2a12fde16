//! A plan: a tree of stages, each taking rows from the ones below it.

use super::bounds::{Intervals, KeyRange};
use super::{Query, Residual, Scan, SortField};
use crate::catalog::{Collection, Index, IndexKind};
use crate::index::multikey;
use crate::storage::RecordId;
use guard::policy::Overflow;
use std::sync::Arc;
use value::Path;
use value::key::Direction;

/// Skipping more rows than this is not light work.
const SKIP_LIGHT_MAX: u64 = 100;

/// How a query will be answered.
#[derive(Debug)]
pub struct Plan {
    pub query: Arc<Query>,
    /// `None` if there is no such collection.
    pub collection: Option<Arc<Collection>>,
    pub root: Stage,
}

#[derive(Debug, Clone)]
pub enum Stage {
    /// Nothing can match, or there is no collection.
    Empty,
    /// One document by its `_id`: two point reads.
    IdRead(Arc<IdRead>),
    CollectionScan(Arc<CollectionScan>),
    IndexScan(Arc<IndexScan>),
    /// Reads the documents of an index scan's entries.
    Fetch {
        input: Box<Stage>,
        filter: Option<Arc<Residual>>,
    },
    /// Completes documents with elements from their pages, and checks what only whole arrays
    /// can decide.
    Complete {
        input: Box<Stage>,
        filter: Option<Arc<Residual>>,
    },
    /// As `Complete`, with each document in parts: one a page of this array.
    Parts {
        input: Box<Stage>,
        array: Path,
    },
    /// The documents that the pages below belong to, each once.
    Parents(Arc<Parents>),
    /// The rows of all inputs, each record once.
    Or {
        inputs: Vec<Stage>,
    },
    /// The records of the heads and of the pages that one condition finds, each once; few of
    /// them as one index would give them.
    HeadsAndPages {
        inputs: Vec<Stage>,
        /// The directions of what is compared of the keys of both, where each way reads a single
        /// field: mostly the same one.
        keyed: Option<Vec<Direction>>,
    },
    /// The rows of inputs that are each in order, in order, each record once.
    Merge {
        inputs: Vec<Stage>,
        fields: Arc<[SortField]>,
    },
    /// Sorts in memory; with a limit it keeps no more rows than that.
    Sort {
        input: Box<Stage>,
        fields: Arc<[SortField]>,
        limit: Option<u64>,
    },
    Skip {
        input: Box<Stage>,
        count: u64,
    },
    Limit {
        input: Box<Stage>,
        count: u64,
    },
    Projection {
        input: Box<Stage>,
        shape: Shape,
    },
    /// How many records the collection has, which the store knows.
    RecordCount,
    /// Counts the rows below it.
    Count {
        input: Box<Stage>,
    },
    /// Counts index entries without looking into them.
    CountScan(Arc<IndexScan>),
    /// The first entry of each distinct value of a field.
    DistinctScan {
        scan: Arc<IndexScan>,
        field: usize,
    },
}

/// What a projection stage makes its rows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// From the index key alone.
    Covered,
    /// From the document.
    Document,
    /// `returnKey`: the index key itself.
    Key,
}

#[derive(Debug)]
pub struct IdRead {
    pub index: Arc<Index>,
    /// The encoded `_id`.
    pub key: Vec<u8>,
    /// Whether the collection is clustered by it.
    pub clustered: bool,
}

#[derive(Debug)]
pub struct CollectionScan {
    pub scan: Scan,
    pub after: Option<RecordId>,
    pub filter: Option<Arc<Residual>>,
}

/// From pages to the documents they belong to.
#[derive(Debug)]
pub struct Parents {
    pub rule: Arc<Overflow>,
    /// The index that finds the documents by their `_id`s.
    pub index: Arc<Index>,
    /// What finds the pages, in a collection of their own.
    pub pages: Arc<Plan>,
    /// Whether the keys that find the pages end with the parent: then no page is read.
    pub covered: bool,
}

/// A scan of one index within bounds.
#[derive(Debug)]
pub struct IndexScan {
    pub index: Arc<Index>,
    pub scan: Scan,
    /// One list for each field of the key.
    pub bounds: Vec<Intervals>,
    /// With `min` or `max`, the range instead of the bounds.
    pub range: Option<KeyRange>,
    /// What can be decided from the key alone.
    pub filter: Option<Arc<Residual>>,
    /// The index's multikey bits when the plan was made.
    pub multikey: u64,
    /// The path that a wildcard of the index is used for.
    pub wildcard: Option<Path>,
}

impl IndexScan {
    /// The direction of each field of the key.
    pub fn directions(&self) -> Vec<Direction> {
        let fields = self.index.fields.iter();
        fields
            .flat_map(|field| {
                let parts = if field.kind == IndexKind::Wildcard { 2 } else { 1 };
                std::iter::repeat_n(field.direction(), parts)
            })
            .collect()
    }

    /// Whether a record can be met more than once: it has several keys, and the
    /// bounds allow more than one.
    pub fn may_repeat(&self) -> bool {
        let one_key = self.range.is_none() && self.bounds.iter().all(Intervals::is_point);
        // Below a wildcard, each path has a key of its own.
        let paths = self.wildcard.is_none() && self.has_wildcard();
        (self.multikey != 0 || paths) && !one_key
    }

    pub fn has_wildcard(&self) -> bool {
        self.index.fields.iter().any(|field| field.kind == IndexKind::Wildcard)
    }

    /// Whether the keys hold the values themselves, so that documents can be made
    /// from them.
    pub fn holds_values(&self) -> bool {
        self.index.collator.is_none()
            && self
                .index
                .fields
                .iter()
                .all(|field| matches!(field.kind, IndexKind::Ascending | IndexKind::Descending))
    }

    /// The field of the key that holds a path, if the index has just one value of
    /// it for each document.
    pub fn single_valued(&self, path: &Path) -> Option<usize> {
        let at = self.index.fields.iter().position(|field| field.path == *path)?;
        (!multikey::field(&self.index, self.multikey, at)).then_some(at)
    }
}

impl Stage {
    /// The stages directly below.
    pub fn inputs(&self) -> &[Stage] {
        match self {
            Stage::Fetch { input, .. }
            | Stage::Complete { input, .. }
            | Stage::Parts { input, .. }
            | Stage::Sort { input, .. }
            | Stage::Skip { input, .. }
            | Stage::Limit { input, .. }
            | Stage::Projection { input, .. }
            | Stage::Count { input } => std::slice::from_ref(&**input),
            Stage::Or { inputs }
            | Stage::HeadsAndPages { inputs, .. }
            | Stage::Merge { inputs, .. } => inputs,
            Stage::Parents(parents) => std::slice::from_ref(&parents.pages.root),
            _ => &[],
        }
    }

    /// Whether any stage of the tree satisfies a condition.
    pub fn any(&self, condition: &dyn Fn(&Stage) -> bool) -> bool {
        condition(self) || self.inputs().iter().any(|input| input.any(condition))
    }

    /// Whether each row comes after little work: nothing is sorted or counted, and
    /// only what an equality has found is filtered. Work that turns out to be long, such as a
    /// very large array put together, leaves the thread where it checks its interrupt.
    pub fn is_light(&self) -> bool {
        match self {
            Stage::Complete { filter: Some(_), .. }
            | Stage::Parts { .. }
            | Stage::Sort { .. }
            | Stage::Count { .. }
            | Stage::CountScan(_) => false,
            Stage::Skip { count, .. } if *count > SKIP_LIGHT_MAX => false,
            Stage::CollectionScan(scan) => scan.filter.is_none(),
            Stage::Fetch { input, filter: Some(_) } => match &**input {
                Stage::IndexScan(scan) => scan.bounds.first().is_some_and(Intervals::is_point),
                _ => false,
            },
            Stage::IndexScan(scan) => scan.filter.is_none(),
            stage => stage.inputs().iter().all(Stage::is_light),
        }
    }

    /// The name `explain` gives it. A projection's also depends on the query.
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Empty => "EOF",
            Stage::IdRead(read) if read.clustered => "EXPRESS_CLUSTERED_IXSCAN",
            Stage::IdRead(_) => "EXPRESS_IXSCAN",
            Stage::CollectionScan(_) => "COLLSCAN",
            Stage::IndexScan(_) => "IXSCAN",
            Stage::Fetch { .. } => "FETCH",
            Stage::Complete { .. } => "MERGED_PAGES",
            Stage::Parts { .. } => "STREAMED_PAGES",
            Stage::Parents(_) => "PARENTS_OF_PAGES",
            Stage::Or { .. } => "OR",
            Stage::HeadsAndPages { .. } => "HEADS_AND_PAGES",
            Stage::Merge { .. } => "SORT_MERGE",
            Stage::Sort { .. } => "SORT",
            Stage::Skip { .. } => "SKIP",
            Stage::Limit { .. } => "LIMIT",
            Stage::Projection { shape: Shape::Covered, .. } => "PROJECTION_COVERED",
            Stage::Projection { shape: Shape::Document, .. } => "PROJECTION_DEFAULT",
            Stage::Projection { shape: Shape::Key, .. } => "RETURN_KEY",
            Stage::RecordCount => "RECORD_STORE_FAST_COUNT",
            Stage::Count { .. } => "COUNT",
            Stage::CountScan(_) => "COUNT_SCAN",
            Stage::DistinctScan { .. } => "DISTINCT_SCAN",
        }
    }
}
