//! Stages whose documents the runner provides: statistics, sessions, changes.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::coerce;
use crate::describe;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::elements;
use value::number::Number;

/// Where a pipeline's documents come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The stage: `$collStats`, `$currentOp`, `$documents`, …
    pub name: &'static str,
    pub options: RawDocumentBuf,
}

/// A stage of the pipeline that stands for its source.
#[derive(Debug)]
struct Provided(Source);

/// Which options a source takes, and the code where its argument is no object.
fn options(name: &str) -> (&'static [&'static str], i32) {
    match name {
        "$changeStream" => (
            &[
                "fullDocument",
                "fullDocumentBeforeChange",
                "resumeAfter",
                "startAfter",
                "startAtOperationTime",
                "allChangesForCluster",
                "showExpandedEvents",
                "showSystemEvents",
                "showMigrationEvents",
                "allowToRunOnConfigDB",
                "allowToRunOnSystemNS",
                "matchCollectionUUIDForUpdateLookup",
                "version",
            ],
            50808,
        ),
        "$collStats" => (&["latencyStats", "storageStats", "count", "queryExecStats"], 40166),
        "$currentOp" => (
            &[
                "allUsers",
                "idleConnections",
                "idleSessions",
                "idleCursors",
                "localOps",
                "backtrace",
                "truncateOps",
                "targetAllNodes",
            ],
            9,
        ),
        "$listSessions" | "$listLocalSessions" => (&["allUsers", "users"], 14),
        "$planCacheStats" => (&["allHosts"], 28932),
        _ => (&[], 28803),
    }
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let (known, wrong) = options(stage.name);
    let RawBsonRef::Document(options) = stage.value else {
        return Err(Code::location(wrong).error(format!(
            "{} must take a nested object but found: {}",
            stage.name,
            describe::value(stage.value)
        )));
    };
    for element in elements(options) {
        if !known.contains(&element.key) {
            return Err(unknown(stage.name, element.key));
        }
        match stage.name {
            "$collStats" => check_collection_statistics(element.key, element.value())?,
            "$currentOp" => check_flag(element.key, element.value())?,
            "$listSessions" | "$listLocalSessions" => {
                check_session_option(stage.name, element.key, element.value())?;
            }
            _ => {}
        }
    }
    one(Provided(Source { name: stage.name, options: options.to_owned() }))
}

fn unknown(name: &str, option: &str) -> error::Error {
    match name {
        "$currentOp" => Code::FailedToParse
            .error(format!("Unrecognized option '{option}' in $currentOp stage.")),
        "$indexStats" => Code::location(28803)
            .error("The $indexStats stage specification must be an empty object"),
        _ => Code::location(40415)
            .error(format!("BSON field '{name}.{option}' is an unknown field.")),
    }
}

fn check_flag(option: &str, value: RawBsonRef<'_>) -> Result<()> {
    match value {
        RawBsonRef::Boolean(_) => Ok(()),
        other => Err(Code::FailedToParse.error(format!(
            "The '{option}' parameter of the $currentOp stage must be a boolean value, but found: {}",
            coerce::type_name(Some(other))
        ))),
    }
}

fn check_session_option(stage: &str, option: &str, value: RawBsonRef<'_>) -> Result<()> {
    let expected = if option == "users" { "array" } else { "bool" };
    match (option, value) {
        (_, RawBsonRef::Null | RawBsonRef::Undefined)
        | ("users", RawBsonRef::Array(_))
        | ("allUsers", RawBsonRef::Boolean(_)) => Ok(()),
        (_, other) => Err(Code::TypeMismatch.error(format!(
            "BSON field '{stage}.{option}' is the wrong type '{}', expected type '{expected}'",
            coerce::type_name(Some(other))
        ))),
    }
}

fn check_collection_statistics(option: &str, value: RawBsonRef<'_>) -> Result<()> {
    let known: &[&str] = match option {
        "latencyStats" => &["histograms"],
        "storageStats" => &["scale", "verbose", "waitForLock", "numericOnly"],
        _ => &[],
    };
    if let RawBsonRef::Document(fields) = value {
        if known.is_empty() && !fields.is_empty() {
            return Err(Code::BadValue.error(format!("'{option}' must be an empty object")));
        }
        for field in elements(fields) {
            if !known.contains(&field.key) {
                return Err(Code::location(40415).error(format!(
                    "BSON field '$collStats.{option}.{}' is an unknown field.",
                    field.key
                )));
            }
            check_statistics_option(option, field.key, field.value())?;
        }
    }
    if !matches!(value, RawBsonRef::Document(_) | RawBsonRef::Null | RawBsonRef::Undefined) {
        return Err(Code::TypeMismatch.error(format!(
            "BSON field '$collStats.{option}' is the wrong type '{}', expected type 'object'",
            coerce::type_name(Some(value))
        )));
    }
    Ok(())
}

fn check_statistics_option(of: &str, option: &str, value: RawBsonRef<'_>) -> Result<()> {
    let number = Number::from_value(value).is_some();
    let (fits, expected) = match (option, value) {
        (_, RawBsonRef::Null | RawBsonRef::Undefined) => (true, ""),
        ("histograms", value) => (matches!(value, RawBsonRef::Boolean(_)), "type 'bool'"),
        ("scale", _) => (number, "types '[long, int, decimal, double]'"),
        (_, value) => {
            let flag = number || matches!(value, RawBsonRef::Boolean(_));
            (flag, "types '[bool, long, int, decimal, double]'")
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Code::TypeMismatch.error(format!(
            "BSON field '$collStats.{of}.{option}' is the wrong type '{}', expected {expected}",
            coerce::type_name(Some(value))
        ))),
    }
}

impl Source {
    /// Whether it may be used in `{aggregate: 1}`, without a collection.
    pub fn is_collectionless(&self) -> bool {
        matches!(
            self.name,
            "$changeStream" | "$currentOp" | "$documents" | "$listCatalog" | "$listLocalSessions"
        )
    }

    /// Whether it reads no collection, so that none may be named.
    pub fn is_independent(&self) -> bool {
        matches!(self.name, "$currentOp" | "$documents" | "$listLocalSessions")
    }
}

impl Stage for Provided {
    fn name(&self) -> &'static str {
        self.0.name
    }

    /// The runner has put the source's documents into the input.
    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        Ok(input)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.all();
        ControlFlow::Break(())
    }

    fn source(&self) -> Option<&Source> {
        Some(&self.0)
    }
}
