//! What a `collMod` may ask for, by the kind of what it names.

use super::invalid;
use crate::catalog::Collection;
use crate::run::create::check_expiry;
use crate::run::lookup;
use command::views::{CollMod, Expiry};
use error::{Code, Result};

/// Refuses what makes no sense whatever the collection is.
pub fn request(change: &CollMod<'_>) -> Result<()> {
    let timeseries = change.granularity.is_some() || change.bucket_max_span_seconds.is_some();
    if timeseries && modifications(change) > 1 {
        return Err(invalid(
            "Cannot combine timeseries option with other modification options in a single collMod \
             command. Send separate collMod commands for timeseries and other options.",
        ));
    }
    if !change.dry_run {
        return Ok(());
    }
    match change.index {
        None => Err(invalid("dry run mode requires an valid index modification.")),
        Some(index) if index.unique != Some(true) => {
            Err(invalid("dry run mode requires an index modification with unique: true."))
        }
        Some(_) => Ok(()),
    }
}

/// Making an index unique, or trying to, is only for collections.
pub fn uniqueness(change: &CollMod<'_>, collection: &Collection) -> Result<()> {
    match change.index.is_some_and(|index| index.unique == Some(true)) {
        true => lookup::refuse_view(collection),
        false => Ok(()),
    }
}

/// Refuses what the collection's kind does not have.
pub fn collection(change: &CollMod<'_>, collection: &Collection) -> Result<()> {
    match collection.is_view() {
        true => view(change),
        false => plain(change, collection),
    }
}

fn view(change: &CollMod<'_>) -> Result<()> {
    let of_collections = [
        ("cappedSize", change.capped_size.is_some()),
        ("cappedMax", change.capped_max.is_some()),
        ("index", change.index.is_some()),
        ("validator", change.validator.is_some()),
        ("validationLevel", change.validation_level.is_some()),
        ("validationAction", change.validation_action.is_some()),
        ("changeStreamPreAndPostImages", change.pre_and_post_images.is_some()),
        ("expireAfterSeconds", change.expiry.is_some()),
    ];
    match of_collections.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(invalid(format!("option not supported on a view: {name}"))),
        None => timeseries(change),
    }
}

fn plain(change: &CollMod<'_>, collection: &Collection) -> Result<()> {
    if (change.capped_size.is_some() || change.capped_max.is_some()) && !collection.is_capped() {
        return Err(invalid("Collection must be capped."));
    }
    for (name, given) in
        [("pipeline", change.pipeline.is_some()), ("viewOn", change.view_on.is_some())]
    {
        if given {
            return Err(invalid(format!("option only supported on a view: {name}")));
        }
    }
    if let Some(expiry) = change.expiry {
        clustered_expiry(expiry, collection)?;
    }
    timeseries(change)?;
    match change.record_ids_replicated {
        Some(true) => Err(invalid("Cannot set recordIdsReplicated to true")),
        _ => Ok(()),
    }
}

fn timeseries(change: &CollMod<'_>) -> Result<()> {
    let given = [
        ("timeseries", change.timeseries),
        ("timeseriesBucketsMayHaveMixedSchemaData", change.mixed_schema.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(invalid(format!("option only supported on a time-series collection: {name}")))
        }
        None => Ok(()),
    }
}

fn clustered_expiry(expiry: Expiry<'_>, collection: &Collection) -> Result<()> {
    if !collection.is_clustered() {
        return Err(invalid(
            "'expireAfterSeconds' option is only supported on collections clustered by _id",
        ));
    }
    match expiry {
        Expiry::Word("off") => Ok(()),
        Expiry::Word(word) => Err(invalid(format!(
            "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: \
             '{word}'. Accepted value is 'off'"
        ))),
        Expiry::After { seconds } => check_expiry(seconds),
    }
}

/// What goes with nothing else: preparing an index to be unique, and trying to make it so.
pub fn alone(change: &CollMod<'_>, prepares: bool) -> Result<()> {
    if modifications(change) < 2 {
        return Ok(());
    }
    if prepares {
        return Err(invalid("prepareUnique cannot be combined with any other modification."));
    }
    if change.dry_run {
        return Err(invalid(
            "unique: true cannot be combined with any other modification in dry run mode.",
        ));
    }
    Ok(())
}

fn modifications(change: &CollMod<'_>) -> usize {
    let options = [
        change.validator.is_some(),
        change.validation_level.is_some(),
        change.validation_action.is_some(),
        change.pipeline.is_some(),
        change.view_on.is_some(),
        change.pre_and_post_images.is_some(),
        change.expiry.is_some(),
        change.timeseries,
    ];
    let index = change.index.map_or(0, |index| index.modifications());
    index + options.iter().filter(|given| **given).count()
}

/// What is refused of an index that is not there: `collMod` takes it for a view's.
pub fn missing(change: &CollMod<'_>) -> error::Error {
    match change.dry_run {
        true => invalid("option not supported on a view: index"),
        false => Code::NamespaceNotFound.error(format!("ns does not exist: {}", change.namespace)),
    }
}
