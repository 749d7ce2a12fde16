//! `$merge`: each document is merged into the target by itself.

use super::{Call, next_batch};
use crate::catalog::Collection;
use crate::run::context::context;
use crate::writes::Writes;
use bson::oid::ObjectId;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use command::Namespace;
use command::views::Aggregate;
use error::{Code, Error, Result};
use language::Context;
use language::aggregate::Documents;
use language::aggregate::expressions::Expression;
use language::aggregate::stages::{WhenMatched, WhenNotMatched};
use language::query::Filter;
use language::update::Update;
use language::variables::Variables;
use std::collections::BTreeSet;
use std::sync::Arc;
use value::element::{elements, get};
use value::{DocumentWriter, Path};
use write::{Insert, Selection, UpdateRequest};

/// How often a document is tried again that others beat to its key.
const ATTEMPTS_MAX: usize = 16;

pub struct Merge {
    pub on: Vec<String>,
    pub on_given: bool,
    pub when_matched: WhenMatched,
    pub when_not_matched: WhenNotMatched,
}

/// What every document of a merge has in common.
struct Work<'a> {
    merge: &'a Merge,
    into: &'a Namespace,
    context: Context,
    bypass_validation: bool,
    writes: Writes,
}

impl Merge {
    pub async fn write(
        &self,
        call: Call<'_>,
        aggregate: &Aggregate<'_>,
        into: &Namespace,
        mut documents: Documents,
    ) -> Result<()> {
        let target = call.engine.registry.get(into);
        if self.on_given {
            self.check_unique(target.as_deref())?;
        }
        let work = Work {
            merge: self,
            into,
            context: context(target.as_deref(), aggregate.collation, aggregate.variables)?,
            bypass_validation: aggregate.bypass_validation,
            writes: call.writes(),
        };
        loop {
            let batch = next_batch(&mut documents)?;
            if batch.is_empty() {
                break;
            }
            if self.when_not_matched == WhenNotMatched::Insert {
                call.engine.ensure(into).await?;
            }
            for document in batch.documents {
                work.document(document)
                    .await
                    .map_err(|error| error.context("PlanExecutor error during aggregation"))?;
            }
        }
        work.writes.acknowledge(call.common.write_concern.as_ref()).await
    }

    /// The fields that identify a document must be those of a unique index.
    fn check_unique(&self, target: Option<&Collection>) -> Result<()> {
        let wanted: BTreeSet<&str> = self.on.iter().map(String::as_str).collect();
        if wanted.iter().eq(["_id"].iter()) {
            return Ok(());
        }
        let suits = |index: &crate::catalog::Index| {
            let fields: BTreeSet<&str> = index.fields.iter().map(|it| it.path.as_str()).collect();
            index.unique && index.ready && index.partial.is_none() && fields == wanted
        };
        if target.is_some_and(|target| target.indexes.iter().any(|index| suits(index))) {
            return Ok(());
        }
        Err(Code::location(51183)
            .error("Cannot find index to verify that join fields will be unique"))
    }
}

