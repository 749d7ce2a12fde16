//! `$unset`: removes fields.

use super::tree::{Change, Tree};
use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::Needs;
use crate::aggregate::expressions::FieldPath;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;
use value::element::array_elements;

#[derive(Debug)]
struct Unset {
    tree: Tree,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let mut tree = Tree::default();
    match stage.value {
        RawBsonRef::String(path) => remove(&mut tree, path)?,
        RawBsonRef::Array(paths) => {
            for element in array_elements(paths) {
                let RawBsonRef::String(path) = element.value() else {
                    return Err(Code::location(31120)
                        .error("$unset specification must be a string or an array containing only string values"));
                };
                remove(&mut tree, path)?;
            }
        }
        _ => {
            return Err(
                Code::location(31002).error("$unset specification must be a string or an array")
            );
        }
    }
    if tree.is_empty() {
        return Err(Code::location(31119)
            .error("$unset specification must be a string or an array with at least one field"));
    }
    one(Unset { tree })
}

/// A stage that removes one field.
pub fn one_field(path: &Path) -> Box<dyn Stage> {
    let mut tree = Tree::default();
    // The first path of a tree conflicts with none.
    let _ = tree.insert(path, Change::Remove);
    Box::new(Unset { tree })
}

fn remove(tree: &mut Tree, path: &str) -> Result<()> {
    let field = FieldPath::parse(path)?;
    tree.insert(field.path(), Change::Remove)
        .map_err(|_| Code::location(31250).error(format!("Path collision at {path}")))
}

impl Stage for Unset {
    fn name(&self) -> &'static str {
        "$unset"
    }

    fn run(self: Box<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        map(input, self)
    }

    fn needs(&self, _: &mut Needs) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(self.tree.paths())
    }

    fn transform(&self) -> Option<&dyn Transform> {
        Some(self)
    }
}

impl Transform for Unset {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        self.tree.apply(document)
    }
}
