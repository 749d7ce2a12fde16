//! `$addFields` and `$set`: adds or replaces fields.

use super::tree::{Change, Tree};
use super::{Documents, Foreign, Specification, Stage, Transform, map, one};
use crate::aggregate::expressions::{Expression, FieldPath, coerce};
use crate::{Context, Needs};
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Path;
use value::element::elements;

#[derive(Debug)]
pub struct AddFields {
    name: &'static str,
    tree: Tree,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(spec) = stage.value else {
        return Err(Code::location(40272).error(format!(
            "{} specification stage must be an object, got {}",
            stage.name,
            coerce::type_name(Some(stage.value))
        )));
    };
    if spec.is_empty() {
        return Err(Code::location(40177).error(format!(
            "Invalid {} :: caused by :: specification must have at least one field",
            stage.name
        )));
    }
    let mut tree = Tree::default();
    for element in elements(spec) {
        field(&mut tree, element.key, element.value(), stage.context)?;
    }
    one(AddFields { name: stage.name, tree })
}

/// A field to set: a document of fields goes below it, unless it is an operator.
fn field(tree: &mut Tree, path: &str, value: RawBsonRef<'_>, context: &Context) -> Result<()> {
    if let RawBsonRef::Document(document) = value {
        let Some(first) = elements(document).next() else {
            return Err(Code::location(40180)
                .error(format!("an empty object is not a valid value. Found at path {path}")));
        };
        let fields = elements(document).count();
        if first.key.starts_with('$') && fields > 1 {
            return Err(Code::location(40181).error(format!(
                "an expression specification must contain exactly one field, the name of the expression. Found {fields} fields in {}, while parsing at path {path}",
                coerce::show(value)
            )));
        }
        if !first.key.starts_with('$') {
            for element in elements(document) {
                if element.key.starts_with('$') {
                    return Err(Code::location(40182).error(format!(
                        "cannot use an expression {} mixed with fields at path {path}",
                        element.key
                    )));
                }
                if element.key.contains('.') {
                    return Err(Code::location(40183).error(format!(
                        "cannot use dotted field name '{}' in a sub object: {}",
                        element.key,
                        coerce::show(value)
                    )));
                }
                let path = format!("{path}.{}", element.key);
                field(tree, &path, element.value(), context)?;
            }
            return Ok(());
        }
    }
    let field = FieldPath::parse(path)?;
    let expression = Expression::parse(value, context)?;
    tree.insert(field.path(), Change::Set(expression)).map_err(|_| {
        Code::location(40176).error(format!(
            "specification contains two conflicting paths. Cannot specify both '{path}' and a part of it"
        ))
    })
}

impl AddFields {
    /// Sets one path to the value of an expression.
    pub fn set(path: &Path, expression: Expression) -> AddFields {
        let mut tree = Tree::default();
        // The first path of a tree conflicts with none.
        let _ = tree.insert(path, Change::Set(expression));
        AddFields { name: "$addFields", tree }
    }
}

impl Stage for AddFields {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(self: Box<Self>, input: Documents, _: &Arc<dyn Foreign>) -> Result<Documents> {
        map(input, self)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.tree.needs(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(self.tree.paths())
    }

    fn transform(&self) -> Option<&dyn Transform> {
        Some(self)
    }
}

impl Transform for AddFields {
    fn apply(&self, document: &RawDocument) -> Result<RawDocumentBuf> {
        self.tree.apply(document)
    }
}
