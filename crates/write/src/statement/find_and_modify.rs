//! `findAndModify`.

use super::Statements;
use super::context::Let;
use super::update::parse_update;
use crate::{Delete, Deleted, Retry, Returns, Selection, UpdateRequest, Updated};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use command::REPLY_END_BYTES;
use command::fields::Hint;
use command::views::{FindAndModify, Modification};
use error::Result;
use language::projection::Projection;
use language::query::{Filter, Matched};
use language::{Context, Needs};
use std::sync::Arc;
use value::DocumentWriter;

/// What it answers.
#[derive(Debug)]
pub struct Modified {
    /// `lastErrorObject` and `value`.
    pub answer: RawDocumentBuf,
    /// The number of the statement, where that is answered from its record.
    pub retried: Option<i32>,
}

pub async fn find_and_modify<B: Statements>(
    backend: &B,
    view: &FindAndModify<'_>,
) -> Result<Modified> {
    let namespace = &view.namespace;
    backend.check_target(namespace)?;
    let context = Let::new(view.variables).context(backend, namespace, view.collation)?;
    let filter = Arc::new(Filter::parse(view.query, &context)?);
    let fields = view.fields.filter(|fields| !fields.is_empty());
    let left = fields.and_then(|fields| backend.projection(namespace, fields));
    let projection = match left.as_deref().or(fields) {
        Some(fields) => Some(Projection::parse(fields, Some(&filter), &context)?),
        None => None,
    };
    let one = One { view, filter: &filter, fields, projection, context };
    let number = view.statement_id.unwrap_or(0);
    if let Some(answer) = backend.recorded(number)? {
        return Ok(Modified { answer, retried: Some(number) });
    }
    let done = match &view.update {
        None => one.remove(backend, number).await?,
        Some(update) => one.update(backend, update, number).await?,
    };
    Ok(Modified { answer: done.answer(), retried: None })
}

/// What was done, for `lastErrorObject` and `value`.
#[derive(Default)]
struct Done {
    n: i32,
    /// Of an update: whether a document was there before.
    existed: Option<bool>,
    upserted: Option<RawBson>,
    value: Option<RawDocumentBuf>,
}

struct One<'a> {
    view: &'a FindAndModify<'a>,
    filter: &'a Arc<Filter>,
    fields: Option<&'a RawDocument>,
    projection: Option<Projection>,
    context: Context,
}

impl One<'_> {
    fn selection(&self) -> Selection<'_> {
        Selection {
            filter: self.filter,
            sort: self.view.sort,
            hint: self.view.hint.map(Hint::value),
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
        Returns { needs, projection: self.fields, after: self.view.new }
    }

    fn project(&self, document: &RawDocument, matched: Matched) -> Result<RawDocumentBuf> {
        match &self.projection {
            Some(projection) => projection.apply(document, matched),
            None => Ok(document.to_owned()),
        }
    }

    async fn remove<B: Statements>(&self, backend: &B, number: i32) -> Result<Done> {
        let answer = |deleted: &Deleted| Ok(self.removed(deleted)?.answer());
        let retry = Retry { number, answer: &answer };
        let delete = Delete {
            selection: self.selection(),
            returns: Some(self.returns()),
            retry: backend.is_retryable().then_some(retry),
        };
        let deleted = crate::delete(backend, &self.view.namespace, &delete).await?;
        self.removed(&deleted)
    }

    fn removed(&self, deleted: &Deleted) -> Result<Done> {
        let value = match &deleted.document {
            Some(document) => {
                let matched = self.filter.matches_at(document)?.unwrap_or_default();
                Some(self.project(document, matched)?)
            }
            None => None,
        };
        Ok(Done { n: deleted.count as i32, value, ..Done::default() })
    }

    async fn update<B: Statements>(
        &self,
        backend: &B,
        update: &Modification<'_>,
        number: i32,
    ) -> Result<Done> {
        let array_filters = self.view.array_filters.as_deref();
        let update = parse_update(update, array_filters, None, &self.context)?;
        let answer = |updated: &Updated| Ok(self.updated(updated)?.answer());
        let retry = Retry { number, answer: &answer };
        let change = UpdateRequest {
            selection: self.selection(),
            update: &update,
            upsert: self.view.upsert,
            bypass_validation: self.view.bypass_validation,
            returns: Some(self.returns()),
            retry: backend.is_retryable().then_some(retry),
        };
        let updated = crate::update(backend, &self.view.namespace, &change).await?;
        self.updated(&updated)
    }

    fn updated(&self, updated: &Updated) -> Result<Done> {
        let touched = updated.touched.as_ref();
        let value = touched.and_then(|touched| Some((touched.document.as_ref()?, touched.matched)));
        let value = value.map(|(document, matched)| self.project(document, matched)).transpose()?;
        Ok(Done {
            n: (updated.matched as i32).max(i32::from(updated.upserted.is_some())),
            existed: Some(updated.matched > 0),
            upserted: updated.upserted.clone(),
            value,
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
