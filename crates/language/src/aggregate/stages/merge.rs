//! `$merge`: writes the documents into a collection.

use super::options::Options;
use super::out::check_name;
use super::target::{Target, WhenMatched, WhenNotMatched, Written};
use super::{Specification, Stage, one};
use crate::Binding;
use crate::aggregate::expressions::parser::check_write_name;
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::aggregate::{Pipeline, Place};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use rustc_hash::FxHashSet;
use value::DocumentWriter;
use value::element::{array_elements, elements, get};

/// The parts as they are written.
#[derive(Default)]
struct Parts<'a> {
    into: Option<RawBsonRef<'a>>,
    on: Option<RawBsonRef<'a>>,
    variables: Option<&'a RawDocument>,
    when_matched: Option<RawBsonRef<'a>>,
    when_not_matched: Option<&'a str>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let parts = match stage.value {
        RawBsonRef::String("") => {
            return Err(Code::InvalidNamespace.error("Invalid $merge target namespace: ''"));
        }
        into @ RawBsonRef::String(_) => Parts { into: Some(into), ..Parts::default() },
        RawBsonRef::Document(spec) => parts(spec)?,
        other => {
            return Err(Code::TypeMismatch.error(format!(
                "$merge requires a string or object argument, but found {}",
                coerce::type_name(Some(other))
            )));
        }
    };
    let into = parts.into.unwrap_or(RawBsonRef::Null);
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
    let options = Options::new("$merge", spec);
    options.each(|option| {
        match option.key {
            "into" => parts.into = Some(option.value()),
            "on" => parts.on = Some(option.value()),
            "whenMatched" => parts.when_matched = Some(option.value()),
            "whenNotMatched" => parts.when_not_matched = options.string(option)?,
            "let" => parts.variables = options.object(option)?,
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    match parts.into {
        Some(_) => Ok(parts),
        None => Err(options.missing("into")),
    }
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
    let options = Options::new("into", spec);
    options.each(|option| {
        match option.key {
            "db" => database = options.string(option)?.map(str::to_owned),
            "coll" => collection = options.string(option)?.map(str::to_owned),
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    let database = database.filter(|database| !database.is_empty());
    match collection.filter(|collection| !collection.is_empty()) {
        Some(collection) => Ok((database, collection)),
        None => Err(Code::location(5786801).error(
            "$merge 'into' field must specify a 'coll' that is not empty, null or undefined",
        )),
    }
}

fn on_fields(on: RawBsonRef<'_>) -> Result<Vec<String>> {
    let mut fields: Vec<String> = Vec::new();
    let mut known = FxHashSet::default();
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
                if !known.insert(field) {
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

fn not_matched(mode: Option<&str>) -> Result<WhenNotMatched> {
    match mode {
        None | Some("insert") => Ok(WhenNotMatched::Insert),
        Some("discard") => Ok(WhenNotMatched::Discard),
        Some("fail") => Ok(WhenNotMatched::Fail),
        Some(other) => Err(unknown_mode("whenNotMatched", other)),
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
    let mut bindings = Vec::new();
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
        bindings.push(Binding::new(element.key));
        writer.copy(element);
    }
    if get(given, "new").is_none() {
        writer.append("new", RawBsonRef::String("$$ROOT"));
        bindings.push(Binding::new("new"));
    }
    // Only parsed: its constants are those of the updates that it makes.
    let context = stage.context.binding(bindings).without_folding();
    Pipeline::parse_nested(stages, &context, Place::Update, stage.depth + 1)?;
    Ok(WhenMatched::Pipeline { stages: stages.to_owned(), variables: writer.finish() })
}
