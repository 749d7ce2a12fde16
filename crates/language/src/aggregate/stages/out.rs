//! `$out`: replaces a collection by the documents.

use super::options::Options;
use super::target::{Target, Written};
use super::{Specification, Stage, one};
use crate::aggregate::expressions::coerce;
use bson::{RawBsonRef, RawDocument};
use error::{Code, Result};

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
    let options = Options::new("$out", spec);
    options.each(|option| {
        match option.key {
            "db" => database = options.string(option)?.map(str::to_owned),
            "coll" => collection = options.string(option)?.map(str::to_owned),
            "timeseries" => timeseries = options.object(option)?.map(ToOwned::to_owned),
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    Ok(Target::Out {
        database: Some(database.ok_or_else(|| options.missing("db"))?),
        collection: collection.ok_or_else(|| options.missing("coll"))?,
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
