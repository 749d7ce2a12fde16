//! Reads of a view: the same as an aggregation on what it stands on.

use super::super::context::resolved_context;
use super::super::distinct::Values;
use super::super::find;
use super::super::reading::Resolved;
use super::{Call, PreparedPipeline, chain};
use crate::catalog::Catalog;
use crate::plan::Hint;
use bson::{RawBsonRef, RawDocument};
use command::Reply;
use command::fields::Hint as HintField;
use command::fields::Hint as HintView;
use command::views::{Count, Distinct, Find};
use error::{Code, Result};
use language::aggregate::Pipeline;
use std::sync::Arc;
use value::{ArrayWriter, DocumentWriter};

/// Stages added to a view's own.
struct Stages(ArrayWriter);

impl Stages {
    fn new() -> Stages {
        Stages(ArrayWriter::new())
    }

    fn push(&mut self, name: &str, value: RawBsonRef<'_>) {
        let mut stage = DocumentWriter::new();
        stage.append(name, value);
        self.0.push(RawBsonRef::Document(&stage.finish()));
    }

    fn push_document(&mut self, name: &str, value: &RawDocument) {
        if !value.is_empty() {
            self.push(name, RawBsonRef::Document(value));
        }
    }

    fn push_count(&mut self, name: &str, count: i64) {
        if count > 0 {
            self.push(name, RawBsonRef::Int64(count));
        }
    }
}

pub async fn find_on_view(
    call: Call<'_>,
    find: &Find<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<Reply> {
    find::first_batch_of(call, find, prepare_find(find, catalog, resolved)?.open(call)?)
}

pub fn prepare_find(
    find: &Find<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<PreparedPipeline> {
    let mut stages = find_stages(find)?;
    stages.push_document("$project", find.projection);
    prepared(catalog, resolved, &find.namespace, stages, find.collation, find.variables, find.hint)
}

fn find_stages(find: &Find<'_>) -> Result<Stages> {
    for (given, option) in [
        (find.tailable, "tailable"),
        (find.return_key, "returnKey"),
        (find.show_record_id, "showRecordId"),
        (!find.min.is_empty(), "min"),
        (!find.max.is_empty(), "max"),
    ] {
        if given {
            return Err(Code::InvalidPipelineOperator
                .error(format!("Option {option} not supported in aggregation.")));
        }
    }
    if value::element::get(find.sort, "$natural").is_some() {
        return Err(Code::InvalidPipelineOperator
            .error("Sort option $natural not supported in aggregation."));
    }
    let mut stages = Stages::new();
    stages.push_document("$match", find.filter);
    stages.push_document("$sort", find.sort);
    stages.push_count("$skip", find.skip);
    stages.push_count("$limit", find.limit);
    Ok(stages)
}

pub fn count_on_view(
    call: Call<'_>,
    count: &Count<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<u64> {
    let mut counted = 0;
    for document in prepare_count(count, catalog, resolved)?.documents(call)? {
        document?;
        counted += 1;
    }
    Ok(counted)
}

pub fn prepare_count(
    count: &Count<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<PreparedPipeline> {
    let mut stages = Stages::new();
    stages.push_document("$match", count.query);
    stages.push_count("$skip", count.skip);
    stages.push_count("$limit", count.limit);
    prepared(catalog, resolved, &count.namespace, stages, count.collation, None, count.hint)
}

pub fn distinct_on_view(
    call: Call<'_>,
    distinct: &Distinct<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<Values> {
    let prepared = prepare_distinct(distinct, catalog, resolved)?;
    let mut values = Values::new(distinct.key, prepared.context.collator.clone());
    for document in prepared.documents(call)? {
        values.add(&document?)?;
    }
    Ok(values)
}

pub fn prepare_distinct(
    distinct: &Distinct<'_>,
    catalog: Arc<Catalog>,
    resolved: Resolved,
) -> Result<PreparedPipeline> {
    let mut stages = Stages::new();
    stages.push_document("$match", distinct.query);
    prepared(
        catalog,
        resolved,
        &distinct.namespace,
        stages,
        distinct.collation,
        None,
        distinct.hint,
    )
}

fn prepared(
    catalog: Arc<Catalog>,
    resolved: Resolved,
    shown: &command::Namespace,
    stages: Stages,
    collation: Option<&RawDocument>,
    variables: Option<&RawDocument>,
    hint: Option<HintView<'_>>,
) -> Result<PreparedPipeline> {
    let context = resolved_context(&resolved, collation, variables)?;
    let stages = chain(&resolved.pipeline, &stages.0.finish());
    Ok(PreparedPipeline {
        pipeline: Pipeline::parse(&stages, &context)?,
        stages,
        resolved,
        catalog,
        shown: shown.clone(),
        context,
        hint: hint.map(HintField::value).map(Hint::parse).transpose()?.flatten(),
        allow_disk_use: true,
    })
}
