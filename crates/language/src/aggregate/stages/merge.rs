//! `$merge`: writes the documents into a collection.

use super::out::check_name;
use super::target::{Target, WhenMatched, WhenNotMatched, Written};
use super::{Specification, Stage, one};
use crate::Context;
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::aggregate::{Pipeline, Place};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::DocumentWriter;
use value::element::{array_elements, elements, get};

/// The parts as they are written.
#[derive(Default)]
struct Parts<'a> {
    into: Option<RawBsonRef<'a>>,
    on: Option<RawBsonRef<'a>>,
    variables: Option<&'a RawDocument>,
    when_matched: Option<RawBsonRef<'a>>,
    when_not_matched: Option<RawBsonRef<'a>>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let parts = match stage.value {
        into @ RawBsonRef::String(_) => Parts { into: Some(into), ..Parts::default() },
        RawBsonRef::Document(spec) => parts(spec)?,
        other => {
            return Err(Code::TypeMismatch.error(format!(
                "$merge requires a string or object argument, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    let Some(into) = parts.into else {
        return Err(
            Code::location(40414).error("BSON field '$merge.into' is missing but a required field")
        );
    };
    let (database, collection) = into_namespace(into)?;
    check_name("$merge", database.as_deref(), &collection)?;
    let on = parts.on.map(on_fields).transpose()?;
    let when_not_matched = not_matched(parts.when_not_matched)?;
    let when_matched = matched(parts.when_matched, parts.variables, stage)?;
    let supported = match when_matched {
        WhenMatched::KeepExisting | WhenMatched::Fail => when_not_matched == WhenNotMatched::Insert,
        _ => true,
    };
    if !supported {
        return Err(Code::location(51181).error(
            "Combination of $merge modes 'whenMatched' and 'whenNotMatched' is not supported",
        ));
    }
    one(Written {
        name: stage.name,
        target: Target::Merge {
            database,
            collection,
            on_given: on.is_some(),
            on: on.unwrap_or_else(|| vec!["_id".to_owned()]),
            when_matched,
            when_not_matched,
        },
    })
}

fn parts(spec: &RawDocument) -> Result<Parts<'_>> {
    let mut parts = Parts::default();
    for element in elements(spec) {
        let value = element.value();
        match element.key {
            "into" => parts.into = Some(value),
            "on" => parts.on = Some(value),
            "whenMatched" => parts.when_matched = Some(value),
            "whenNotMatched" => parts.when_not_matched = Some(value),
            "let" => match value {
                RawBsonRef::Document(variables) => parts.variables = Some(variables),
                other => {
                    return Err(Code::TypeMismatch.error(format!(
                        "BSON field '$merge.let' is the wrong type '{}', expected type 'object'",
                        coerce::type_name(Some(other))
                    )));
                }
            },
            key => {
                return Err(Code::location(40415)
                    .error(format!("BSON field '$merge.{key}' is an unknown field.")));
            }
        }
    }
    Ok(parts)
}

fn into_namespace(into: RawBsonRef<'_>) -> Result<(Option<String>, String)> {
    let spec = match into {
        RawBsonRef::String("") => {
            return Err(
                Code::location(5786800).error("$merge 'into' field cannot be an empty string")
            );
        }
        RawBsonRef::String(collection) => return Ok((None, collection.to_owned())),
        RawBsonRef::Document(spec) => spec,
        other => {
            return Err(Code::location(51178).error(format!(
                "$merge 'into' field  must be either a string or an object, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    let (mut database, mut collection) = (None, None);
    for element in elements(spec) {
        let slot = match element.key {
            "db" => &mut database,
            "coll" => &mut collection,
            key => {
                return Err(Code::location(40415)
                    .error(format!("BSON field 'into.{key}' is an unknown field.")));
            }
        };
        match element.value() {
            RawBsonRef::String(text) => *slot = Some(text.to_owned()),
            other => {
                return Err(Code::TypeMismatch.error(format!(
                    "BSON field 'into.{}' is the wrong type '{}', expected type 'string'",
                    element.key,
                    coerce::type_name(Some(other))
                )));
            }
        }
    }
    match collection.filter(|collection| !collection.is_empty()) {
        Some(collection) => Ok((database, collection)),
        None => Err(Code::location(5786801).error(
            "$merge 'into' field must specify a 'coll' that is not empty, null or undefined",
        )),
    }
}

fn on_fields(on: RawBsonRef<'_>) -> Result<Vec<String>> {
    let mut fields: Vec<String> = Vec::new();
    match on {
        RawBsonRef::String(field) => fields.push(field.to_owned()),
        RawBsonRef::Array(array) => {
            for element in array_elements(array) {
                let RawBsonRef::String(field) = element.value() else {
                    return Err(Code::location(51134).error(format!(
                        "$merge 'on' array elements must be strings, but found {}",
                        coerce::type_name(Some(element.value()))
                    )));
                };
                if fields.iter().any(|known| known == field) {
                    return Err(
                        Code::location(31465).error(format!("Found a duplicate field '{field}'"))
                    );
                }
                fields.push(field.to_owned());
            }
            if fields.is_empty() {
                return Err(Code::location(51187).error(
                    "If explicitly specifying $merge 'on', must include at least one field",
                ));
            }
        }
        other => {
            return Err(Code::location(51186).error(format!(
                "$merge 'on' field  must be either a string or an array of strings, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    }
    for field in &fields {
        FieldPath::parse(field)?;
    }
    Ok(fields)
}

fn not_matched(value: Option<RawBsonRef<'_>>) -> Result<WhenNotMatched> {
    match value {
        None | Some(RawBsonRef::String("insert")) => Ok(WhenNotMatched::Insert),
        Some(RawBsonRef::String("discard")) => Ok(WhenNotMatched::Discard),
        Some(RawBsonRef::String("fail")) => Ok(WhenNotMatched::Fail),
        Some(RawBsonRef::String(other)) => Err(unknown_mode("whenNotMatched", other)),
        Some(other) => Err(Code::TypeMismatch.error(format!(
            "BSON field '$merge.whenNotMatched' is the wrong type '{}', expected type 'string'",
            coerce::type_name(Some(other))
        ))),
    }
}

fn unknown_mode(field: &str, mode: &str) -> error::Error {
    Code::BadValue
        .error(format!("Enumeration value '{mode}' for field '{field}' is not a valid value."))
}

fn matched(
    value: Option<RawBsonRef<'_>>,
    variables: Option<&RawDocument>,
    stage: Specification<'_>,
) -> Result<WhenMatched> {
    let mode = match value {
        None | Some(RawBsonRef::String("merge")) => WhenMatched::Merge,
        Some(RawBsonRef::String("replace")) => WhenMatched::Replace,
        Some(RawBsonRef::String("keepExisting")) => WhenMatched::KeepExisting,
        Some(RawBsonRef::String("fail")) => WhenMatched::Fail,
        Some(RawBsonRef::String(other)) => return Err(unknown_mode("whenMatched", other)),
        Some(RawBsonRef::Array(stages)) => return pipeline(stages, variables, stage),
        Some(other) => {
            return Err(Code::location(51191).error(format!(
                "$merge 'whenMatched' field  must be either a string or an array, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    if variables.is_some() {
        return Err(
            Code::location(51199).error("Cannot use 'let' variables with this 'whenMatched' mode")
        );
    }
    Ok(mode)
}

/// Checks the pipeline and its variables; the runner parses them anew.
fn pipeline(
    stages: &RawArray,
    variables: Option<&RawDocument>,
    stage: Specification<'_>,
) -> Result<WhenMatched> {
    let mut writer = DocumentWriter::new();
    let mut names: Vec<Box<str>> = stage.context.unbound.to_vec();
    let empty = RawDocumentBuf::new();
    let given: &RawDocument = variables.unwrap_or(&empty);
    for element in elements(given) {
        check_write_name(element.key)?;
        if element.key == "new" && element.value() != RawBsonRef::String("$$ROOT") {
            return Err(Code::location(51273).error(
                "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'",
            ));
        }
        Expression::parse(element.value(), stage.context)?;
        names.push(element.key.into());
        writer.copy(element);
    }
    if get(given, "new").is_none() {
        writer.append("new", RawBsonRef::String("$$ROOT"));
        names.push("new".into());
    }
    let context = Context { unbound: names.into(), ..stage.context.clone() };
    Pipeline::parse_nested(stages, &context, Place::Update, stage.depth + 1)?;
    Ok(WhenMatched::Pipeline { stages: stages.to_owned(), variables: writer.finish() })
}
