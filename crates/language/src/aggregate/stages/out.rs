//! `$out`: replaces a collection by the documents.

use super::target::{Target, Written};
use super::{Specification, Stage, one};
use crate::aggregate::expressions::coerce;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};
use value::element::elements;

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let target = match stage.value {
        RawBsonRef::String(collection) => {
            Target::Out { database: None, collection: collection.to_owned(), timeseries: None }
        }
        RawBsonRef::Document(spec) => document(spec)?,
        other => {
            return Err(Code::location(16990).error(format!(
                "$out only supports a string or object argument, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    if let Target::Out { database, collection, .. } = &target {
        check_name("$out", database.as_deref(), collection)?;
    }
    one(Written { name: stage.name, target })
}

fn document(spec: &RawDocument) -> Result<Target> {
    let (mut database, mut collection, mut timeseries) = (None, None, None);
    for element in elements(spec) {
        match (element.key, element.value()) {
            ("db", RawBsonRef::String(text)) => database = Some(text.to_owned()),
            ("coll", RawBsonRef::String(text)) => collection = Some(text.to_owned()),
            ("timeseries", RawBsonRef::Document(options)) => timeseries = Some(options.to_owned()),
            (key @ ("db" | "coll" | "timeseries"), other) => {
                let expected = if key == "timeseries" { "object" } else { "string" };
                return Err(Code::TypeMismatch.error(format!(
                    "BSON field '$out.{key}' is the wrong type '{}', expected type '{expected}'",
                    coerce::type_name(Some(other))
                )));
            }
            (key, _) => {
                return Err(Code::location(40415)
                    .error(format!("BSON field '$out.{key}' is an unknown field.")));
            }
        }
    }
    let missing = |field: &str| {
        Code::location(40414)
            .error(format!("BSON field '$out.{field}' is missing but a required field"))
    };
    Ok(Target::Out {
        database: Some(database.ok_or_else(|| missing("db"))?),
        collection: collection.ok_or_else(|| missing("coll"))?,
        timeseries,
    })
}

/// Refuses names that no client may write to.
pub fn check_name(stage: &str, database: Option<&str>, collection: &str) -> Result<()> {
    let (special, internal) = if stage == "$out" { (17385, 31321) } else { (31319, 31320) };
    if collection.is_empty() || database.is_some_and(str::is_empty) {
        return Err(Code::InvalidNamespace.error(format!(
            "Invalid {stage} target namespace: '{}.{collection}'",
            database.unwrap_or_default()
        )));
    }
    if collection.starts_with("system.") {
        return Err(Code::location(special)
            .error(format!("Can't {stage} to special collection: {collection}")));
    }
    if let Some(database @ ("admin" | "config" | "local")) = database {
        return Err(Code::location(internal)
            .error(format!("Can't {stage} to internal database: {database}")));
    }
    Ok(())
}
