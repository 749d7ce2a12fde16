//! `update`.

use super::context::context;
use super::reading::{array, hint_value};
use super::writes::Writes;
use super::{Call, writing};
use bson::{RawBsonRef, RawDocument};
use command::views::{Modification, Update as UpdateView, UpdateStatement};
use command::{Namespace, Reply, WriteFailure, WriteReply};
use error::{Code, Result};
use language::Context;
use language::query::Filter;
use language::update::Update;
use std::sync::Arc;
use value::DocumentWriter;
use write::{Change, Selection, Updated};

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let update = UpdateView::parse(call.request)?;
    writing::check_target(call, &update.namespace)?;
    let writes = Writes::of(call);
    let mut reply = WriteReply { n_modified: Some(0), ..WriteReply::default() };
    for (index, statement) in update.statements.iter().enumerate() {
        let step = Step {
            writes: &writes,
            namespace: &update.namespace,
            variables: update.variables,
            bypass_validation: update.options.bypass_validation,
        };
        match step.run(call, statement).await {
            Ok(updated) => add(&mut reply, index, updated),
            Err(error) => {
                reply.failures.push(WriteFailure { index: index as i32, error });
                if update.options.ordered {
                    break;
                }
            }
        }
    }
    writing::finish(call, &writes, reply).await
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
    pub variables: Option<&'a RawDocument>,
    pub bypass_validation: bool,
}

impl Step<'_> {
    pub async fn run(&self, call: Call<'_>, statement: &UpdateStatement<'_>) -> Result<Updated> {
        statement.check()?;
        let collection = call.engine.registry.get(self.namespace);
        let context = context(collection.as_deref(), statement.collation, self.variables)?;
        let filter = Arc::new(Filter::parse(statement.query, &context)?);
        let update = parse_update(
            &statement.modification,
            statement.array_filters.as_deref(),
            statement.constants,
            &context,
        )?;
        if statement.multi && update.is_replacement() {
            return Err(Code::FailedToParse
                .error("multi update is not supported for replacement-style update"));
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
            if let Some(constants) = constants {
                let mut writer = DocumentWriter::resume(context.variables);
                writer.copy_all(constants);
                context.variables = writer.finish();
            }
            Update::parse(RawBsonRef::Array(&array(stages)), array_filters.as_deref(), &context)
        }
    }
}
