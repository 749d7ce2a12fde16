//! `$documents`: documents that are written in the pipeline.

use super::{Documents, Foreign, Source, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use bson::{RawBsonRef, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Value;
use value::element::array_elements;

#[derive(Debug)]
struct Written {
    expression: Expression,
    source: Source,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let expression = Expression::parse(stage.value, stage.context)?;
    if let Some(value) = expression.constant() {
        documents(value)?;
    }
    one(Written { expression, source: Source { name: stage.name, options: RawDocumentBuf::new() } })
}

fn documents(value: Option<RawBsonRef<'_>>) -> Result<Vec<RawDocumentBuf>> {
    let Some(RawBsonRef::Array(array)) = value else {
        return Err(Code::location(5858203)
            .error(format!("$documents requires an array, found: {}", coerce::type_name(value))));
    };
    array_elements(array)
        .map(|element| match element.value() {
            RawBsonRef::Document(document) => Ok(document.to_owned()),
            other => Err(Code::location(40228).error(format!(
                "'newRoot' expression must evaluate to an object, but resulting value was: {}",
                describe::value(other)
            ))),
        })
        .collect()
}

impl Stage for Written {
    fn name(&self) -> &'static str {
        self.source.name
    }

    fn run(self: Arc<Self>, _: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        let empty = RawDocumentBuf::new();
        let value = self.expression.evaluate(&empty)?;
        let documents = documents(value.as_ref().map(Value::get))?;
        Ok(Box::new(documents.into_iter().map(Ok)))
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn source(&self) -> Option<&Source> {
        Some(&self.source)
    }
}
