//! Plans of documents that are completed with elements from pages. What is decided by stored
//! documents stays below the completion; what looks at whole arrays goes above it.

use super::finish;
use crate::catalog::Collection;
use crate::plan::bounds::{Place, conjuncts};
use crate::plan::{Hint, Paged, Purpose, Query, Residual, Sort, Stage};
use error::Result;
use language::{Needs, Wanted};
use std::sync::Arc;
use value::Path;

pub fn stages(collection: &Collection, query: &Query, paged: &Paged) -> Result<Vec<Stage>> {
    let below = below(query, paged);
    let stages = super::stages(collection, &below)?;
    let filter = checked_above(query, paged);
    Ok(stages.into_iter().map(|stage| above(query, paged, stage, filter.clone())).collect())
}

/// What the stages below are asked for.
fn below(query: &Query, paged: &Paged) -> Query {
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
    if paged.sorted {
        if matches!(below.sort, Sort::Fields(_)) {
            below.sort = Sort::None;
        }
        below.skip = 0;
        below.limit = None;
    }
    below
}

/// The conditions that the stages below leave out.
fn checked_above(query: &Query, paged: &Paged) -> Option<Arc<Residual>> {
    let hidden: Vec<&Path> = paged.filtered.iter().collect();
    let all = conjuncts(&query.filter.root, &Place::default());
    let left = all.iter().filter(|conjunct| conjunct.node.is_relaxed_by(&hidden));
    if hidden.is_empty() { None } else { Residual::of(&query.filter, left) }
}

fn above(query: &Query, paged: &Paged, stage: Stage, filter: Option<Arc<Residual>>) -> Stage {
    let stage = Stage::Complete { input: Box::new(stage), filter };
    match paged.sorted {
        true => finish::documents(query, stage, query.sort.fields().is_empty()),
        false => finish::shaped(query, stage),
    }
}
