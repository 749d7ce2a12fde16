//! Evaluating a filter on a document's bytes.

use super::together::Together;
use super::traverse::{self, Leaf, Route};
use super::{Node, Predicate};
use crate::interrupt;
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use value::{Collator, Element, Path, elements};

/// How many values the conditions of one list look at, each by itself, before the rest of
/// them are asked together.
const VALUES_APART_MAX: u32 = 4096;

/// How many values are looked at between two questions whether the work is to stop.
const VALUES_BETWEEN_CHECKS: u32 = 1024;

/// One evaluation.
pub struct Matcher<'f> {
    pub collator: Option<&'f Collator>,
    /// The array index that satisfied the filter; the last condition decides.
    pub position: Option<usize>,
    /// How many values were looked at.
    values: u32,
}

impl<'f> Matcher<'f> {
    pub fn new(collator: Option<&'f Collator>) -> Matcher<'f> {
        Matcher { collator, position: None, values: 0 }
    }

    pub fn node(&mut self, node: &Node, document: &RawDocument) -> Result<bool> {
        match node {
            Node::And(nodes) => self.every(nodes.iter(), document),
            Node::Or(nodes) => self.any(nodes, document),
            Node::Nor(nodes) => self.unpositioned(|matcher| Ok(!matcher.any(nodes, document)?)),
            Node::Field(path, predicate) => self.field(path, predicate, document),
            Node::Expr(expr) => {
                let value = expr.expression.evaluate(document)?;
                Ok(value.is_some_and(|value| value::value::is_true(value.get())))
            }
            Node::JsonSchema(schema) => schema.accepts_document(document),
            Node::SampleRate(rate) => Ok(rand::random::<f64>() < *rate),
            Node::True => Ok(true),
            Node::False => Ok(false),
        }
    }

    /// Whether one value satisfies all of these.
    pub fn all(&mut self, predicates: &[Predicate], element: Option<Element<'_>>) -> Result<bool> {
        for predicate in predicates {
            if !self.single(predicate, element)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a document satisfies all of these.
    pub fn every<'n>(
        &mut self,
        mut nodes: impl Iterator<Item = &'n Node>,
        document: &RawDocument,
    ) -> Result<bool> {
        let before = self.values;
        while let Some(node) = nodes.next() {
            if !self.node(node, document)? {
                return Ok(false);
            }
            if self.values.wrapping_sub(before) > VALUES_APART_MAX {
                let together = Together::of(nodes.collect(), self.collator)?;
                return self.every_together(&together, document);
            }
        }
        Ok(true)
    }

    /// The same for many nodes and a document with long arrays.
    fn every_together(&mut self, nodes: &Together<'_>, document: &RawDocument) -> Result<bool> {
        let mut satisfied = 0;
        let mut last: Option<(usize, usize)> = None;
        nodes.satisfied(document, self.collator, |at, position| {
            satisfied += 1;
            last = last.max(position.map(|position| (at, position)));
        })?;
        if satisfied < nodes.equalities() {
            return Ok(false);
        }
        let before = self.position;
        for (at, node) in &nodes.others {
            self.position = None;
            if !self.node(node, document)? {
                return Ok(false);
            }
            last = last.max(self.position.map(|position| (*at, position)));
        }
        self.position = last.map(|(_, position)| position).or(before);
        Ok(true)
    }

    fn any(&mut self, nodes: &[Node], document: &RawDocument) -> Result<bool> {
        let values = self.values;
        let mut nodes = nodes.iter();
        while let Some(node) = nodes.next() {
            let before = self.position;
            if self.node(node, document)? {
                return Ok(true);
            }
            self.position = before;
            if self.values.wrapping_sub(values) > VALUES_APART_MAX {
                let together = Together::of(nodes.collect(), self.collator)?;
                return self.any_together(&together, document);
            }
        }
        Ok(false)
    }

    /// The same for many nodes and a document with long arrays. The first node that is
    /// satisfied decides about the position.
    fn any_together(&mut self, nodes: &Together<'_>, document: &RawDocument) -> Result<bool> {
        let mut first: Option<(usize, Option<usize>)> = None;
        nodes.satisfied(document, self.collator, |at, position| {
            if first.is_none_or(|(before, _)| at < before) {
                first = Some((at, position));
            }
        })?;
        for (at, node) in &nodes.others {
            if first.is_some_and(|(first, _)| first < *at) {
                break;
            }
            let before = self.position;
            if self.node(node, document)? {
                return Ok(true);
            }
            self.position = before;
        }
        if let Some((_, Some(position))) = first {
            self.position = Some(position);
        }
        Ok(first.is_some())
    }

    /// Counts a value that is looked at.
    #[inline]
    fn count(&mut self) -> Result<()> {
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(VALUES_BETWEEN_CHECKS) {
            return interrupt::check_now();
        }
        Ok(())
    }

    /// What is negated says nothing about the position.
    fn unpositioned(&mut self, evaluate: impl FnOnce(&mut Self) -> Result<bool>) -> Result<bool> {
        let before = self.position;
        let matched = evaluate(self);
        self.position = before;
        matched
    }

    fn field(
        &mut self,
        path: &Path,
        predicate: &Predicate,
        document: &RawDocument,
    ) -> Result<bool> {
        match predicate {
            Predicate::Not(inner) => {
                self.unpositioned(|matcher| Ok(!matcher.field(path, inner, document)?))
            }
            Predicate::Exists(false) => self.unpositioned(|matcher| {
                Ok(!matcher.field(path, &Predicate::Exists(true), document)?)
            }),
            Predicate::And(predicates) => {
                for predicate in predicates {
                    if !self.field(path, predicate, document)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => {
                let route = Route::new(path, predicate.leaf());
                let mut visit = |element: Option<Element<'_>>, position: Option<usize>| {
                    self.count()?;
                    let matched = self.single(predicate, element)?;
                    if matched && position.is_some() {
                        self.position = position;
                    }
                    Ok(matched)
                };
                traverse::document(elements(document), route, &mut visit)
            }
        }
    }

    /// Whether one value, `None` if missing, satisfies the predicate by itself.
    fn single(&mut self, predicate: &Predicate, element: Option<Element<'_>>) -> Result<bool> {
        use super::operators::comparison::{Comparison, compare};
        let collator = self.collator;
        Ok(match predicate {
            Predicate::Eq(value) => compare(Comparison::Eq, element, value, collator),
            Predicate::Gt(value) => compare(Comparison::Gt, element, value, collator),
            Predicate::Gte(value) => compare(Comparison::Gte, element, value, collator),
            Predicate::Lt(value) => compare(Comparison::Lt, element, value, collator),
            Predicate::Lte(value) => compare(Comparison::Lte, element, value, collator),
            Predicate::Exists(expected) => element.is_some() == *expected,
            Predicate::Not(inner) => {
                return self.unpositioned(|matcher| Ok(!matcher.single(inner, element)?));
            }
            Predicate::And(predicates) => return self.all(predicates, element),
            _ => {
                let Some(element) = element else {
                    return Ok(matches!(predicate, Predicate::In(list) if list.has_null()));
                };
                return self.present(predicate, element);
            }
        })
    }

    /// Predicates that no missing value satisfies.
    fn present(&mut self, predicate: &Predicate, element: Element<'_>) -> Result<bool> {
        Ok(match predicate {
            Predicate::In(list) => return list.contains(element, self.collator),
            Predicate::Regex(regex) => return regex.matches(element),
            Predicate::ElemMatchObject(node) => {
                return self.any_item(element, |matcher, item| match item.as_document() {
                    Some(document) => matcher.node(node, document),
                    None => Ok(false),
                });
            }
            Predicate::ElemMatchValue(predicates) => {
                return self.any_item(element, |matcher, item| matcher.all(predicates, Some(item)));
            }
            Predicate::Bits(bits) => bits.matches(element),
            Predicate::Mod(operator) => operator.matches(element),
            Predicate::Size(size) => {
                element.kind == ElementType::Array && element.children().count() as i64 == *size
            }
            Predicate::Type(types) => types.contains(element.kind),
            _ => false,
        })
    }

    fn any_item(
        &mut self,
        element: Element<'_>,
        mut matches: impl FnMut(&mut Self, Element<'_>) -> Result<bool>,
    ) -> Result<bool> {
        if element.kind != ElementType::Array {
            return Ok(false);
        }
        for (index, item) in element.children().items().enumerate() {
            self.count()?;
            let before = self.position;
            let matched = matches(self, item)?;
            self.position = before;
            if matched {
                self.position = Some(index);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Predicate {
    /// Operators on arrays look at the array, all others also at its elements.
    fn leaf(&self) -> Leaf {
        match self {
            Predicate::Size(_) | Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => {
                Leaf::Whole
            }
            _ => Leaf::Each,
        }
    }
}
