//! `$fill`: fills missing values. Short for `$setWindowFields` and `$addFields`.

use super::options::Options;
use super::{Specification, Stage, add_fields, set_window_fields};
use crate::aggregate::expressions::coerce;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::DocumentWriter;
use value::element::{array_elements, elements};

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::FailedToParse.error(format!(
            "The $fill stage specification must be an object, found {}",
            coerce::type_name(Some(stage.value))
        )));
    };
    let (mut partition, mut partition_fields, mut sort, mut output) = (None, None, None, None);
    let options = Options::new(stage.name, spec);
    options.each(|option| {
        match option.key {
            "partitionBy" => match option.value() {
                value @ (RawBsonRef::String(_) | RawBsonRef::Document(_)) => {
                    partition = Some(value);
                }
                RawBsonRef::Null | RawBsonRef::Undefined => {}
                other => return Err(options.wrong(option.key, "string, object", other)),
            },
            "partitionByFields" => partition_fields = options.array(option)?,
            "sortBy" => sort = options.object(option)?,
            "output" => output = options.object(option)?,
            key => return Err(options.unknown(key)),
        }
        Ok(())
    })?;
    let output = output.ok_or_else(|| options.missing("output"))?;
    if output.is_empty() {
        return Err(Code::location(6050203).error(
            "The output field in '$fill' must contain an object with at least one element",
        ));
    }
    if partition.is_some() && partition_fields.is_some() {
        return Err(Code::location(6050204).error(
            "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'",
        ));
    }
    let (windows, constants) = outputs(output)?;
    let mut stages = Vec::new();
    if !windows.is_empty() {
        let mut spec = DocumentWriter::new();
        if let Some(sort) = sort {
            spec.append("sortBy", RawBsonRef::Document(sort));
        }
        if let Some(partition) = partition {
            spec.append("partitionBy", partition);
        }
        if let Some(fields) = partition_fields {
            spec.begin_document("partitionBy");
            for element in array_elements(fields) {
                let RawBsonRef::String(field) = element.value() else {
                    let path = format!("partitionByFields.{}", element.key);
                    return Err(options.wrong(&path, "string", element.value()));
                };
                spec.append(field, RawBsonRef::String(&format!("${field}")));
            }
            spec.end();
        }
        spec.append("output", RawBsonRef::Document(&windows));
        let spec = spec.finish();
        let windows = Specification { value: RawBsonRef::Document(&spec), ..stage };
        stages.extend(set_window_fields::parse(windows)?);
    }
    if !constants.is_empty() {
        let constants = Specification { value: RawBsonRef::Document(&constants), ..stage };
        stages.extend(add_fields::parse(constants)?);
    }
    Ok(stages)
}

/// The outputs by method, and those by value.
fn outputs(output: &RawDocument) -> Result<(RawDocumentBuf, RawDocumentBuf)> {
    let (mut windows, mut constants) = (DocumentWriter::new(), DocumentWriter::new());
    for element in elements(output) {
        let RawBsonRef::Document(how) = element.value() else {
            return Err(Code::location(6050200)
                .error("Each fill output specification must be an object with exactly one field"));
        };
        let path = format!("${}", element.key);
        let (mut method, mut value) = (None, None);
        let options = Options::new("$fill", how);
        options.each(|part| {
            match part.key {
                "method" => method = options.string(part)?,
                "value" => value = Some(part.value()),
                key => return Err(options.unknown(key)),
            }
            Ok(())
        })?;
        match (method, value) {
            (Some(name), None) => {
                let function = match name {
                    "locf" => "$locf",
                    "linear" => "$linearFill",
                    _ => {
                        return Err(
                            Code::location(6050202).error("Method must be either locf or linear")
                        );
                    }
                };
                windows.begin_document(element.key);
                windows.append(function, RawBsonRef::String(&path));
                windows.end();
            }
            (None, Some(value)) => {
                constants.begin_document(element.key);
                constants.begin_array("$ifNull");
                constants.push(RawBsonRef::String(&path));
                constants.push(value);
                constants.end();
                constants.end();
            }
            (Some(_), Some(_)) => {
                return Err(Code::location(6050201).error(
                    "Each fill output specification must have exactly one of 'method' or 'value' fields, not both",
                ));
            }
            (None, None) => {}
        }
    }
    Ok((windows.finish(), constants.finish()))
}
