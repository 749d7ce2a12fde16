//! Plans of documents that are completed with elements from pages. What is decided by stored
//! documents stays below the completion; what looks at whole arrays goes above it.

use super::{by_element, finish, hint};
use crate::catalog::Collection;
use crate::plan::bounds::{Conjunct, Intervals, NodePlace, conjuncts};
use crate::plan::{Hint, Paged, Purpose, Query, Residual, Sort, Stage};
use error::Result;
use guard::policy::Read;
use language::query::Filter;
use language::{Needs, Wanted};
use std::sync::Arc;
use value::Path;

/// The conditions of a query by what decides them. None of the filter is copied for it, however
/// large it is.
pub struct Conditions<'q> {
    filter: &'q Arc<Filter>,
    /// Those that look at no array with pages,
    pub stored: Vec<Conjunct<'q>>,
    /// and those that are left to whole arrays.
    pub whole: Vec<Conjunct<'q>>,
}

impl<'q> Conditions<'q> {
    fn of(query: &'q Query, paged: &Paged) -> Conditions<'q> {
        let hidden: Vec<&Path> = paged.filtered.iter().collect();
        let all = conjuncts(&query.filter.root, &NodePlace::default());
        let (whole, stored) =
            all.into_iter().partition(|it| !hidden.is_empty() && it.node.is_relaxed_by(&hidden));
        Conditions { filter: &query.filter, stored, whole }
    }

    /// What is checked on completed documents, but for a condition that is decided.
    pub fn left(&self, decided: Option<&Conjunct<'_>>) -> Option<Arc<Residual>> {
        let is_left = |it: &&Conjunct<'_>| decided.is_none_or(|decided| decided.place != it.place);
        Residual::of(self.filter, self.whole.iter().filter(is_left))
    }

    /// What is checked on stored documents that were found by another condition.
    pub fn others(&self) -> Option<Arc<Residual>> {
        Residual::of(self.filter, &self.stored)
    }
}

pub fn stages(collection: &Collection, query: &Query, paged: &Paged) -> Result<Vec<Stage>> {
    // The stages below may not be told of it, and it must be one that there is.
    hint::index(collection, query)?;
    let conditions = Conditions::of(query, paged);
    let filter = conditions.left(None);
    let below = below(query, paged, filter.is_some());
    let mut stages = super::stages_for(collection, &below, conditions.stored.clone())?;
    let mut found = match stages.iter().any(finds_one) {
        true => Vec::new(),
        false => by_element::stages(collection, query, paged, &conditions)?,
    };
    // What goes through the whole collection would complete all of it, unless its order lets it
    // stop early.
    if !found.is_empty() {
        stages.retain(|stage| !reads_all(stage) || stops_early(query, paged, stage));
    }
    // The best that goes by other fields is tried in any case.
    found.truncate(super::CANDIDATES_MAX - usize::from(!stages.is_empty()));
    found.extend(stages.into_iter().map(|stage| above(query, paged, stage, filter.clone())));
    found.truncate(super::CANDIDATES_MAX);
    Ok(found)
}

/// What the stages below are asked for, for some of the conditions; `checked` if something is
/// left to check above them.
pub fn below(query: &Query, paged: &Paged, checked: bool) -> Query {
    let mut below = query.clone();
    below.paged = None;
    // Execution loads what the whole plan needs; here it only says that no key covers it.
    below.needs = Needs::All;
    (below.projection, below.projection_spec) = (None, None);
    below.purpose = Purpose::Documents;
    below.metadata = Wanted::default();
    below.show_record_id = false;
    below.return_key = false;
    if !paged.filtered.is_empty() {
        // An index may lack documents whose elements are in pages only. A range of keys is asked
        // of the hinted one.
        let is_range = below.min.is_some() || below.max.is_some();
        below.hint = below.hint.filter(|hint| is_range || matches!(hint, Hint::Natural(_)));
    }
    if paged.sorted && matches!(below.sort, Sort::Fields(_)) {
        below.sort = Sort::None;
    }
    if paged.sorted || checked {
        below.skip = 0;
        below.limit = None;
    }
    below
}

/// Completes what the stages below find, checks it, and shows it as the query asks.
pub fn above(query: &Query, paged: &Paged, stage: Stage, filter: Option<Arc<Residual>>) -> Stage {
    let is_checked = filter.is_some();
    if let (false, Some(array)) = (is_checked, parted(query, paged)) {
        return Stage::Parts { input: Box::new(stage), array };
    }
    let stage = match is_checked || paged.arrays.iter().any(|array| array.shown) {
        true => Stage::Complete { input: Box::new(stage), filter },
        false => stage,
    };
    match paged.sorted || is_checked || query.purpose == Purpose::Count {
        true => finish::documents(query, stage, !paged.sorted),
        false => finish::shaped(query, stage),
    }
}

/// Whether documents are given in parts.
pub fn comes_in_parts(query: &Query) -> bool {
    query.paged.as_ref().is_some_and(|paged| parted(query, paged).is_some())
}

/// The array that documents come in parts by, where nothing looks at them whole.
fn parted(query: &Query, paged: &Paged) -> Option<Path> {
    let is_plain = !paged.sorted && query.projection.is_none() && !query.metadata.any();
    let of = query.unwound.as_ref().filter(|_| is_plain)?;
    let array = paged.arrays.iter().find(|array| array.rule.path == *of)?;
    (array.rule.read == Read::Merged && array.pages.is_some()).then(|| of.clone())
}

/// Whether it reads one document at the most.
fn finds_one(stage: &Stage) -> bool {
    stage.any(&|stage| match stage {
        Stage::IndexScan(scan) => scan.index.unique && scan.bounds.iter().all(Intervals::is_point),
        _ => false,
    })
}

/// Whether it gives documents in the order of which only the first are wanted.
fn stops_early(query: &Query, paged: &Paged, stage: &Stage) -> bool {
    let is_ordered = !paged.sorted && !query.sort.fields().is_empty();
    is_ordered
        && query.limit().is_some()
        && !stage.any(&|stage| matches!(stage, Stage::Sort { .. }))
}

/// Whether it goes through all documents, or through a whole index.
pub fn reads_all(stage: &Stage) -> bool {
    stage.any(&|stage| match stage {
        Stage::CollectionScan(_) => true,
        Stage::IndexScan(scan) => scan.bounds.first().is_none_or(Intervals::is_all),
        _ => false,
    })
}
