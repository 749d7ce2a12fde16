//! Filters: parsed once, matched against raw documents.
//!
//! `parse` turns a filter document into a tree of `Node`s and `Predicate`s with
//! the operators of `operators`; `matching` evaluates the tree, reaching values
//! through `traverse`, which knows what a dotted path means where arrays are met.

mod by_element;
mod display;
mod equalities;
mod implied;
mod matching;
pub mod operators;
mod parse;
pub mod refusal;
mod relaxed;
mod renamed;
mod together;
pub(crate) mod traverse;

#[cfg(test)]
mod tests;

use crate::schema::Schema;
use crate::{Context, Extent, Needs, interrupt};
use bson::{RawBson, RawDocument, RawDocumentBuf};
use error::Result;
use matching::Matcher;
use std::sync::Arc;
use value::{Collator, Element, Path, wide};

/// A parsed filter. `root` is open to the planner, which derives index bounds.
#[derive(Debug)]
pub struct Filter {
    pub root: Node,
    /// How strings compare.
    pub collator: Option<Arc<Collator>>,
}

#[derive(Debug, Clone)]
pub enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Nor(Vec<Node>),
    /// `{path: {$op: …}}`; `{path: {$a: …, $b: …}}` is an `And` of two of these.
    Field(Path, Predicate),
    Expr(Arc<operators::Expr>),
    JsonSchema(Arc<Schema>),
    /// Matches with this probability.
    SampleRate(f64),
    /// `$alwaysTrue`, `$comment`, an empty filter.
    True,
    /// `$alwaysFalse`, `$in: []`.
    False,
}

/// What a field must satisfy: one variant and one file an operator.
#[derive(Debug, Clone)]
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
    /// `$ne` is `Not(Eq)`, `$nin` is `Not(In)`.
    Not(Box<Predicate>),
    /// Several operators below a `$not`, or the elements of `$all`. Each must be
    /// satisfied by itself, if by different elements of an array. On a field it
    /// is an `And` of nodes instead.
    And(Vec<Predicate>),
    /// `{a: {$elemMatch: {b: 1}}}`: each element is matched as a document.
    ElemMatchObject(Box<Node>),
    /// `{a: {$elemMatch: {$gt: 1, $lt: 5}}}`: each element is matched as a value.
    ElemMatchValue(Vec<Predicate>),
    Bits(operators::Bits),
    Mod(operators::Mod),
    /// The number of elements of an array.
    Size(i64),
    Type(operators::Types),
    /// What an `$expr` implies of a field. It stands in no filter, only in
    /// [`operators::Expr::implied`], for the planner.
    Beyond(operators::Beyond),
}

impl Filter {
    pub fn parse(filter: &RawDocument, context: &Context) -> Result<Filter> {
        let root = parse::document(filter, &parse::Scope::top(context))?;
        Ok(Filter { root, collator: context.collator.clone() })
    }

    /// What the documents of a collection must match: as `parse`, without what only
    /// a command can prepare.
    pub fn parse_validator(filter: &RawDocument, context: &Context) -> Result<Filter> {
        let root = parse::document(filter, &parse::Scope::validator(context))?;
        Ok(Filter { root, collator: context.collator.clone() })
    }

    /// A condition inside an update or a projection, which may not use `$expr`,
    /// `$jsonSchema` and the like.
    pub fn parse_plain(filter: &RawDocument, context: &Context) -> Result<Filter> {
        let root = parse::document(filter, &parse::Scope::plain(context))?;
        Ok(Filter { root, collator: context.collator.clone() })
    }

    pub fn matches(&self, document: &RawDocument) -> Result<bool> {
        interrupt::check()?;
        let _entered = wide::enter(document);
        Matcher::new(self.collator.as_deref()).node(&self.root, document)
    }

    /// As `matches`; also tells which array element satisfied the filter, for
    /// the positional `$` of projections and updates.
    pub fn matches_at(&self, document: &RawDocument) -> Result<Option<Matched>> {
        interrupt::check()?;
        let _entered = wide::enter(document);
        let mut matcher = Matcher::new(self.collator.as_deref());
        let matched = matcher.node(&self.root, document)?;
        Ok(matched.then_some(Matched { element: matcher.position }))
    }

    /// An operator that the filter has and that looks at whole documents, if there is one.
    pub fn special(&self) -> Option<&'static str> {
        self.root.special()
    }

    /// Whether a document satisfies all of these parts of the filter.
    pub fn matches_parts<'n>(
        &self,
        parts: impl Iterator<Item = &'n Node>,
        document: &RawDocument,
    ) -> Result<bool> {
        interrupt::check()?;
        let _entered = wide::enter(document);
        Matcher::new(self.collator.as_deref()).every(parts, document)
    }

    pub fn collator(&self) -> Option<&Arc<Collator>> {
        self.collator.as_ref()
    }

    pub fn needs(&self, needs: &mut Needs) {
        self.root.needs(needs);
    }

    /// What decides whether a document matches, where `needs` is only what it must see the
    /// values of.
    pub fn depends_on(&self, needs: &mut Needs) {
        self.root.depends_on(needs);
    }

    /// Whether every document matches.
    pub fn is_always_true(&self) -> bool {
        matches!(self.root, Node::True)
    }
}

