//! Filters: parsed once, matched against raw documents.

use crate::aggregate::expressions::Expression;
use crate::{Context, Needs};
use bson::{RawBson, RawDocument};
use error::Result;
use value::Path;

/// A parsed filter. `root` is open to the planner, which derives index bounds.
#[derive(Debug)]
pub struct Filter {
    pub root: Node,
}

#[derive(Debug)]
pub enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Nor(Vec<Node>),
    /// `{path: {$op: …}}`; `{path: {$a: …, $b: …}}` is an `And` of two of these.
    Field(Path, Predicate),
    Expr(Expression),
    /// `$alwaysTrue`, `$comment`, an empty filter.
    True,
    /// `$alwaysFalse`, `$in: []`.
    False,
}

/// What a field must satisfy: one variant and one file an operator. This is the
/// planner's view; add variants for the operators that are not listed.
#[derive(Debug)]
pub enum Predicate {
    Eq(RawBson),
    Gt(RawBson),
    Gte(RawBson),
    Lt(RawBson),
    Lte(RawBson),
    /// Values and regular expressions of `$in`.
    In(operators::In),
    Regex(operators::Regex),
    Exists(bool),
    Not(Box<Predicate>),
    And(Vec<Predicate>),
    /// `{a: {$elemMatch: {b: 1}}}`: each element is matched as a document.
    ElemMatchObject(Box<Node>),
    /// `{a: {$elemMatch: {$gt: 1, $lt: 5}}}`: each element is matched as a value.
    ElemMatchValue(Vec<Predicate>),
}

pub mod operators {
    use bson::RawBson;

    #[derive(Debug)]
    pub struct In {
        pub values: Vec<RawBson>,
        pub patterns: Vec<Regex>,
    }

    #[derive(Debug)]
    pub struct Regex {
        pub pattern: String,
        pub options: String,
        /// What every match begins with, if the pattern is anchored and
        /// case-sensitive; the planner turns it into a range.
        pub prefix: Option<String>,
    }
}

impl Filter {
    pub fn parse(filter: &RawDocument, context: &Context) -> Result<Filter> {
        let _ = (filter, context);
        todo!()
    }

    pub fn matches(&self, document: &RawDocument) -> Result<bool> {
        let _ = document;
        todo!()
    }

    /// As `matches`; also tells which array element satisfied the filter, for
    /// the positional `$` of projections and updates.
    pub fn matches_at(&self, document: &RawDocument) -> Result<Option<Matched>> {
        let _ = document;
        todo!()
    }

    pub fn collator(&self) -> Option<&std::sync::Arc<value::Collator>> {
        None
    }

    pub fn matches_part(&self, part: &Node, document: &RawDocument) -> Result<bool> {
        let _ = (part, document);
        todo!()
    }

    pub fn needs(&self, needs: &mut Needs) {
        let _ = needs;
        todo!()
    }
}

/// A match, and the index of the element that made it for the first array met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matched {
    pub element: Option<usize>,
}

impl Node {
    pub fn needs(&self, needs: &mut Needs) {
        let _ = needs;
        todo!()
    }
}
