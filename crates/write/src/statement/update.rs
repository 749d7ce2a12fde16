//! `update`.

use super::context::Let;
use super::{Statements, goes_on};
use crate::{Retry, Selection, UpdateRequest, Updated};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::fields::Hint;
use command::views::{Modification, Update as UpdateView, UpdateStatement};
use command::{Namespace, WriteReply};
use error::{Code, Error, Result};
use language::Context;
use language::aggregate::stages::check_name;
use language::query::Filter;
use language::update::Update;
use std::sync::Arc;
use value::{ArrayWriter, DocumentWriter, elements};

pub async fn update<B: Statements>(backend: &B, view: &UpdateView<'_>) -> Result<WriteReply> {
    backend.check_target(&view.namespace)?;
    let variables = Let::new(view.variables);
    let mut reply = WriteReply::of(view.statements.len());
    reply.n_modified = Some(0);
    for (index, statement) in view.statements.iter().enumerate() {
        let one = UpdateOne {
            backend,
            namespace: &view.namespace,
            variables: &variables,
            bypass_validation: view.options.bypass_validation,
        };
        let number = view.options.statement_at(index);
        match one.once(statement, number, &mut reply.retried_statements).await {
            Ok(updated) => add(&mut reply, index, updated),
            Err(error) => {
                let ordered = view.options.ordered;
                if !goes_on(backend, &mut reply.failures, index, error, ordered)? {
                    break;
                }
            }
        }
    }
    Ok(reply)
}

/// A stage that nobody knows fails the whole command, as MongoDB's counting of the stages
/// does once all statements are through.
pub fn check_stages(view: &UpdateView<'_>) -> Result<()> {
    for statement in &view.statements {
        if let Modification::Pipeline(stages) = &statement.modification {
            stages.iter().try_for_each(|stage| check_name(stage))?;
        }
    }
    Ok(())
}

fn add(reply: &mut WriteReply, index: usize, updated: Updated) {
    reply.n += updated.matched as i32;
    let modified = reply.n_modified.get_or_insert(0);
    *modified += updated.modified as i32;
    if let Some(id) = updated.upserted {
        reply.n += 1;
        reply.upserted.push((index as i32, id));
    }
}

/// One statement of an update; `bulkWrite` has the same.
pub struct UpdateOne<'a, B> {
    pub backend: &'a B,
    pub namespace: &'a Namespace,
    pub variables: &'a Let<'a>,
    pub bypass_validation: bool,
}

impl<B: Statements> UpdateOne<'_, B> {
    /// Carries the statement out, or finds what it answered when it was.
    pub async fn once(
        &self,
        statement: &UpdateStatement<'_>,
        number: i32,
        retried: &mut Vec<i32>,
    ) -> Result<Updated> {
        if let Some(answer) = self.backend.recorded(number)? {
            retried.push(number);
            return Ok(answered(&answer));
        }
        let retryable = self.backend.is_retryable();
        if statement.multi && retryable {
            return Err(Code::InvalidOptions
                .error("Cannot use (or request) retryable writes with multi=true"));
        }
        let retry = Retry { number, answer: &|updated| Ok(answer(updated)) };
        self.run(statement, retryable.then_some(retry)).await
    }

    async fn run(
        &self,
        statement: &UpdateStatement<'_>,
        retry: Option<Retry<'_, Updated>>,
    ) -> Result<Updated> {
        statement.check()?;
        let context = self.variables.context(self.backend, self.namespace, statement.collation)?;
        let filter = Arc::new(Filter::parse(statement.query, &context)?);
        let update = parse_update(
            &statement.modification,
            statement.array_filters.as_deref(),
            statement.constants,
            &context,
        )?;
        if statement.multi && update.is_replacement() {
            return Err(multi_replacement());
        }
        let change = UpdateRequest {
            selection: Selection {
                filter: &filter,
                sort: statement.sort,
                hint: statement.hint.map(Hint::value),
                multi: statement.multi,
            },
            update: &update,
            upsert: statement.upsert,
            bypass_validation: self.bypass_validation,
            returns: None,
            retry,
        };
        crate::update(self.backend, self.namespace, &change).await
    }
}

/// The record of a retryable update, which changed one document or inserted one.
fn answer(updated: &Updated) -> RawDocumentBuf {
    let mut writer = DocumentWriter::new();
    if let Some(id) = &updated.upserted {
        writer.append("upserted", id.as_raw_bson_ref());
    }
    writer.finish()
}

fn answered(answer: &RawDocument) -> Updated {
    match value::element::get(answer, "upserted") {
        Some(id) => Updated { upserted: Some(id.value().into()), ..Updated::default() },
        None => Updated { matched: 1, modified: 1, ..Updated::default() },
    }
}

/// A replacement replaces one document.
pub fn multi_replacement() -> Error {
    Code::FailedToParse.error("multi update is not supported for replacement-style update")
}

/// Parses what an update does; `constants` are further variables of a pipeline.
pub fn parse_update(
    modification: &Modification<'_>,
    array_filters: Option<&[&RawDocument]>,
    constants: Option<&RawDocument>,
    context: &Context,
) -> Result<Update> {
    let array_filters = array_filters.map(ArrayWriter::documents);
    match modification {
        Modification::Document(document) => {
            Update::parse(RawBsonRef::Document(document), array_filters.as_deref(), context)
        }
        Modification::Pipeline(stages) => {
            let mut context = context.clone();
            for constant in constants.into_iter().flat_map(elements) {
                context.variables.set(constant.key, Some(constant.value().into()));
            }
            Update::parse(
                RawBsonRef::Array(&ArrayWriter::documents(stages)),
                array_filters.as_deref(),
                &context,
            )
        }
    }
}