impl Work<'_> {
    async fn document(&self, document: RawDocumentBuf) -> Result<()> {
        let document = self.identified(document);
        if self.merge.when_matched == WhenMatched::Fail {
            return self.insert(&document).await;
        }
        let filter = Arc::new(Filter::parse(&self.filter(&document)?, &self.context)?);
        let update = self.update(&document)?;
        let change = UpdateRequest {
            selection: Selection { filter: &filter, sort: None, hint: None, multi: false },
            update: &update,
            upsert: false,
            bypass_validation: self.bypass_validation,
            returns: None,
            retry: None,
        };
        for _ in 0..ATTEMPTS_MAX {
            let updated = write::update(&self.writes, self.into, &change).await;
            if updated.map_err(changed_id)?.matched > 0 {
                return Ok(());
            }
            match self.merge.when_not_matched {
                WhenNotMatched::Discard => return Ok(()),
                WhenNotMatched::Fail => {
                    return Err(Code::location(13113).error(
                        "$merge could not find a matching document in the target collection for \
                         at least one document in the source collection",
                    ));
                }
                WhenNotMatched::Insert => match self.insert(&document).await {
                    // Someone inserted it meanwhile: it may match now.
                    Err(error) if self.is_on(&error) => {}
                    outcome => return outcome,
                },
            }
        }
        Err(Code::WriteConflict.error("others kept writing to the documents that $merge writes"))
    }

    /// A document that is identified by an `_id` it does not have gets one.
    fn identified(&self, document: RawDocumentBuf) -> RawDocumentBuf {
        let by_id = self.merge.on.iter().any(|field| field == "_id");
        if !by_id || get(&document, "_id").is_some() {
            return document;
        }
        let mut writer = DocumentWriter::new();
        writer.append("_id", RawBsonRef::ObjectId(ObjectId::new()));
        writer.copy_all(&document);
        writer.finish()
    }

    /// What finds the document in the target.
    fn filter(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        let mut filter = DocumentWriter::new();
        for field in &self.merge.on {
            let value = lookup(document, &Path::new(field))?;
            filter.begin_document(field);
            filter.append("$eq", value);
            filter.end();
        }
        Ok(filter.finish())
    }

    /// What is done to a document that is there.
    fn update(&self, document: &RawDocument) -> Result<Update> {
        let operator = |name: &str| {
            let mut writer = DocumentWriter::new();
            writer.append_document(name, document);
            writer.finish()
        };
        let parse =
            |update: &RawDocument| Update::parse(RawBsonRef::Document(update), None, &self.context);
        match &self.merge.when_matched {
            WhenMatched::Replace | WhenMatched::Fail => parse(document),
            WhenMatched::Merge if document.is_empty() => parse(&operator("$setOnInsert")),
            WhenMatched::Merge => parse(&operator("$set")),
            WhenMatched::KeepExisting => parse(&operator("$setOnInsert")),
            WhenMatched::Pipeline { stages, variables } => {
                let mut context = self.context.clone();
                context.variables = self.variables(variables, document)?;
                Update::parse(RawBsonRef::Array(stages), None, &context)
            }
        }
    }

    /// The command's variables, and those of the stage, which may look at the new
    /// document.
    fn variables(&self, own: &RawDocument, document: &RawDocument) -> Result<Variables> {
        let _entered = value::wide::enter(document);
        let mut variables = self.context.variables.clone();
        for variable in elements(own) {
            let expression = Expression::parse(variable.value(), &self.context)?;
            variables.set(variable.key, expression.evaluate_owned(document)?);
        }
        Ok(variables)
    }

    async fn insert(&self, document: &RawDocument) -> Result<()> {
        let bypass_validation = self.bypass_validation;
        let documents = &[document];
        let insert = Insert { bypass_validation, ..Insert::own(self.into, documents) };
        write::insert(&self.writes, insert, |_, error| Err(error)).await.map(|_| ())
    }

    /// Whether an insert failed over the very key that documents are found by.
    fn is_on(&self, error: &Error) -> bool {
        let key = error.details().find(|(name, _)| *name == "keyPattern");
        let Some((_, RawBsonRef::Document(key))) = key else { return false };
        let mut fields = elements(key);
        error.code() == Code::DuplicateKey
            && fields.all(|field| self.merge.on.iter().any(|on| on == field.key))
    }
}

/// The value of an `on` field.
fn lookup<'a>(document: &'a RawDocument, path: &Path) -> Result<RawBsonRef<'a>> {
    let mut found = RawBsonRef::Document(document);
    for component in path.components() {
        found = match found {
            RawBsonRef::Document(inner) => match get(inner, component) {
                Some(element) => element.value(),
                None => return Err(unusable(51132)),
            },
            RawBsonRef::Array(_) => return Err(unusable(51185)),
            _ => return Err(unusable(51132)),
        };
    }
    match found {
        RawBsonRef::Null | RawBsonRef::Undefined => Err(unusable(51132)),
        RawBsonRef::Array(_) => Err(unusable(51185)),
        value => Ok(value),
    }
}

fn unusable(code: i32) -> Error {
    Code::location(code)
        .error("$merge write error: 'on' field cannot be missing, null, undefined or an array")
}

/// An update that would change the `_id` says where it comes from.
fn changed_id(error: Error) -> Error {
    match error.code() {
        Code::ImmutableField => error.context(
            "$merge failed to update the matching document, did you attempt to modify the _id or \
             the shard key?",
        ),
        _ => error,
    }
}
