//! An update that is a pipeline of the stages that work on one document.

use super::replacement::replace;
use crate::aggregate::expressions::Expression;
use crate::projection::Projection;
use crate::query::Matched;
use crate::{Context, Needs, describe};
use bson::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use value::element::array_elements;
use value::{Element, Path, Value, elements};

/// How many stages a pipeline may have.
const STAGES_MAX: usize = 1000;

#[derive(Debug)]
pub struct UpdatePipeline {
    stages: Vec<Stage>,
}

#[derive(Debug)]
enum Stage {
    Project(Projection),
    ReplaceRoot(Expression),
}

impl UpdatePipeline {
    pub fn parse(stages: &RawArray, context: &Context) -> Result<UpdatePipeline> {
        let mut parsed = Vec::new();
        for stage in array_elements(stages) {
            if parsed.len() == STAGES_MAX {
                return Err(Code::location(7749501).error(format!(
                    "Pipeline length must be no longer than {STAGES_MAX} stages."
                )));
            }
            let RawBsonRef::Document(stage) = stage.value() else {
                return Err(Code::TypeMismatch
                    .error("Each element of the 'pipeline' array must be an object"));
            };
            let mut fields = elements(stage);
            let (Some(stage), None) = (fields.next(), fields.next()) else {
                return Err(Code::location(40323).error(
                    "A pipeline stage specification object must contain exactly one field.",
                ));
            };
            parsed.push(Stage::parse(stage, context)?);
        }
        Ok(UpdatePipeline { stages: parsed })
    }

    pub fn apply(&self, before: &RawDocument) -> Result<Option<RawDocumentBuf>> {
        let mut document: Option<RawDocumentBuf> = None;
        for stage in &self.stages {
            document = Some(stage.apply(document.as_deref().unwrap_or(before))?);
        }
        match document {
            Some(after) if after.as_bytes() != before.as_bytes() => {
                let after = replace(before, &after)?;
                Ok((after.as_bytes() != before.as_bytes()).then_some(after))
            }
            _ => Ok(None),
        }
    }

    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&Path::new("_id"));
        for stage in &self.stages {
            match stage {
                Stage::Project(projection) => projection.reads(needs),
                Stage::ReplaceRoot(expression) => expression.needs(needs),
            }
        }
    }
}

impl Stage {
    fn parse(stage: Element<'_>, context: &Context) -> Result<Stage> {
        match stage.key {
            "$addFields" | "$set" => {
                Projection::parse_add_fields(stage.value(), stage.key, context).map(Stage::Project)
            }
            "$project" => match stage.value() {
                RawBsonRef::Document(spec) => {
                    Projection::parse_stage(spec, context).map(Stage::Project)
                }
                _ => Err(Code::location(15969).error("$project specification must be an object")),
            },
            "$replaceRoot" => new_root(stage)
                .and_then(|root| Expression::parse(root, context))
                .map(Stage::ReplaceRoot),
            "$replaceWith" => Expression::parse(stage.value(), context).map(Stage::ReplaceRoot),
            "$unset" => Projection::parse_unset(stage.value(), context).map(Stage::Project),
            name => Err(Code::InvalidOptions
                .error(format!("{name} is not allowed to be used within an update"))),
        }
    }

    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match self {
            Stage::Project(projection) => projection.apply(document, Matched::default()),
            Stage::ReplaceRoot(expression) => {
                let value = expression.evaluate(document)?;
                match value.as_ref().map(Value::get) {
                    Some(RawBsonRef::Document(root)) => Ok(root.to_owned()),
                    other => Err(Code::location(40228).error(format!(
                        "'newRoot' expression must evaluate to an object, but resulting value \
                         was: {}. Type of resulting value: '{}'. Input document: {}",
                        other.map_or_else(|| "MISSING".to_owned(), describe::value),
                        other.map_or("missing", |value| describe::type_name(value.element_type())),
                        describe::value(RawBsonRef::Document(document))
                    ))),
                }
            }
        }
    }
}

/// The expression of `{$replaceRoot: {newRoot: …}}`.
fn new_root(stage: Element<'_>) -> Result<RawBsonRef<'_>> {
    let RawBsonRef::Document(spec) = stage.value() else {
        return Err(Code::location(40229).error(format!(
            "expected an object as specification for $replaceRoot stage, got {}",
            describe::type_name(stage.kind)
        )));
    };
    let mut root = None;
    for option in elements(spec) {
        if option.key != "newRoot" {
            return Err(Code::location(40415)
                .error(format!("BSON field '$replaceRoot.{}' is an unknown field.", option.key)));
        }
        root = Some(option.value());
    }
    root.ok_or_else(|| {
        Code::location(40231).error("no newRoot specified for the $replaceRoot stage")
    })
}
