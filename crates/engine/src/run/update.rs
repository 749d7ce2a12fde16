//! `update`.

use super::context::Let;
use super::reading::{array, hint_value};
use super::writes::Writes;
use super::{Call, writing};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::views::{Modification, Update as UpdateView, UpdateStatement};
use command::{Namespace, Reply, WriteReply};
use error::{Code, Error, Result};
use language::Context;
use language::aggregate::stages::check_name;
use language::query::Filter;
use language::update::Update;
use std::sync::Arc;
use value::{DocumentWriter, elements};
use write::{Change, Selection, Updated};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let update = UpdateView::parse(call.request)?;
    writing::check_target(call, &update.namespace)?;
    let writes = Writes::of(call);
    let variables = Let::new(update.variables);
    let mut reply = WriteReply::of(update.statements.len());
    reply.n_modified = Some(0);
    for (index, statement) in update.statements.iter().enumerate() {
        let step = Step {
            writes: &writes,
            namespace: &update.namespace,
            variables: &variables,
            bypass_validation: update.options.bypass_validation,
        };
        let number = update.options.statement_at(index);
        match step.once(call, statement, number, &mut reply.retried_statements).await {
            Ok(updated) => add(&mut reply, index, updated),
            Err(error) => {
                let ordered = update.options.ordered;
                if !writing::goes_on(call, &mut reply.failures, index, error, ordered)? {
                    break;
                }
            }
        }
    }
    let reply = writing::finish(call, &writes, reply).await?;
    check_stages(&update.statements)?;
    Ok(reply)
}

/// A stage that nobody knows fails the whole command, as MongoDB's counting of the stages
/// does once all statements are through.
fn check_stages(statements: &[UpdateStatement<'_>]) -> Result<()> {
    for statement in statements {
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
pub struct Step<'a> {
    pub writes: &'a Writes,
    pub namespace: &'a Namespace,
    pub variables: &'a Let<'a>,
    pub bypass_validation: bool,
}

impl Step<'_> {
    /// Carries the statement out, or finds what it answered when it was.
    pub async fn once(
        &self,
        call: Call<'_>,
        statement: &UpdateStatement<'_>,
        number: i32,
        retried: &mut Vec<i32>,
    ) -> Result<Updated> {
        if let Some(answer) = self.writes.recorded(number)? {
            retried.push(number);
            return Ok(answered(&answer));
        }
        if statement.multi && self.writes.is_retryable() {
            return Err(Code::InvalidOptions
                .error("Cannot use (or request) retryable writes with multi=true"));
        }
        let updated = self.run(call, statement).await?;
        self.writes.seal(number, || answer(&updated)).await?;
        Ok(updated)
    }

    async fn run(&self, call: Call<'_>, statement: &UpdateStatement<'_>) -> Result<Updated> {
        statement.check()?;
        let collection = call.collection(self.namespace)?;
        let context = self.variables.context(collection.as_deref(), statement.collation)?;
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
        let change = Change {
            selection: Selection {
                filter: &filter,
                sort: statement.sort,
                hint: hint_value(statement.hint),
                multi: statement.multi,
            },
            update: &update,
            upsert: statement.upsert,
            bypass_validation: self.bypass_validation,
            returns: None,
        };
        write::update(self.writes, self.namespace, &change).await
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
    let array_filters = array_filters.map(array);
    match modification {
        Modification::Document(document) => {
            Update::parse(RawBsonRef::Document(document), array_filters.as_deref(), context)
        }
        Modification::Pipeline(stages) => {
            let mut context = context.clone();
            for constant in constants.into_iter().flat_map(elements) {
                context.variables.set(constant.key, Some(constant.value().into()));
            }
            Update::parse(RawBsonRef::Array(&array(stages)), array_filters.as_deref(), &context)
        }
    }
}
