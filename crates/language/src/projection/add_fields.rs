//! `$addFields` and `$set`: every value is an expression.

use super::Projection;
use super::tree::{Branch, Kind, Node};
use crate::aggregate::expressions::{Expression, FieldPath};
use crate::{Context, describe};
use bson::{RawBsonRef, RawDocument};
use error::{Code, Error, Result};
use value::{Element, Path, elements};

pub fn parse(spec: RawBsonRef<'_>, stage: &str, context: &Context) -> Result<Projection> {
    let RawBsonRef::Document(spec) = spec else {
        return Err(Code::location(40272).error(format!(
            "{stage} specification stage must be an object, got {}",
            describe::type_name(spec.element_type())
        )));
    };
    let mut root = Branch::default();
    let parsed = elements(spec).try_for_each(|element| {
        let path = FieldPath::parse(element.key)?.path().clone();
        add(&mut root, path, element, spec, context)
    });
    parsed.map_err(|error: Error| error.context(&format!("Invalid {stage}")))?;
    Ok(Projection { kind: Kind::Addition, root })
}

fn add(
    root: &mut Branch,
    path: Path,
    element: Element<'_>,
    spec: &RawDocument,
    context: &Context,
) -> Result<()> {
    let fields: Vec<Element<'_>> = match element.value() {
        RawBsonRef::Document(document) => elements(document).collect(),
        _ => Vec::new(),
    };
    if fields.is_empty() || (fields.len() == 1 && fields[0].key.starts_with('$')) {
        if root.contains(&path) {
            return Err(Code::location(40176).error(format!(
                "specification contains two conflicting paths. Cannot specify both '{0}' and \
                 '{0}': {1}",
                path.as_str(),
                describe::value(RawBsonRef::Document(spec))
            )));
        }
        let expression = Expression::parse(element.value(), context)?;
        return root.insert(&path, Node::Compute(expression));
    }
    for field in &fields {
        if field.key.starts_with('$') {
            return Err(Code::location(40181).error(format!(
                "an expression specification must contain exactly one field, the name of the \
                 expression. Found {} fields in {}, while parsing object {}",
                fields.len(),
                describe::value(element.value()),
                describe::value(RawBsonRef::Document(spec))
            )));
        }
        if field.key.contains('.') {
            return Err(Code::location(40183).error(format!(
                "cannot use dotted field name '{}' in a sub object: {}",
                field.key,
                describe::value(RawBsonRef::Document(spec))
            )));
        }
        FieldPath::parse(field.key)?;
        add(root, path.join(field.key), *field, spec, context)?;
    }
    Ok(())
}
