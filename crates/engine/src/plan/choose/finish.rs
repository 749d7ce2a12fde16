//! What every plan has in common: fetch, sort, skip, limit, projection, count.

use super::access::{self, Access, AccessOrder};
use crate::plan::{IndexScan, Purpose, Query, Shape, Sort, Stage};
use language::Needs;
use std::sync::Arc;

/// The whole plan for a way to the documents.
pub fn access(query: &Query, access: Access) -> Stage {
    if query.purpose == Purpose::Count {
        return counting(query, &access);
    }
    let wants_order = !query.sort.fields().is_empty();
    let sorted = !wants_order || access.is_sorted();
    if query.return_key {
        return key(query, &access, sorted);
    }
    // An index that covers the query is not read beyond its keys, unless a sort in
    // memory needs documents to sort.
    if access.filter.is_none() && sorted && query.wants_nothing() {
        return limited(query, in_order(query, &access));
    }
    if access.filter.is_none() && sorted && covers(query, &access.scan) {
        return projected(limited(query, in_order(query, &access)), Shape::Covered);
    }
    let stage = match (&access.order, wants_order) {
        (AccessOrder::Merge(_), true) => fetched(in_order(query, &access), &access),
        _ => match access::checked(&access) {
            fetch @ Stage::Fetch { .. } => fetch,
            scan => Stage::Fetch { input: Box::new(scan), filter: None },
        },
    };
    documents(query, stage, sorted)
}

/// Sort if the order is not given, skip, limit, projection.
pub fn documents(query: &Query, stage: Stage, sorted: bool) -> Stage {
    if query.purpose == Purpose::Count {
        return count(query, stage);
    }
    let stage = match &query.sort {
        Sort::Fields(fields) if !sorted => Stage::Sort {
            input: Box::new(stage),
            fields: fields.clone().into(),
            limit: query.limit().map(|limit| limit.saturating_add(query.skip)),
        },
        _ => stage,
    };
    shaped(query, limited(query, stage))
}

/// What is shown of each row.
pub fn shaped(query: &Query, stage: Stage) -> Stage {
    let projects = query.projection.is_some() || query.show_record_id || query.metadata.any();
    match (query.return_key, projects) {
        (true, _) => projected(stage, Shape::Key),
        (false, true) => projected(stage, Shape::Document),
        (false, false) => stage,
    }
}

fn projected(stage: Stage, shape: Shape) -> Stage {
    Stage::Projection { input: Box::new(stage), shape }
}

/// Under a count if the query only counts.
pub fn count(query: &Query, stage: Stage) -> Stage {
    match query.purpose {
        Purpose::Count => Stage::Count { input: Box::new(stage) },
        Purpose::Documents | Purpose::Distinct(_) => stage,
    }
}

fn counting(query: &Query, access: &Access) -> Stage {
    let stage = match (&access.filter, &access.scan.filter) {
        (None, None) => Stage::CountScan(Arc::clone(&access.scan)),
        _ => access::checked(access),
    };
    count(query, stage)
}

/// The scan itself, or the merge of its parts.
fn in_order(query: &Query, access: &Access) -> Stage {
    match &access.order {
        AccessOrder::Merge(scans) if !query.sort.fields().is_empty() => Stage::Merge {
            inputs: scans.iter().map(|scan| Stage::IndexScan(Arc::clone(scan))).collect(),
            fields: query.sort.fields().into(),
        },
        _ => Stage::IndexScan(Arc::clone(&access.scan)),
    }
}

fn fetched(stage: Stage, access: &Access) -> Stage {
    Stage::Fetch { input: Box::new(stage), filter: access.filter.clone() }
}

fn key(query: &Query, access: &Access, sorted: bool) -> Stage {
    if access.filter.is_none() && sorted {
        return projected(limited(query, in_order(query, access)), Shape::Key);
    }
    let stage = fetched(in_order(query, access), access);
    documents(query, stage, sorted)
}

fn limited(query: &Query, stage: Stage) -> Stage {
    let stage = match query.skip {
        0 => stage,
        count => Stage::Skip { input: Box::new(stage), count },
    };
    match query.limit() {
        None => stage,
        Some(count) => Stage::Limit { input: Box::new(stage), count },
    }
}

/// Whether everything that is looked at can be made from the index's keys.
fn covers(query: &Query, scan: &IndexScan) -> bool {
    if query.projection.as_ref().is_some_and(|projection| projection.needs_match()) {
        return false;
    }
    match query.shown() {
        Needs::All | Needs::Except(_) => false,
        Needs::Paths(paths) => {
            scan.holds_values()
                && !paths.is_empty()
                && paths.iter().all(|path| scan.single_valued(path).is_some())
        }
    }
}
