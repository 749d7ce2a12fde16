//! `$redact`: keeps, prunes or descends into documents, level by level.

use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::expressions::{Expression, Frame, Parser};
use crate::describe;
use bson::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::element::{array_elements, elements};
use value::{ArrayWriter, DocumentWriter, Value};

const KEEP: &str = "keep";
const PRUNE: &str = "prune";
const DESCEND: &str = "descend";

#[derive(Debug)]
struct Redact {
    expression: Expression,
    /// The slot of `CURRENT`; the three answers follow it.
    slot: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let mut parser = Parser::new(stage.context);
    let names = ["CURRENT", "DESCEND", "PRUNE", "KEEP"];
    let (slot, node) = parser.with_variables(&names, |parser| parser.operand(stage.value))?;
    one(Redact { expression: Expression::from_node(node, stage.context)?, slot })
}

impl Redact {
    fn document(
        &self,
        current: &RawDocument,
        root: &RawDocument,
    ) -> Result<Option<RawDocumentBuf>> {
        let text = |text| Some(Value::Ref(RawBsonRef::String(text)));
        let values = [
            Some(Value::Ref(RawBsonRef::Document(current))),
            text(DESCEND),
            text(PRUNE),
            text(KEEP),
        ];
        let frame = Frame { first: self.slot, values: &values, parent: None };
        let answer = self.expression.evaluate_in(root, &frame)?;
        match answer.as_ref().and_then(RawBson::as_str) {
            Some(KEEP) => Ok(Some(current.to_owned())),
            Some(PRUNE) => Ok(None),
            Some(DESCEND) => {
                let mut out = DocumentWriter::new();
                for element in elements(current) {
                    match element.value() {
                        RawBsonRef::Document(inner) => {
                            if let Some(inner) = self.document(inner, root)? {
                                out.append(element.key, RawBsonRef::Document(&inner));
                            }
                        }
                        RawBsonRef::Array(array) => {
                            let array = self.array(array, root)?;
                            out.append(element.key, RawBsonRef::Array(&array));
                        }
                        _ => out.copy(element),
                    }
                }
                Ok(Some(out.finish()))
            }
            _ => Err(Code::location(17053).error(format!(
                "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned {}",
                answer.map_or_else(String::new, |answer| describe::value(answer.as_raw_bson_ref()))
            ))),
        }
    }

    fn array(&self, array: &RawArray, root: &RawDocument) -> Result<RawArrayBuf> {
        let mut out = ArrayWriter::new();
        for element in array_elements(array) {
            match element.value() {
                RawBsonRef::Document(inner) => {
                    if let Some(inner) = self.document(inner, root)? {
                        out.push(RawBsonRef::Document(&inner));
                    }
                }
                RawBsonRef::Array(inner) => out.push(RawBsonRef::Array(&self.array(inner, root)?)),
                _ => out.copy(element),
            }
        }
        Ok(out.finish())
    }
}

impl Stage for Redact {
    fn name(&self) -> &'static str {
        "$redact"
    }

    fn run(self: Arc<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        let redact = move |document: Result<RawDocumentBuf>| {
            let document = document?;
            self.document(&document, &document)
        };
        Ok(Box::new(input.map(redact).filter_map(Result::transpose)))
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        needs.all();
        ControlFlow::Continue(())
    }
}
