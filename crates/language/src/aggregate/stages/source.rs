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
        "$collStats" => {
            (&["latencyStats", "storageStats", "count", "queryExecStats", "targetAllNodes"], 40166)
        }
        "$currentOp" => (
            &[
                "allUsers",
                "idleConnections",
                "idleSessions",
                "idleCursors",
                "localOps",
                "truncateOps",
                "targetAllNodes",
            ],
            14,
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
    for (at, element) in elements(options).enumerate() {
        if !known.contains(&element.key) {
            return Err(unknown(stage.name, element.key));
        }
        // Options are few, since each is known and none stands twice.
        if elements(options).take(at).any(|earlier| earlier.key == element.key) {
            return Err(Code::location(40413).error(format!(
                "BSON field '{}.{}' is a duplicate field",
                stage.name, element.key
            )));
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
        "$indexStats" => Code::location(28803)
            .error("The $indexStats stage specification must be an empty object"),
        _ => Code::location(40415)
            .error(format!("BSON field '{name}.{option}' is an unknown field.")),
    }
}

/// A flag of `$currentOp`; whose operations are listed is never left open by a null.
fn check_flag(option: &str, value: RawBsonRef<'_>) -> Result<()> {
    if matches!(option, "allUsers" | "localOps") && coerce::is_nullish(Some(value)) {
        return Err(not_boolean(option, value));
    }
    optional_boolean(option, value)?;
    check_nodes("$currentOp", option, value)
}

/// There are no other nodes to ask.
fn check_nodes(stage: &str, option: &str, value: RawBsonRef<'_>) -> Result<()> {
    match (option, value) {
        ("targetAllNodes", RawBsonRef::Boolean(true)) => Err(Code::FailedToParse
            .error(format!("{stage} supports targetAllNodes parameter only for sharded clusters"))),
        _ => Ok(()),
    }
}

fn optional_boolean(option: &str, value: RawBsonRef<'_>) -> Result<()> {
    match value {
        RawBsonRef::Boolean(_) | RawBsonRef::Null | RawBsonRef::Undefined => Ok(()),
        other => Err(not_boolean(option, other)),
    }
}

fn not_boolean(option: &str, value: RawBsonRef<'_>) -> error::Error {
    Code::TypeMismatch.error(format!(
        "Field '{option}' should be a boolean value, but found: {}",
        coerce::type_name(Some(value))
    ))
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
    if option == "targetAllNodes" {
        optional_boolean(option, value)?;
        return check_nodes("$collStats", option, value);
    }
    let fields = match value {
        RawBsonRef::Document(fields) => fields,
        RawBsonRef::Null | RawBsonRef::Undefined => return Ok(()),
        other => {
            return Err(Code::TypeMismatch.error(format!(
                "BSON field '$collStats.{option}' is the wrong type '{}', expected type 'object'",
                coerce::type_name(Some(other))
            )));
        }
    };
    match option {
        "latencyStats" => elements(fields).try_for_each(|field| match field.key {
            "histograms" => optional_boolean(field.key, field.value()),
            key => Err(unknown("$collStats.latencyStats", key)),
        }),
        // Other options of the storage are ignored, as in MongoDB.
        "storageStats" => elements(fields).try_for_each(|field| match field.key {
            "scale" => check_scale(field.value()),
            "verbose" | "waitForLock" | "numericOnly" => optional_boolean(field.key, field.value()),
            _ => Ok(()),
        }),
        _ if fields.is_empty() => Ok(()),
        _ => Err(Code::location(31170)
            .error(format!("expected an empty object, but got {}", describe::value(value)))),
    }
}

fn check_scale(value: RawBsonRef<'_>) -> Result<()> {
    match Number::from_value(value) {
        None if coerce::is_nullish(Some(value)) => Ok(()),
        None => Err(Code::TypeMismatch.error(format!(
            "BSON field '$collStats.storageStats.scale' is the wrong type '{}', expected types \
             '[long, int, decimal, double]'",
            coerce::type_name(Some(value))
        ))),
        Some(_) => Ok(()),
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

    /// Whether it tells what the server does now, which no commit is needed for.
    pub fn is_of_the_server(&self) -> bool {
        matches!(self.name, "$currentOp" | "$listLocalSessions")
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
