//! The equalities that a document inserted by an upsert begins with.

use super::{Filter, Node, Predicate};
use bson::RawBsonRef;
use error::{Code, Error, Result};
use value::Path;

impl Filter {
    /// Paths and values of the equalities that every match must satisfy: those
    /// of the top level, of `$and`, of an `$or` with a single branch, of `$in`
    /// and `$all` with a single value. Two for overlapping paths are an error.
    pub fn equalities(&self) -> Result<Vec<(&Path, RawBsonRef<'_>)>> {
        let mut found = Vec::new();
        collect(&self.root, None, &mut found)?;
        Ok(found)
    }

    /// As `equalities`, only of one field and of what is below it.
    pub fn equalities_of(&self, field: &str) -> Result<Vec<(&Path, RawBsonRef<'_>)>> {
        let mut found = Vec::new();
        collect(&self.root, Some(field), &mut found)?;
        Ok(found)
    }
}

fn collect<'f>(
    node: &'f Node,
    only: Option<&str>,
    found: &mut Vec<(&'f Path, RawBsonRef<'f>)>,
) -> Result<()> {
    match node {
        Node::And(nodes) => nodes.iter().try_for_each(|node| collect(node, only, found)),
        Node::Field(path, Predicate::Eq(value)) if only.is_none_or(|only| path.first() == only) => {
            if let Some((other, _)) = found.iter().find(|(other, _)| other.overlaps(path)) {
                return Err(conflict(other, path));
            }
            found.push((path, value.as_raw_bson_ref()));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn conflict(one: &Path, other: &Path) -> Error {
    Code::NotSingleValueField.error(if one == other {
        format!("cannot infer query fields to set, path '{one}' is matched twice")
    } else {
        format!("cannot infer query fields to set, both paths '{one}' and '{other}' are matched")
    })
}
