//! From a stage to the operator that does its work.

use super::{
    Running, collection_scan, complete, count, distinct_scan, fetch, heads_and_pages, index_scan,
    limit, merge, or, parents, parts, projection, skip, sort,
};
use crate::plan::{IndexScan, Stage};
use std::sync::Arc;

pub fn stage(stage: &Stage) -> Running {
    match stage {
        // A read by `_id` has a path of its own (`Execution`) and no stages around it.
        Stage::Empty | Stage::IdRead(_) => Running::new(count::Nothing),
        Stage::CollectionScan(plan) => {
            Running::new(collection_scan::CollectionScanOperation::new(Arc::clone(plan)))
        }
        Stage::IndexScan(plan) => {
            Running::new(index_scan::IndexScanOperation::new(Arc::clone(plan)))
        }
        Stage::Fetch { input, filter } => {
            Running::new(fetch::FetchOperation::new(self::stage(input), filter.clone()))
        }
        Stage::Complete { input, filter } => {
            Running::new(complete::CompleteOperation::new(self::stage(input), filter.clone()))
        }
        Stage::Parts { input, array } => {
            Running::new(parts::PartsOperation::new(self::stage(input), array.clone()))
        }
        Stage::Parents(plan) => Running::new(parents::ParentsOperation::new(Arc::clone(plan))),
        Stage::Or { inputs } => {
            Running::new(or::OrOperation::new(inputs.iter().map(self::stage).collect()))
        }
        Stage::HeadsAndPages { inputs, keyed } => {
            let inputs = inputs.iter().map(self::stage).collect();
            Running::new(heads_and_pages::HeadsAndPagesOperation::new(inputs, keyed.clone()))
        }
        Stage::Merge { inputs, fields } => {
            let orders = inputs
                .iter()
                .filter_map(|input| merge::MergeOrder::of(index_scan_below(input)?, fields));
            let orders = orders.collect();
            Running::new(merge::MergeOperation::new(
                inputs.iter().map(self::stage).collect(),
                orders,
            ))
        }
        Stage::Sort { input, fields, limit } => {
            Running::new(sort::SortOperation::new(self::stage(input), Arc::clone(fields), *limit))
        }
        Stage::Skip { input, count } => {
            Running::new(skip::SkipOperation::new(self::stage(input), *count))
        }
        Stage::Limit { input, count } => {
            Running::new(limit::LimitOperation::new(self::stage(input), *count))
        }
        Stage::Projection { input, shape } => Running::new(projection::ProjectionOperation::new(
            self::stage(input),
            *shape,
            index_scan_below(input).cloned(),
        )),
        Stage::RecordCount => Running::new(count::RecordCount),
        Stage::Count { input } => Running::new(count::CountOperation::new(self::stage(input))),
        Stage::CountScan(plan) => {
            Running::new(index_scan::IndexScanOperation::counting(Arc::clone(plan)))
        }
        Stage::DistinctScan { scan, field } => {
            Running::new(distinct_scan::DistinctScanOperation::new(Arc::clone(scan), *field))
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
