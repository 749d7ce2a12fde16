//! `create`.

use super::{Call, lookup};
use crate::catalog::{self, NewCollection};
use bson::{RawDocument, RawDocumentBuf};
use command::views::{ClusteredIndex, Create, ValidationAction, ValidationLevel};
use command::{Namespace, Reply, ReplyWriter};
use error::{Code, Error, Result};
use value::{Collator, DocumentWriter};

mod view;

pub use view::{check as check_view, options as view_options};

/// Databases whose documents no validator may refuse.
const INTERNAL_DATABASES: &[&str] = &["admin", "config", "local"];

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let create = Create::parse(call.request)?;
    if create.timeseries.is_some() {
        return Err(Code::CommandNotSupported
            .error("time series collections are not supported by this server"));
    }
    let namespace = &create.namespace;
    create.expire_after_seconds.map_or(Ok(()), check_expiry)?;
    let options = match create.view_on {
        Some(on) => {
            let pipeline = create.pipeline.as_deref().unwrap_or_default();
            let options = view_options(on, pipeline, full_collation(create.collation)?.as_deref());
            check_view(&call.engine.registry.current(), namespace, &options)?;
            options
        }
        None => options(&create)?,
    };
    if create.validator.is_some() {
        check_validator(namespace, &options)?;
    }
    let view = create.view_on.is_some();
    match make(call, NewCollection { namespace, options: &options, view }).await {
        // A transaction ends with the error, so that its client is to hear of it.
        Err(error) if error.code() == Code::NamespaceExists && call.statement().is_none() => {
            already_there(call, namespace, &options, view)?;
        }
        outcome => {
            outcome?;
        }
    }
    Ok(lookup::finish(call, ReplyWriter::new()))
}

async fn make(call: Call<'_>, new: NewCollection<'_>) -> Result<()> {
    let Some(statement) = call.statement() else {
        return call.engine.create(new).await.map(|_| ());
    };
    if new.view {
        return Err(Code::OperationNotSupportedInTransaction
            .error("Cannot create a view in a multi-document transaction."));
    }
    if call.collection(new.namespace)?.is_some() {
        let message = format!("Collection {} already exists.", new.namespace);
        return Err(Code::NamespaceExists.error(message));
    }
    let mut transaction = statement.take()?;
    transaction.create(new).await?;
    statement.give_back(transaction)
}

/// Making again what is there, exactly as it is, is no error.
fn already_there(
    call: Call<'_>,
    namespace: &Namespace,
    options: &RawDocument,
    view: bool,
) -> Result<()> {
    match call.collection(namespace)? {
        Some(there) if there.is_view() == view && *there.options == *options => Ok(()),
        Some(there) => Err(exists(namespace, &there.options)),
        None => Err(exists(namespace, options)),
    }
}

fn exists(namespace: &Namespace, options: &RawDocument) -> Error {
    Code::NamespaceExists.error(format!(
        "namespace {namespace} already exists, but with different options: {}",
        value::text::document(options)
    ))
}

/// The options of a collection, in the order in which they are listed.
fn options(create: &Create<'_>) -> Result<RawDocumentBuf> {
    let mut options = DocumentWriter::new();
    if create.capped {
        options.append_bool("capped", true);
        options.append_number("size", create.size.unwrap_or(0));
        if let Some(max) = create.max.filter(|max| *max > 0) {
            options.append_number("max", max);
        }
    }
    if create.pre_and_post_images == Some(true) {
        options.begin_document("changeStreamPreAndPostImages");
        options.append_bool("enabled", true);
        options.end();
    }
    for (name, document) in [
        ("storageEngine", create.storage_engine),
        ("indexOptionDefaults", create.index_option_defaults),
        ("validator", create.validator),
    ] {
        if let Some(document) = document.filter(|document| !document.is_empty()) {
            options.append_document(name, document);
        }
    }
    if let Some(level) = create.validation_level {
        options.append_str("validationLevel", level_name(level));
    }
    if let Some(action) = create.validation_action {
        options.append_str("validationAction", action_name(action));
    }
    if let Some(collation) = full_collation(create.collation)? {
        options.append_document("collation", &collation);
    }
    if let Some(index) = create.clustered_index {
        append_clustered(&mut options, index);
    }
    if let Some(seconds) = create.expire_after_seconds {
        options.append_i64("expireAfterSeconds", seconds);
    }
    Ok(options.finish())
}

fn append_clustered(options: &mut DocumentWriter, index: ClusteredIndex<'_>) {
    options.begin_document("clusteredIndex");
    options.append_i32("v", 2);
    options.append_document("key", &lookup::id_key());
    options.append_str("name", index.name.unwrap_or("_id_"));
    options.append_bool("unique", true);
    options.end();
}

/// How old the documents of a clustered collection may become: no older than the epoch is.
pub fn check_expiry(seconds: i64) -> Result<()> {
    let fail = |words: String| {
        Err(Code::InvalidOptions.error(format!("TTL index 'expireAfterSeconds' option {words}")))
    };
    if seconds < 0 {
        return fail("cannot be less than 0".to_owned());
    }
    if seconds > i64::MAX / 1000 {
        return fail(format!("cannot overflow int64_t when cast as milliseconds, found {seconds}"));
    }
    let now = bson::DateTime::now().timestamp_millis() / 1000;
    if seconds > now {
        return fail(format!("cannot exceed time since last epoch, found {seconds}"));
    }
    Ok(())
}

/// A collation with every option spelled out; the simple one is none.
pub fn full_collation(collation: Option<&RawDocument>) -> Result<Option<RawDocumentBuf>> {
    let Some(collation) = collation.filter(|collation| !collation.is_empty()) else {
        return Ok(None);
    };
    Ok(Collator::parse(collation)?.map(|collator| collator.document().to_owned()))
}

/// Whether options hold a validator that can be used on a collection.
pub fn check_validator(namespace: &Namespace, options: &RawDocument) -> Result<()> {
    if INTERNAL_DATABASES.contains(&&*namespace.database) {
        return Err(Code::InvalidOptions.error(format!(
            "Document validators are not allowed on collection {namespace} in the {} internal \
             database",
            namespace.database
        )));
    }
    if namespace.is_system() {
        return Err(Code::InvalidOptions
            .error(format!("Document validators not allowed on system collection {namespace}")));
    }
    catalog::validator(options).map(|_| ())
}

pub fn level_name(level: ValidationLevel) -> &'static str {
    match level {
        ValidationLevel::Off => "off",
        ValidationLevel::Strict => "strict",
        ValidationLevel::Moderate => "moderate",
    }
}

pub fn action_name(action: ValidationAction) -> &'static str {
    match action {
        ValidationAction::Error => "error",
        ValidationAction::Warn => "warn",
        ValidationAction::ErrorAndLog => "errorAndLog",
    }
}
