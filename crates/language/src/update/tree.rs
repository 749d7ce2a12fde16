//! The update as a tree of path components, an operator at each leaf, so that
//! the document is walked once however many operators there are.

use super::array_filter::ArrayFilter;
use super::operator::Operator;
use crate::interrupt;
use error::{Code, Error, Result};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use value::Path;

/// Children up to this many are found by looking at each.
const LINEAR_CHILDREN_MAX: usize = 8;

#[derive(Debug, Clone)]
pub enum Node {
    Object(Object),
    Array(Array),
    Leaf(Arc<dyn Operator>),
}

/// Updates of fields, or of array elements by number.
#[derive(Debug, Clone, Default)]
pub struct Object {
    /// In the order in which new fields are appended.
    children: Vec<(Box<str>, Node)>,
    /// Where each child stands; empty while there are few.
    places: FxHashMap<Box<str>, usize>,
    /// What `$` stands for is known only once a document has matched.
    positional: Option<Box<Node>>,
}

/// Updates of all elements of an array that a filter picks.
#[derive(Debug, Clone, Default)]
pub struct Array {
    pub children: Vec<Filtered>,
    /// Where the child of each identifier stands; `None` is that of `$[]`.
    places: FxHashMap<Option<Box<str>>, usize>,
}

#[derive(Debug, Clone)]
pub struct Filtered {
    /// `None` is `$[]`: every element.
    pub filter: Option<Arc<ArrayFilter>>,
    pub node: Node,
}

impl Object {
    /// An object of these children, in whatever order.
    pub fn of(children: Vec<(Box<str>, Node)>) -> Object {
        let mut object = Object { children, ..Object::default() };
        object.sort_children();
        object
    }

    /// The same without what stands at the rest of a path.
    pub fn without(&self, path: &Path, at: usize) -> Object {
        let mut object = self.clone();
        let last = at + 1 == path.len();
        object.children.retain(|(name, _)| !last || **name != *path.component(at));
        for (name, node) in &mut object.children {
            if let Node::Object(inner) = node
                && !last
                && **name == *path.component(at)
            {
                *inner = inner.without(path, at + 1);
            }
        }
        object.index();
        object
    }

    pub fn children(&self) -> &[(Box<str>, Node)] {
        &self.children
    }

    /// What is done to the element that matched.
    pub fn positional(&self) -> Option<&Node> {
        self.positional.as_deref()
    }

    /// Where the child of this name stands among the children.
    pub fn find(&self, name: &str) -> Option<usize> {
        if self.children.len() <= LINEAR_CHILDREN_MAX {
            self.children.iter().position(|(child, _)| **child == *name)
        } else {
            self.places.get(name).copied()
        }
    }

    /// The same with `$` resolved to the element that matched.
    pub fn at_match(&self, matched: Option<usize>) -> Result<Cow<'_, Object>> {
        let Some(positional) = &self.positional else {
            return Ok(Cow::Borrowed(self));
        };
        let Some(matched) = matched else {
            return Err(Code::BadValue
                .error("The positional operator did not find the match needed from the query."));
        };
        let name = matched.to_string();
        let mut object = self.clone();
        object.positional = None;
        match object.find(&name) {
            Some(at) => {
                object.children[at].1.merge(positional, &name)?;
                object.children[at].1.sort();
            }
            None => object.push(name.into(), (**positional).clone()),
        }
        object.sort_children();
        Ok(Cow::Owned(object))
    }

    /// Puts every level's children in the order in which they create fields.
    pub fn sort(&mut self) {
        self.sort_children();
        self.children.iter_mut().for_each(|(_, node)| node.sort());
        if let Some(node) = &mut self.positional {
            node.sort();
        }
    }

    fn sort_children(&mut self) {
        self.children.sort_by(interrupt::yielding(|a: &(Box<str>, Node), b: &(Box<str>, Node)| {
            compare_names(&a.0, &b.0)
        }));
        self.index();
    }

    fn push(&mut self, name: Box<str>, node: Node) {
        if !self.places.is_empty() {
            self.places.insert(name.clone(), self.children.len());
        }
        self.children.push((name, node));
        if self.places.is_empty() {
            self.index();
        }
    }

    /// Notes where each child stands, if there are many.
    fn index(&mut self) {
        self.places.clear();
        if self.children.len() > LINEAR_CHILDREN_MAX {
            let names = self.children.iter().enumerate();
            self.places.extend(names.map(|(at, (name, _))| (name.clone(), at)));
        }
    }

    /// The child for a component, made if it is not there.
    fn child(&mut self, component: &str, make: impl FnOnce() -> Node) -> Entry<'_> {
        if component == "$" {
            let found = self.positional.is_some();
            let node = &mut **self.positional.get_or_insert_with(|| Box::new(make()));
            return Entry { node, found };
        }
        let (at, found) = match self.find(component) {
            Some(at) => (at, true),
            None => {
                self.push(component.into(), make());
                (self.children.len() - 1, false)
            }
        };
        Entry { node: &mut self.children[at].1, found }
    }
}

