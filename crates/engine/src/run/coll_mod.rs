//! `collMod`.

mod check;
mod index;
mod unique;

use super::create::{action_name, check_validator, check_view, level_name, view_options};
use super::{Call, lookup, reading};
use crate::catalog::{Collection, CollectionKind};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use command::views::{CollMod, Expiry};
use command::{Reply, ReplyWriter};
use error::{Code, Error, Result};
use value::DocumentWriter;
use value::element::get;

/// The options of a collection or view, in the order in which they are listed.
const ORDER: &[&str] = &[
    "capped",
    "size",
    "max",
    "changeStreamPreAndPostImages",
    "storageEngine",
    "indexOptionDefaults",
    "validator",
    "validationLevel",
    "validationAction",
    "viewOn",
    "pipeline",
    "collation",
    "clusteredIndex",
    "expireAfterSeconds",
];

pub async fn run(call: Call<'_>) -> Result<Reply> {
    let change = CollMod::parse(call.request)?;
    let namespace = &change.namespace;
    lookup::check_uuid(call, namespace, change.collection_uuid)?;
    check::request(&change)?;
    let found = call.engine.registry.get(namespace);
    let collection = found.ok_or_else(|| check::missing(&change))?;
    check::uniqueness(&change, &collection)?;
    // A view has no indexes: that is refused first.
    let altered = change.index.filter(|_| !collection.is_view());
    let altered = altered.map(|wanted| index::Altered::new(&collection, &wanted)).transpose()?;
    check::collection(&change, &collection)?;
    check::alone(&change, altered.as_ref().is_some_and(index::Altered::prepares))?;
    // Asked again where it is altered: before that, nothing is looked through in vain.
    call.engine.policies.check_definition(namespace)?;
    if let Some(altered) = &altered {
        call.engine.policies.check_indexes(namespace, [&*altered.spec].into_iter())?;
    }
    // Change streams hear of a change that names nothing, too.
    if touches_options(&change) || change.index.is_none() {
        call.engine.alter(namespace, |collection| options(call, &change, collection)).await?;
    }
    let mut reply = ReplyWriter::new();
    if let Some(altered) = altered {
        if altered.unique {
            let (view, interrupt) = (reading::view(call)?, &call.operation.interrupt);
            turn::aside(|| unique::check(&view, &collection, &altered.index, interrupt))?;
        }
        if !change.dry_run {
            call.engine.alter_index(namespace, &altered.index, &altered.spec).await?;
            call.engine.mirror_some(namespace, std::slice::from_ref(&altered.spec)).await?;
            altered.append(&mut reply);
        }
    }
    Ok(lookup::finish(call, reply))
}

fn touches_options(change: &CollMod<'_>) -> bool {
    change.view_on.is_some()
        || change.pipeline.is_some()
        || change.validator.is_some()
        || change.validation_level.is_some()
        || change.validation_action.is_some()
        || change.pre_and_post_images.is_some()
        || change.expiry.is_some()
        || change.capped_size.is_some()
        || change.capped_max.is_some()
}

/// The options with what the command changes.
fn options(
    call: Call<'_>,
    change: &CollMod<'_>,
    collection: &Collection,
) -> Result<RawDocumentBuf> {
    let namespace = &collection.namespace;
    if let CollectionKind::View { on, pipeline } = &collection.kind {
        let collation = get(&collection.options, "collation").and_then(|it| it.as_document());
        let kept: Vec<&RawDocument> =
            value::element::array_elements(pipeline).filter_map(|it| it.as_document()).collect();
        let stages = change.pipeline.as_deref().unwrap_or(&kept);
        let options = view_options(change.view_on.unwrap_or(on), stages, collation);
        check_view(&call.engine.registry.current(), namespace, &options)?;
        return Ok(options);
    }
    let changed = changed(change, collection);
    let mut writer = DocumentWriter::new();
    for name in ORDER {
        match changed.iter().find(|(changed, _)| changed == name) {
            Some((_, Some(value))) => writer.append(name, value.as_raw_bson_ref()),
            Some((_, None)) => {}
            None => get(&collection.options, name).into_iter().for_each(|old| writer.copy(old)),
        }
    }
    let options = writer.finish();
    if get(&options, "validator").is_some() {
        check_validator(namespace, &options)?;
    }
    Ok(options)
}

/// Each option that changes, with its new value or without any.
fn changed(change: &CollMod<'_>, collection: &Collection) -> Vec<(&'static str, Option<RawBson>)> {
    let mut changed = Vec::new();
    if let Some(validator) = change.validator {
        let validator = (!validator.is_empty()).then(|| validator.to_owned().into());
        changed.push(("validator", validator));
        // A changed validator has its level and action written down.
        for (name, usual) in [("validationLevel", "strict"), ("validationAction", "error")] {
            if get(&collection.options, name).is_none() {
                changed.push((name, Some(usual.to_owned().into())));
            }
        }
    }
    if let Some(level) = change.validation_level {
        changed.retain(|(name, _)| *name != "validationLevel");
        changed.push(("validationLevel", Some(level_name(level).to_owned().into())));
    }
    if let Some(action) = change.validation_action {
        changed.retain(|(name, _)| *name != "validationAction");
        changed.push(("validationAction", Some(action_name(action).to_owned().into())));
    }
    if let Some(enabled) = change.pre_and_post_images {
        let images = enabled.then(|| bson::rawdoc! { "enabled": true }.into());
        changed.push(("changeStreamPreAndPostImages", images));
    }
    match change.expiry {
        Some(Expiry::Word(_)) => changed.push(("expireAfterSeconds", None)),
        Some(Expiry::After { seconds }) => {
            changed.push(("expireAfterSeconds", Some(seconds.into())));
        }
        None => {}
    }
    if let Some(size) = change.capped_size {
        changed.push(("size", Some(size.into())));
    }
    if let Some(max) = change.capped_max {
        changed.push(("max", (max > 0).then(|| max.into())));
    }
    changed
}

fn invalid(message: impl Into<String>) -> Error {
    Code::InvalidOptions.error(message)
}
