//! Evaluating a filter on a document's bytes.

use super::traverse::{self, Leaf, Route};
use super::{Node, Predicate};
use bson::RawDocument;
use bson::spec::ElementType;
use error::Result;
use value::{Collator, Element, Path, elements};

/// One evaluation.
pub struct Matcher<'f> {
    pub collator: Option<&'f Collator>,
    /// The array index that satisfied the filter; the last condition decides.
    pub position: Option<usize>,
}

impl<'f> Matcher<'f> {
    pub fn new(collator: Option<&'f Collator>) -> Matcher<'f> {
        Matcher { collator, position: None }
    }

    pub fn node(&mut self, node: &Node, document: &RawDocument) -> Result<bool> {
        match node {
            Node::And(nodes) => {
                for node in nodes {
                    if !self.node(node, document)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
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

    fn any(&mut self, nodes: &[Node], document: &RawDocument) -> Result<bool> {
        for node in nodes {
            let before = self.position;
            if self.node(node, document)? {
                return Ok(true);
            }
            self.position = before;
        }
        Ok(false)
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