struct Entry<'t> {
    node: &'t mut Node,
    found: bool,
}

impl Array {
    fn child(
        &mut self,
        filter: Option<Arc<ArrayFilter>>,
        make: impl FnOnce() -> Node,
    ) -> Entry<'_> {
        let identifier = filter.as_ref().map(|filter| filter.identifier.clone());
        let found = self.places.get(&identifier).copied();
        let at = found.unwrap_or(self.children.len());
        if found.is_none() {
            self.places.insert(identifier, at);
            self.children.push(Filtered { filter, node: make() });
        }
        Entry { node: &mut self.children[at].node, found: found.is_some() }
    }
}

impl Node {
    pub fn sort(&mut self) {
        match self {
            Node::Object(object) => object.sort(),
            Node::Array(array) => array.children.iter_mut().for_each(|child| child.node.sort()),
            Node::Leaf(_) => {}
        }
    }

    /// Makes this do what another does at the same place, too. Its children are to be sorted
    /// once all are in it.
    pub fn merge(&mut self, other: &Node, path: &str) -> Result<()> {
        match (self, other) {
            (Node::Object(a), Node::Object(b)) => {
                for (name, node) in &b.children {
                    match a.find(name) {
                        Some(at) => a.children[at].1.merge(node, &format!("{path}.{name}"))?,
                        None => a.push(name.clone(), node.clone()),
                    }
                }
                match (&mut a.positional, &b.positional) {
                    (Some(a), Some(b)) => a.merge(b, &format!("{path}.$"))?,
                    (None, Some(b)) => a.positional = Some(b.clone()),
                    (_, None) => {}
                }
                Ok(())
            }
            (Node::Array(a), Node::Array(b)) => {
                for child in &b.children {
                    let entry = a.child(child.filter.clone(), || child.node.clone());
                    if entry.found {
                        entry.node.merge(&child.node, &format!("{path}.$[]"))?;
                    }
                }
                Ok(())
            }
            _ => Err(Code::ConflictingUpdateOperators
                .error(format!("Update created a conflict at '{path}'"))),
        }
    }
}

/// Adds an operator at the end of a path. `filters` are the array filters that
/// the path's `$[…]` components name.
pub fn insert(
    root: &mut Object,
    path: &Path,
    filters: &[Option<Arc<ArrayFilter>>],
    operator: Arc<dyn Operator>,
) -> Result<()> {
    let mut filters = filters.iter();
    let first = root.child(path.component(0), || container_for(path, 1, &operator));
    let mut entry = expect(first, path, 1)?;
    for at in 1..path.len() {
        let make = || container_for(path, at + 1, &operator);
        let next = match entry {
            Node::Object(object) => object.child(path.component(at), make),
            Node::Array(array) => {
                array.child(filters.next().and_then(|filter| filter.clone()), make)
            }
            Node::Leaf(_) => return Err(conflict(path, at)),
        };
        entry = expect(next, path, at + 1)?;
    }
    Ok(())
}

/// What stands after the first `at` components of a path.
fn container_for(path: &Path, at: usize, operator: &Arc<dyn Operator>) -> Node {
    if at == path.len() {
        Node::Leaf(operator.clone())
    } else if is_filtered(path.component(at)) {
        Node::Array(Array::default())
    } else {
        Node::Object(Object::default())
    }
}

/// Refuses a node that was there before and cannot take this path further.
fn expect<'t>(entry: Entry<'t>, path: &Path, at: usize) -> Result<&'t mut Node> {
    let fits = match &entry.node {
        Node::Leaf(_) => !entry.found,
        Node::Object(_) => at < path.len() && !is_filtered(path.component(at)),
        Node::Array(_) => at < path.len() && is_filtered(path.component(at)),
    };
    if fits { Ok(entry.node) } else { Err(conflict(path, at)) }
}

fn conflict(path: &Path, at: usize) -> Error {
    let prefix: Vec<&str> = path.components().take(at).collect();
    Code::ConflictingUpdateOperators.error(format!(
        "Updating the path '{}' would create a conflict at '{}'",
        path.as_str(),
        prefix.join(".")
    ))
}

/// Whether a component is `$[]` or `$[identifier]`.
pub fn is_filtered(component: &str) -> bool {
    component.starts_with("$[") && component.ends_with(']')
}

/// The order in which new fields are appended: numbers by value and first, then
/// the rest by bytes.
pub fn compare_names(a: &str, b: &str) -> Ordering {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    match (is_number(a), is_number(b)) {
        (true, true) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}
