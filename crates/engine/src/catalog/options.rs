//! What a collection's options say, once `create` has checked them.

use super::validator::{Action, Level};
use super::{CollectionKind, Validator};
use bson::{RawBsonRef, RawDocument};
use error::Result;
use std::sync::Arc;
use value::Collator;
use value::element::get;
use value::number::Number;

/// What kind of collection the options describe; views are `view_kind`.
pub fn kind(options: &RawDocument) -> Result<CollectionKind> {
    if flag(options, "capped") {
        return Ok(CollectionKind::Capped {
            bytes_max: whole(options, "size").unwrap_or(0),
            documents_max: whole(options, "max").filter(|max| *max > 0),
        });
    }
    match get(options, "clusteredIndex").map(|element| element.value()) {
        None | Some(RawBsonRef::Boolean(false)) => Ok(CollectionKind::Ordinary),
        Some(_) => Ok(CollectionKind::Clustered),
    }
}

pub fn view_kind(options: &RawDocument) -> Result<CollectionKind> {
    let on = get(options, "viewOn").and_then(|on| on.value().as_str()).unwrap_or_default();
    let pipeline = get(options, "pipeline").and_then(|pipeline| pipeline.value().as_array());
    Ok(CollectionKind::View {
        on: on.into(),
        pipeline: pipeline.map(ToOwned::to_owned).unwrap_or_default(),
    })
}

pub fn validator(options: &RawDocument) -> Result<Option<Arc<Validator>>> {
    let Some(spec) = get(options, "validator").and_then(|spec| spec.value().as_document()) else {
        return Ok(None);
    };
    if spec.is_empty() {
        return Ok(None);
    }
    let text = |key| get(options, key).and_then(|element| element.value().as_str());
    let level = match text("validationLevel") {
        Some("off") => Level::Off,
        Some("moderate") => Level::Moderate,
        _ => Level::Strict,
    };
    let action = match text("validationAction") {
        Some("warn") => Action::Warn,
        Some("errorAndLog") => Action::ErrorAndLog,
        _ => Action::Error,
    };
    Validator::new(spec, collator(options)?, level, action)
        .map(|validator| Some(Arc::new(validator)))
}

pub fn collator(options: &RawDocument) -> Result<Option<Arc<Collator>>> {
    match get(options, "collation").and_then(|collation| collation.value().as_document()) {
        Some(collation) => Ok(Collator::parse(collation)?.map(Arc::new)),
        None => Ok(None),
    }
}

pub fn flag(options: &RawDocument, key: &str) -> bool {
    match get(options, key).map(|element| element.value()) {
        Some(RawBsonRef::Boolean(flag)) => flag,
        Some(value) => Number::from_value(value).is_some_and(|number| !number.is_zero()),
        None => false,
    }
}

pub fn whole(options: &RawDocument, key: &str) -> Option<u64> {
    let number = Number::from_value(get(options, key)?.value())?.to_i64_truncated()?;
    u64::try_from(number).ok()
}
