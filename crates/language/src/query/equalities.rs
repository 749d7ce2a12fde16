//! The equalities that a document inserted by an upsert begins with.

use super::{Filter, Node, Predicate};
use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Error, Result};
use value::Path;
use value::path::Apart;

impl Filter {
    /// Paths and values of the equalities that every match must satisfy: those
    /// of the top level, of `$and`, of an `$or` with a single branch, of `$in`
    /// and `$all` with a single value. Two for overlapping paths are an error.
    pub fn equalities(&self) -> Result<Vec<(&Path, RawBsonRef<'_>)>> {
        let mut found = Found::default();
        found.collect(&self.root, None)?;
        Ok(found.equalities)
    }

    /// As `equalities`, only of one field and of what is below it.
    pub fn equalities_of(&self, field: &str) -> Result<Vec<(&Path, RawBsonRef<'_>)>> {
        let mut found = Found::default();
        found.collect(&self.root, Some(field))?;
        Ok(found.equalities)
    }
}

#[derive(Default)]
struct Found<'f> {
    equalities: Vec<(&'f Path, RawBsonRef<'f>)>,
    apart: Apart<'f>,
}

impl<'f> Found<'f> {
    fn collect(&mut self, node: &'f Node, only: Option<&str>) -> Result<()> {
        match node {
            Node::And(nodes) => nodes.iter().try_for_each(|node| self.collect(node, only)),
            Node::Field(path, Predicate::Eq(value))
                if only.is_none_or(|only| path.first() == only) =>
            {
                interrupt::check()?;
                if !self.apart.add(path)
                    && let Some((other, _)) = self.equalities.iter().find(|it| it.0.overlaps(path))
                {
                    return Err(conflict(other, path));
                }
                self.equalities.push((path, value.as_raw_bson_ref()));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn conflict(one: &Path, other: &Path) -> Error {
    Code::NotSingleValueField.error(if one == other {
        format!("cannot infer query fields to set, path '{one}' is matched twice")
    } else {
        format!("cannot infer query fields to set, both paths '{one}' and '{other}' are matched")
    })
}
