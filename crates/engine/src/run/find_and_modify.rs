//! `findAndModify`.

use super::context::context;
use super::reading::hint_value;
use super::update::parse_update;
use super::writes::Writes;
use super::{Call, writing};
use bson::{RawBsonRef, RawDocumentBuf};
use command::views::{FindAndModify, Modification};
use command::{REPLY_END_BYTES, Reply};
use error::Result;
use language::projection::Projection;
use language::query::{Filter, Matched};
use language::{Context, Needs};
use std::sync::Arc;
use value::DocumentWriter;
use write::{Change, Delete, Returns, Selection};

/// What was done, for `lastErrorObject` and `value`.
#[derive(Default)]
struct Done {
    n: i32,
    /// Of an update: whether a document was there before.
    existed: Option<bool>,
    upserted: Option<bson::RawBson>,
    value: Option<RawDocumentBuf>,
}

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let modify = FindAndModify::parse(call.request)?;
    writing::check_target(call, &modify.namespace)?;
    let collection = call.collection(&modify.namespace)?;
    let context = context(collection.as_deref(), modify.collation, modify.variables)?;
    let filter = Arc::new(Filter::parse(modify.query, &context)?);
    let fields = modify.fields.filter(|fields| !fields.is_empty());
    let plan = call.engine.policies.read_plan(&modify.namespace, fields);
    let projection = match plan.projection().or(fields) {
        Some(fields) => Some(Projection::parse(fields, Some(&filter), &context)?),
        None => None,
    };
    let step = Step { modify: &modify, filter: &filter, projection, context };
    let writes = Writes::of(call);
    let number = modify.statement_id.unwrap_or(0);
    if let Some(answer) = writes.recorded(number)? {
        writes.acknowledge(call.common.write_concern.as_ref()).await?;
        return Ok(reply(call, answer, Some(number)));
    }
    let done = match &modify.update {
        None => step.remove(&writes).await?,
        Some(update) => step.update(&writes, update).await?,
    };
    let answer = done.answer();
    writes.seal(number, || answer.clone()).await?;
    writes.acknowledge(call.common.write_concern.as_ref()).await?;
    Ok(reply(call, answer, None))
}

struct Step<'a> {
    modify: &'a FindAndModify<'a>,
    filter: &'a Arc<Filter>,
    projection: Option<Projection>,
    context: Context,
}

impl Step<'_> {
    fn selection(&self) -> Selection<'_> {
        Selection {
            filter: self.filter,
            sort: self.modify.sort,
            hint: hint_value(self.modify.hint),
            multi: false,
        }
    }

    /// What of the document goes into the reply.
    fn returns(&self) -> Returns<'_> {
        let mut needs = Needs::none();
        match &self.projection {
            None => needs.all(),
            Some(projection) => projection.needs(&mut needs),
        }
        let projection = self.modify.fields.filter(|fields| !fields.is_empty());
        Returns { needs, projection, after: self.modify.new }
    }

    fn project(&self, document: RawDocumentBuf, matched: Matched) -> Result<RawDocumentBuf> {
        match &self.projection {
            Some(projection) => projection.apply(&document, matched),
            None => Ok(document),
        }
    }

    async fn remove(&self, writes: &Writes) -> Result<Done> {
        let delete = Delete { selection: self.selection(), returns: Some(self.returns()) };
        let deleted = write::delete(writes, &self.modify.namespace, &delete).await?;
        let value = match deleted.document {
            Some(document) => {
                let matched = self.filter.matches_at(&document)?.unwrap_or_default();
                Some(self.project(document, matched)?)
            }
            None => None,
        };
        Ok(Done { n: deleted.count as i32, value, ..Done::default() })
    }

    async fn update(&self, writes: &Writes, update: &Modification<'_>) -> Result<Done> {
        let array_filters = self.modify.array_filters.as_deref();
        let update = parse_update(update, array_filters, None, &self.context)?;
        let change = Change {
            selection: self.selection(),
            update: &update,
            upsert: self.modify.upsert,
            bypass_validation: self.modify.bypass_validation,
            returns: Some(self.returns()),
        };
        let updated = write::update(writes, &self.modify.namespace, &change).await?;
        let (value, matched) = match updated.touched {
            Some(touched) => (touched.document, touched.matched),
            None => (None, Matched::default()),
        };
        Ok(Done {
            n: (updated.matched as i32).max(i32::from(updated.upserted.is_some())),
            existed: Some(updated.matched > 0),
            upserted: updated.upserted,
            value: value.map(|document| self.project(document, matched)).transpose()?,
        })
    }
}

impl Done {
    /// What the reply says of it, and what is kept of a retryable one.
    fn answer(&self) -> RawDocumentBuf {
        let bytes = self.value.as_ref().map_or(0, |value| value.as_bytes().len());
        let mut writer = DocumentWriter::with_capacity(bytes + REPLY_END_BYTES);
        writer.begin_document("lastErrorObject");
        writer.append_i32("n", self.n);
        if let Some(existed) = self.existed {
            writer.append_bool("updatedExisting", existed);
        }
        if let Some(id) = &self.upserted {
            writer.append("upserted", id.as_raw_bson_ref());
        }
        writer.end();
        match &self.value {
            Some(value) => writer.append("value", RawBsonRef::Document(value)),
            None => writer.append("value", RawBsonRef::Null),
        }
        writer.finish()
    }
}

fn reply(call: Call<'_>, answer: RawDocumentBuf, retried: Option<i32>) -> Reply {
    let mut writer = DocumentWriter::resume(answer);
    if let Some(statement) = retried {
        writer.append_i32("retriedStmtId", statement);
    }
    if let Some(error) = writing::concern_error(call) {
        command::append_write_concern_error(&mut writer, &error);
    }
    writer.append_f64("ok", 1.0);
    Reply::new(writer.finish())
}