/// A condition on one value, such as an element of an array: `$pull`'s, or what
/// `$elemMatch` asks of each element.
#[derive(Debug)]
pub struct ValueFilter {
    condition: Condition,
    collator: Option<Arc<Collator>>,
}

#[derive(Debug)]
enum Condition {
    /// `{b: 1}`: the value is matched as a document.
    Document(Node),
    /// `{$gt: 5}`: the value itself is matched.
    Value(Vec<Predicate>),
}

impl ValueFilter {
    /// Operators (`{$gt: 5}`) ask about the value, anything else about the fields
    /// of a value that is a document.
    pub fn parse(condition: &RawDocument, context: &Context) -> Result<ValueFilter> {
        let scope = parse::Scope::top(context).inner()?;
        let condition = match parse::element_condition(condition, &scope)? {
            Predicate::ElemMatchObject(node) => Condition::Document(*node),
            Predicate::ElemMatchValue(predicates) => Condition::Value(predicates),
            other => Condition::Value(vec![other]),
        };
        Ok(ValueFilter { condition, collator: context.collator.clone() })
    }

    pub fn matches(&self, element: Element<'_>) -> Result<bool> {
        interrupt::check()?;
        let mut matcher = Matcher::new(self.collator.as_deref());
        match &self.condition {
            Condition::Document(node) => match element.as_document() {
                Some(document) => matcher.node(node, document),
                None => Ok(false),
            },
            Condition::Value(predicates) => matcher.all(predicates, Some(element)),
        }
    }
}

impl Node {
    fn special(&self) -> Option<&'static str> {
        match self {
            Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => {
                nodes.iter().find_map(Node::special)
            }
            Node::Expr(..) => Some("$expr"),
            Node::JsonSchema(_) => Some("$jsonSchema"),
            _ => None,
        }
    }

    /// All of these, simplified.
    fn and(nodes: Vec<Node>) -> Node {
        let mut kept = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::And(inner) => kept.extend(inner),
                Node::True => {}
                Node::False => return Node::False,
                node => kept.push(node),
            }
        }
        match kept.len() {
            0 => Node::True,
            1 => kept.remove(0),
            _ => Node::And(kept),
        }
    }

    /// Any of these, simplified.
    fn or(nodes: Vec<Node>) -> Node {
        let mut kept = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Or(inner) => kept.extend(inner),
                Node::False => {}
                Node::True => return Node::True,
                node => kept.push(node),
            }
        }
        match kept.len() {
            0 => Node::False,
            1 => kept.remove(0),
            _ => Node::Or(kept),
        }
    }

    /// A predicate on a field, in the form the planner expects.
    fn field(path: &Path, predicate: Predicate) -> Node {
        match predicate {
            Predicate::And(all) => {
                Node::and(all.into_iter().map(|one| Node::field(path, one)).collect())
            }
            Predicate::In(list) if list.is_empty() => Node::False,
            predicate => Node::Field(path.clone(), predicate),
        }
    }

    /// As `Filter::to_document`, for a part of a filter.
    pub fn to_document(&self) -> RawDocumentBuf {
        display::document(self)
    }

    pub fn needs(&self, needs: &mut Needs) {
        match self {
            Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => {
                nodes.iter().for_each(|node| node.needs(needs));
            }
            Node::Field(path, predicate) => predicate.needs(path, needs),
            Node::Expr(expr) => expr.expression.needs(needs),
            Node::JsonSchema(schema) => schema.needs(needs),
            Node::SampleRate(_) | Node::True | Node::False => {}
        }
    }

    /// What decides whether a document matches. That is more than what it must see the values
    /// of (`needs`): a schema may only ask whether a field is there.
    pub fn depends_on(&self, needs: &mut Needs) {
        match self {
            Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => {
                nodes.iter().for_each(|node| node.depends_on(needs));
            }
            Node::JsonSchema(schema) => schema.depends_on(needs),
            node => node.needs(needs),
        }
    }

    /// Whether equal documents may be matched differently.
    pub fn is_random(&self) -> bool {
        match self {
            Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => {
                nodes.iter().any(Node::is_random)
            }
            Node::Expr(expr) => !expr.expression.is_pure(),
            Node::SampleRate(_) => true,
            Node::Field(..) | Node::JsonSchema(_) | Node::True | Node::False => false,
        }
    }
}

impl Predicate {
    /// What it looks at of the field at `path`.
    fn needs(&self, path: &Path, needs: &mut Needs) {
        let (above, last) = (path.parent(), path.last());
        match (self, above) {
            // An array that has an element has a first one.
            (Predicate::Exists(_), Some(array)) if last == "0" => {
                needs.add_extent(&array, Extent { first: 1, ..Extent::default() });
            }
            (Predicate::Exists(_), _) => needs.add_extent(path, Extent::default()),
            (Predicate::Size(_), _) => needs.add_extent(path, Extent::LEN),
            _ => needs.add(path),
        }
    }
}

/// A match, and the index of the element that made it for the first array met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matched {
    pub element: Option<usize>,
}

impl Filter {
    /// The filter as the planner sees it, in MongoDB's normalised form, for
    /// `explain`: `{a: 1}` is `{a: {$eq: 1}}`, several conditions are an `$and`.
    pub fn to_document(&self) -> RawDocumentBuf {
        display::document(&self.root)
    }
}
