//! Plans of documents that are completed with elements from pages. What is decided by stored
//! documents stays below the completion; what looks at whole arrays goes above it.

use super::{by_element, finish};
use crate::catalog::Collection;
use crate::plan::bounds::{Conjunct, Intervals, NodePlace, conjuncts};
use crate::plan::{Hint, Paged, Purpose, Query, Residual, Sort, Stage};
use error::Result;
use guard::policy::Read;
use language::{Needs, Wanted};
use std::sync::Arc;
use value::Path;

pub fn stages(collection: &Collection, query: &Query, paged: &Paged) -> Result<Vec<Stage>> {
    let filter = left(query, paged, None);
    let below = below(query, paged, filter.is_some());
    let mut stages = super::stages(collection, &below)?;
    let mut found = match stages.iter().any(finds_one) {
        true => Vec::new(),
        false => by_element::stages(collection, query, paged)?,
    };
    // What goes through the whole collection would complete all of it.
    if !found.is_empty() {
        stages.retain(|stage| !reads_all(stage));
    }
    found.extend(stages.into_iter().map(|stage| above(query, paged, stage, filter.clone())));
    found.truncate(super::CANDIDATES_MAX);
    Ok(found)
}

/// What the stages below are asked for; `checked` if something is left to check above them.
pub fn below(query: &Query, paged: &Paged, checked: bool) -> Query {
    let mut below = query.clone();
    below.paged = None;
    // Execution loads what the whole plan needs; here it only says that no key covers it.
    below.needs = Needs::All;
    below.projection = None;
    below.purpose = Purpose::Documents;
    below.metadata = Wanted::default();
    below.show_record_id = false;
    below.return_key = false;
    if !paged.filtered.is_empty() {
        let hidden: Vec<&Path> = paged.filtered.iter().collect();
        below.filter = Arc::new(query.filter.relaxed(&hidden));
        // An index may lack documents whose elements are in pages only.
        below.hint = below.hint.filter(|hint| matches!(hint, Hint::Natural(_)));
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

/// The conditions that the stages below leave out, but for one that they have decided.
pub fn left(query: &Query, paged: &Paged, decided: Option<&Conjunct<'_>>) -> Option<Arc<Residual>> {
    let hidden: Vec<&Path> = paged.filtered.iter().collect();
    if hidden.is_empty() {
        return None;
    }
    let all = conjuncts(&query.filter.root, &NodePlace::default());
    let left = all.iter().filter(|conjunct| {
        decided.is_none_or(|decided| decided.place != conjunct.place)
            && conjunct.node.is_relaxed_by(&hidden)
    });
    Residual::of(&query.filter, left)
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

/// Whether it goes through all documents, or through a whole index.
pub fn reads_all(stage: &Stage) -> bool {
    stage.any(&|stage| match stage {
        Stage::CollectionScan(_) => true,
        Stage::IndexScan(scan) => scan.bounds.first().is_none_or(Intervals::is_all),
        _ => false,
    })
}
