//! From a stage to the operator that does its work.

use super::{
    Running, collection_scan, complete, count, distinct_scan, fetch, index_scan, limit, merge, or,
    projection, skip, sort,
};
use crate::plan::{IndexScan, Stage};
use std::sync::Arc;

pub fn stage(stage: &Stage) -> Running {
    match stage {
        // A read by `_id` has a path of its own (`Execution`) and no stages around it.
        Stage::Empty | Stage::IdRead(_) => Running::new(count::Nothing),
        Stage::CollectionScan(plan) => {
            Running::new(collection_scan::Operation::new(Arc::clone(plan)))
        }
        Stage::IndexScan(plan) => Running::new(index_scan::Operation::new(Arc::clone(plan))),
        Stage::Fetch { input, filter } => {
            Running::new(fetch::Operation::new(self::stage(input), filter.clone()))
        }
        Stage::Complete { input, filter } => {
            Running::new(complete::Operation::new(self::stage(input), filter.clone()))
        }
        Stage::Or { inputs } => {
            Running::new(or::Operation::new(inputs.iter().map(self::stage).collect()))
        }
        Stage::Merge { inputs, fields } => {
            let orders = inputs
                .iter()
                .filter_map(|input| merge::Order::of(index_scan_below(input)?, fields));
            let orders = orders.collect();
            Running::new(merge::Operation::new(inputs.iter().map(self::stage).collect(), orders))
        }
        Stage::Sort { input, fields, limit } => {
            Running::new(sort::Operation::new(self::stage(input), Arc::clone(fields), *limit))
        }
        Stage::Skip { input, count } => {
            Running::new(skip::Operation::new(self::stage(input), *count))
        }
        Stage::Limit { input, count } => {
            Running::new(limit::Operation::new(self::stage(input), *count))
        }
        Stage::Projection { input, shape } => Running::new(projection::Operation::new(
            self::stage(input),
            *shape,
            index_scan_below(input).cloned(),
        )),
        Stage::RecordCount => Running::new(count::Records),
        Stage::Count { input } => Running::new(count::Operation::new(self::stage(input))),
        Stage::CountScan(plan) => Running::new(index_scan::Operation::counting(Arc::clone(plan))),
        Stage::DistinctScan { scan, field } => {
            Running::new(distinct_scan::Operation::new(Arc::clone(scan), *field))
        }
    }
}

/// The index scan that a chain of single inputs ends in.
fn index_scan_below(stage: &Stage) -> Option<&Arc<IndexScan>> {
    match stage {
        Stage::IndexScan(scan) => Some(scan),
        stage => match stage.inputs() {
            [input] => index_scan_below(input),
            _ => None,
        },
    }
}
