//! `$replaceRoot` and `$replaceWith`: replaces each document by a value of it.

use super::options::Options;
use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use crate::metadata::{self, Asked};
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

#[derive(Debug)]
struct ReplaceRoot {
    name: &'static str,
    root: Expression,
    /// The metadata that the pipeline asks for: it goes over to the new root.
    asked: Arc<Asked>,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let root = if stage.name == "$replaceWith" { stage.value } else { new_root(stage.value)? };
    let root = Expression::parse(root, stage.context)?;
    one(ReplaceRoot { name: stage.name, root, asked: stage.context.asked.clone() })
}

fn new_root(value: RawBsonRef<'_>) -> Result<RawBsonRef<'_>> {
    let RawBsonRef::Document(spec) = value else {
        return Err(Code::location(40229).error(format!(
            "expected an object as specification for $replaceRoot stage, got {}",
            coerce::type_name(Some(value))
        )));
    };
    let mut root = None;
    let options = Options::new("$replaceRoot", spec);
    options.each(|option| match option.key {
        "newRoot" => {
            root = Some(option.value());
            Ok(())
        }
        key => Err(options.unknown(key)),
    })?;
    root.ok_or_else(|| options.missing("newRoot"))
}

impl Stage for ReplaceRoot {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        map(input, self)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.root.needs(needs);
        ControlFlow::Break(())
    }

    fn transform(&self) -> Option<&dyn Transform> {
        Some(self)
    }
}

impl Transform for ReplaceRoot {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        match self.root.evaluate_owned(document)? {
            Some(RawBson::Document(root)) => {
                Ok(metadata::carry(document, root, self.asked.wanted()))
            }
            other => {
                let what =
                    if self.name == "$replaceWith" { "replacement document" } else { "newRoot" };
                let other = other.as_ref().map(RawBson::as_raw_bson_ref);
                Err(Code::location(40228).error(format!(
                    "'{what}' expression must evaluate to an object, but resulting value was: {}. Type of resulting value: '{}'",
                    other.map_or_else(|| "MISSING".to_owned(), describe::value),
                    coerce::type_name(other)
                )))
            }
        }
    }

    fn reads(&self, needs: &mut Needs) {
        self.root.needs(needs);
    }

    fn computes_from(&self, needs: &mut Needs) {
        self.root.needs(needs);
    }
}
