//! `$unset`: a path, or an array of paths, to leave out.

use super::Projection;
use super::tree::{Branch, Kind, Node};
use crate::aggregate::expressions::FieldPath;
use bson::RawBsonRef;
use error::{Code, Error, Result};
use value::element::array_elements;

pub fn parse(spec: RawBsonRef<'_>) -> Result<Projection> {
    let mut paths = Vec::new();
    match spec {
        RawBsonRef::String(path) => paths.push(path),
        RawBsonRef::Array(array) => {
            for element in array_elements(array) {
                let RawBsonRef::String(path) = element.value() else {
                    return Err(Code::location(31120).error(
                        "$unset specification must be a string or an array containing only string \
                         values",
                    ));
                };
                paths.push(path);
            }
        }
        _ => {
            return Err(
                Code::location(31002).error("$unset specification must be a string or an array")
            );
        }
    }
    if paths.is_empty() {
        return Err(Code::location(31119)
            .error("$unset specification must be a string or an array with at least one field"));
    }
    let mut root = Branch::default();
    let inserted = paths
        .into_iter()
        .try_for_each(|path| root.insert(FieldPath::parse(path)?.path(), Node::Drop));
    inserted.map_err(|error: Error| error.context("Invalid $unset"))?;
    Ok(Projection { kind: Kind::Exclusion, root })
}
