//! One stage of a plan and the stages below it.

use super::{count, room, scan, stats};
use crate::plan::execute::StatsTree;
use crate::plan::{Query, Residual, Shape, SortField, Stage};
use bson::RawBsonRef;
use value::DocumentWriter;
use value::key::Direction;

/// The fields of a stage; with stats also what it has done.
pub fn describe(stage: &Stage, query: &Query, done: Option<&StatsTree>, out: &mut DocumentWriter) {
    if !room::for_stage(out) {
        return;
    }
    out.append_str("stage", name(stage, query));
    if let Stage::IdRead(read) = stage {
        scan::id_read(read, done, out);
        if query.paged.is_some() {
            arrays("mergedPages", query, out);
        }
        return;
    }
    if let Some(filter) = filter(stage) {
        room::append("filter", &conditions(filter), out);
    }
    if let Some(done) = done {
        stats::common(&done.stats, out);
    }
    details(stage, query, out);
    if let Some(done) = done {
        stats::of_stage(stage, &done.stats, out);
    }
    inputs(stage, query, done, out);
}

fn inputs(stage: &Stage, query: &Query, done: Option<&StatsTree>, out: &mut DocumentWriter) {
    let below = |at: usize| done.and_then(|done| done.inputs.get(at));
    match (stage, stage.inputs()) {
        (_, []) => {}
        (Stage::Or { .. } | Stage::HeadsAndPages { .. } | Stage::Merge { .. }, inputs) => {
            out.begin_array("inputStages");
            for (at, input) in inputs.iter().enumerate() {
                out.begin_next_document();
                describe(input, query, below(at), out);
                out.end();
            }
            out.end();
        }
        (stage, inputs) => {
            // What finds pages is a query of its own.
            let query = match stage {
                Stage::Parents(parents) => &parents.pages.query,
                _ => query,
            };
            for (at, input) in inputs.iter().enumerate() {
                out.begin_document("inputStage");
                describe(input, query, below(at), out);
                out.end();
            }
        }
    }
}

fn name(stage: &Stage, query: &Query) -> &'static str {
    match stage {
        Stage::Projection { shape: Shape::Document, .. } if is_simple(query) => "PROJECTION_SIMPLE",
        stage => stage.name(),
    }
}

/// Whether the projection only keeps or drops whole top-level fields.
fn is_simple(query: &Query) -> bool {
    query.projection_spec.as_ref().is_some_and(|spec| {
        value::elements(spec).all(|element| {
            !element.key.contains('.')
                && matches!(
                    element.value(),
                    RawBsonRef::Boolean(_)
                        | RawBsonRef::Int32(_)
                        | RawBsonRef::Int64(_)
                        | RawBsonRef::Double(_)
                        | RawBsonRef::Decimal128(_)
                )
        })
    })
}

fn filter(stage: &Stage) -> Option<&Residual> {
    match stage {
        Stage::CollectionScan(scan) => scan.filter.as_deref(),
        Stage::IndexScan(scan) | Stage::CountScan(scan) => scan.filter.as_deref(),
        Stage::Fetch { filter, .. } | Stage::Complete { filter, .. } => filter.as_deref(),
        _ => None,
    }
}

fn conditions(filter: &Residual) -> bson::RawDocumentBuf {
    let mut nodes = filter.nodes();
    match (nodes.next(), nodes.next()) {
        (Some(one), None) => one.to_document(),
        _ => {
            let mut out = DocumentWriter::new();
            out.begin_array("$and");
            filter.nodes().for_each(|node| out.push(RawBsonRef::Document(&node.to_document())));
            out.end();
            out.finish()
        }
    }
}

fn details(stage: &Stage, query: &Query, out: &mut DocumentWriter) {
    match stage {
        Stage::CollectionScan(scan) => out.append_str("direction", scan.scan.name()),
        Stage::IndexScan(scan) | Stage::CountScan(scan) | Stage::DistinctScan { scan, .. } => {
            scan::index_scan(scan, out);
        }
        Stage::Merge { fields, .. } => pattern(fields, out),
        Stage::Sort { fields, limit, .. } => {
            pattern(fields, out);
            count(out, "memLimit", query.sort_bytes_max);
            if let Some(limit) = limit {
                count(out, "limitAmount", *limit);
            }
            out.append_str("type", "simple");
        }
        Stage::Complete { .. } | Stage::Parts { .. } => arrays("arrays", query, out),
        Stage::Parents(parents) => {
            out.append_str("array", parents.rule.path.as_str());
            out.append_str("pages", &parents.rule.into.to_string());
        }
        Stage::Skip { count: amount, .. } => count(out, "skipAmount", *amount),
        Stage::Limit { count: amount, .. } => count(out, "limitAmount", *amount),
        Stage::Projection { .. } => {
            if let Some(spec) = &query.projection_spec {
                room::append("transformBy", spec, out);
            }
        }
        _ => {}
    }
}

/// The arrays that are completed.
fn arrays(name: &str, query: &Query, out: &mut DocumentWriter) {
    out.begin_array(name);
    let arrays = query.paged.iter().flat_map(|paged| &paged.arrays);
    arrays.for_each(|array| out.push(RawBsonRef::String(array.rule.path.as_str())));
    out.end();
}

fn pattern(fields: &[SortField], out: &mut DocumentWriter) {
    out.begin_document("sortPattern");
    for field in fields {
        let direction = if field.direction == Direction::Ascending { 1 } else { -1 };
        out.append_i32(field.path.as_str(), direction);
    }
    out.end();
}
