//! One array's part of an update, apart from the rest.
//!
//! Whoever keeps an array in several places applies its part to each place by
//! itself, as far as the part's scope allows.

use super::operator::Scope;
use super::set_of_operators::Operators;
use super::tree::{Node, Object};
use super::{Kind, Update};
use crate::Needs;
use crate::query::Matched;
use error::Result;
use std::ops::Range;
use value::path::array_index;
use value::{Element, Path};

/// What an update does to an array.
#[derive(Debug)]
pub struct Part {
    /// How much of the array it must see.
    pub scope: Scope,
    /// This part alone; `None` where it cannot be taken apart from the rest: it is
    /// about the array as one value, or about a document that holds it.
    pub update: Option<Update>,
    path: Path,
}

/// What stands at an array's path.
struct Found<'a> {
    scope: Scope,
    /// `None` where it cannot be taken apart from the rest.
    node: Option<&'a Node>,
}

impl Update {
    /// The part that is about the array at a path of field names, if there is one.
    /// A replacement and a pipeline are about every value.
    pub fn part(&self, path: &Path) -> Option<Part> {
        let Found { scope, node } = self.find(path)?;
        let update = node.map(|node| alone(path, node.clone()));
        Some(Part { scope, update, path: path.clone() })
    }

    /// Whether there is a part that can be taken apart from the rest.
    pub fn has_part(&self, path: &Path) -> bool {
        self.find(path).is_some_and(|found| found.node.is_some())
    }

    /// What the update looks at without its parts at some paths: all that is left
    /// where it is not made of operators.
    pub fn needs_without(&self, paths: &[&Path], needs: &mut Needs) {
        match &self.kind {
            Kind::Operators(operators) => operators.needs_without(paths, needs),
            Kind::Replacement(_) | Kind::Pipeline(_) => self.needs(needs),
        }
    }

    fn find(&self, path: &Path) -> Option<Found<'_>> {
        let whole = |scope| Some(Found { scope, node: None });
        let Kind::Operators(operators) = &self.kind else { return whole(Scope::Value) };
        let mut object = operators.root();
        for at in 0..path.len() {
            let node = &object.children()[object.find(path.component(at))?].1;
            match node {
                Node::Leaf(operator) if at + 1 < path.len() => {
                    // Above the array, whatever it does to arrays it does to a value.
                    return whole(match operator.scope() {
                        scope @ (Scope::Compared | Scope::Removed | Scope::Renamed) => scope,
                        _ => Scope::Value,
                    });
                }
                Node::Object(inner) if at + 1 < path.len() => object = inner,
                Node::Array(_) if at + 1 < path.len() => return whole(Scope::Value),
                node => {
                    let scope = scope(node);
                    return Some(Found { scope, node: scope.is_apart().then_some(node) });
                }
            }
        }
        None
    }

    /// The update without its part at a path; `None` unless it is made of
    /// operators.
    pub fn without(&self, path: &Path) -> Option<Update> {
        match &self.kind {
            Kind::Operators(operators) => {
                Some(Update { kind: Kind::Operators(operators.without(path)) })
            }
            Kind::Replacement(_) | Kind::Pipeline(_) => None,
        }
    }
}

impl Part {
    /// The same with `$` resolved to the element that matched, by its number in the array.
    pub fn at_match(&self, matched: Matched) -> Result<Part> {
        let node = self.update.as_ref().and_then(|update| update.node(&self.path));
        let Some(Node::Object(object)) = node else {
            return Ok(Part { scope: self.scope, update: None, path: self.path.clone() });
        };
        let node = Node::Object(object.at_match(matched.element)?.into_owned());
        let scope = scope(&node);
        Ok(Part { scope, update: Some(alone(&self.path, node)), path: self.path.clone() })
    }

    /// The elements that it adds.
    pub fn added(&self) -> Vec<Element<'_>> {
        match self.update.as_ref().and_then(|update| update.node(&self.path)) {
            Some(Node::Leaf(operator)) => operator.added(),
            _ => Vec::new(),
        }
    }

    /// The numbers of the elements it names, in order.
    pub fn numbers(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = numbered(self.children()).map(|(number, _)| number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// What it does to the elements with these numbers, for a place that counts
    /// from the first of them.
    pub fn window(&self, numbers: Range<usize>) -> Option<Update> {
        let children = self.children();
        // Their names are in order, by number.
        let first = children.partition_point(|(name, _)| {
            array_index(name).is_some_and(|number| number < numbers.start)
        });
        let inside: Vec<_> = numbered(children.get(first..).unwrap_or_default())
            .take_while(|(number, _)| numbers.contains(number))
            .map(|(number, node)| ((number - numbers.start).to_string().into(), node.clone()))
            .collect();
        (!inside.is_empty()).then(|| alone(&self.path, Node::Object(Object::of(inside))))
    }

    /// What it does to what the array holds, by name.
    fn children(&self) -> &[(Box<str>, Node)] {
        let node = self.update.as_ref().and_then(|update| update.node(&self.path));
        match node {
            Some(Node::Object(object)) => object.children(),
            _ => &[],
        }
    }
}

fn numbered(children: &[(Box<str>, Node)]) -> impl Iterator<Item = (usize, &Node)> {
    children.iter().filter_map(|(name, node)| Some((array_index(name)?, node)))
}

impl Update {
    /// What stands at a path of the tree.
    fn node(&self, path: &Path) -> Option<&Node> {
        let Kind::Operators(operators) = &self.kind else { return None };
        let mut object = operators.root();
        for at in 0..path.len() - 1 {
            match &object.children()[object.find(path.component(at))?].1 {
                Node::Object(inner) => object = inner,
                _ => return None,
            }
        }
        Some(&object.children()[object.find(path.last())?].1)
    }
}

/// How much of an array a node at its path must see.
fn scope(node: &Node) -> Scope {
    match node {
        Node::Leaf(operator) => operator.scope(),
        Node::Array(array) => {
            Scope::Each { all: array.children.iter().any(|child| child.filter.is_none()) }
        }
        Node::Object(object) if object.positional().is_some() => Scope::Matched,
        Node::Object(object) => {
            let mut children = object.children().iter();
            if children.clone().any(|(_, node)| moves(node)) {
                return Scope::Renamed;
            }
            let numbered = children.all(|(name, _)| array_index(name).is_some());
            if numbered { Scope::Numbered } else { Scope::Inside }
        }
    }
}

/// Whether a value is taken from what a node stands for, or put there.
fn moves(node: &Node) -> bool {
    match node {
        Node::Leaf(operator) => operator.moves(),
        Node::Object(object) => object.children().iter().any(|(_, node)| moves(node)),
        // Nothing moves by names that are not fixed.
        Node::Array(_) => false,
    }
}

/// An update with one node, at a path.
fn alone(path: &Path, node: Node) -> Update {
    let node = path
        .components()
        .skip(1)
        .rev()
        .fold(node, |node, name| Node::Object(Object::of(vec![(name.into(), node)])));
    let root = Object::of(vec![(path.first().into(), node)]);
    Update { kind: Kind::Operators(Operators::of(root, path.clone())) }
}

#[cfg(test)]
mod tests {
    use super::super::operator::Ends;
    use super::*;
    use crate::Context;
    use crate::query::Matched;
    use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

    fn update(spec: &RawDocument) -> Update {
        Update::parse(RawBsonRef::Document(spec), None, &Context::new()).unwrap()
    }

    fn scope_of(spec: &RawDocument) -> Option<Scope> {
        update(spec).part(&Path::new("a.b")).map(|part| part.scope)
    }

    fn ends(front: bool, slice: Option<i64>) -> Scope {
        Scope::Ends(Ends { front, slice })
    }

    #[test]
    fn scopes_say_what_must_be_seen() {
        for (spec, scope) in [
            (rawdoc! { "$push": { "a.b": 1 } }, Scope::End),
            (rawdoc! { "$push": { "a.b": { "$each": [1], "$slice": 3 } } }, ends(false, Some(3))),
            (rawdoc! { "$push": { "a.b": { "$each": [1], "$position": 0 } } }, ends(true, None)),
            (rawdoc! { "$push": { "a.b": { "$each": [1], "$position": 1 } } }, Scope::Whole),
            (
                rawdoc! { "$push": { "a.b": { "$each": [1], "$slice": 3, "$sort": 1 } } },
                Scope::Whole,
            ),
            (rawdoc! { "$addToSet": { "a.b": 1 } }, Scope::Whole),
            (rawdoc! { "$pull": { "a.b": 1 } }, Scope::Each { all: false }),
            (rawdoc! { "$pop": { "a.b": -1 } }, Scope::First),
            (rawdoc! { "$pop": { "a.b": 1 } }, Scope::Last),
            (rawdoc! { "$set": { "a.b.$[].c": 1 } }, Scope::Each { all: true }),
            (rawdoc! { "$set": { "a.b.3.c": 1, "a.b.7": 2 } }, Scope::Numbered),
            (rawdoc! { "$set": { "a.b.$": 1 } }, Scope::Matched),
            (rawdoc! { "$set": { "a.b": [1] } }, Scope::Value),
            (rawdoc! { "$set": { "a": 1 } }, Scope::Value),
            (rawdoc! { "$max": { "a.b": [1] } }, Scope::Compared),
            (rawdoc! { "$min": { "a": {} } }, Scope::Compared),
            (rawdoc! { "$unset": { "a": 1 } }, Scope::Removed),
            (rawdoc! { "$rename": { "a.b": "c" } }, Scope::Renamed),
            (rawdoc! { "$rename": { "c": "a.b.0" } }, Scope::Renamed),
            (rawdoc! { "$rename": { "a.b.7.x": "c" }, "$set": { "a.b.1": 1 } }, Scope::Renamed),
            (rawdoc! { "$set": { "a.b.00": 1 } }, Scope::Inside),
            (rawdoc! { "$set": { "a.b.0": 1 }, "$unset": { "a.b.x": 1 } }, Scope::Inside),
            (rawdoc! { "x": 1 }, Scope::Value),
        ] {
            assert_eq!(scope_of(&spec), Some(scope), "{spec:?}");
        }
        assert_eq!(scope_of(&rawdoc! { "$push": { "a.c": 1, "b": 1 } }), None);
    }

    #[test]
    fn what_else_changes_is_known() {
        let path = Path::new("a.b");
        let only = |spec: &RawDocument| update(spec).touches_only(&path);
        assert!(
            only(&rawdoc! { "$push": { "a.b": 1 } }) && only(&rawdoc! { "$set": { "a.b.3": 1 } })
        );
        assert!(!only(&rawdoc! { "$push": { "a.b": 1, "a.c": 1 } }));
        assert!(!only(&rawdoc! { "$push": { "a.b": 1 }, "$inc": { "n": 1 } }));
        assert!(!only(&rawdoc! { "$set": { "a": 1 } }) && !only(&rawdoc! { "a": { "b": 1 } }));
        assert!(!only(&rawdoc! { "$rename": { "a.b": "c" } }));
        let appended = |spec: &RawDocument| update(spec).appended(&path);
        assert_eq!(appended(&rawdoc! { "$push": { "a.b": 1 } }), Some(1));
        assert_eq!(appended(&rawdoc! { "$push": { "a.b": { "$each": [1, 2] } } }), Some(2));
        assert_eq!(appended(&rawdoc! { "$push": { "a.b": { "$each": [1], "$slice": 1 } } }), None);
        assert_eq!(appended(&rawdoc! { "$push": { "a.b": 1, "c": 1 } }), None);
        assert_eq!(appended(&rawdoc! { "$set": { "a.b.3": 1 } }), None);
    }

    fn apply(update: &Update, document: &RawDocument) -> RawDocumentBuf {
        let after = update.apply(document, Matched::default()).unwrap();
        after.unwrap_or_else(|| document.to_owned())
    }

    #[test]
    fn a_part_and_the_rest_make_the_whole() {
        let spec = rawdoc! { "$push": { "a.b": 9, "c": 8 }, "$inc": { "a.n": 1 } };
        let (whole, path) = (update(&spec), Path::new("a.b"));
        let document = rawdoc! { "a": { "b": [1], "n": 1 }, "c": [1] };
        let rest = apply(&whole.without(&path).unwrap(), &document);
        assert_eq!(rest, rawdoc! { "a": { "b": [1], "n": 2 }, "c": [1, 8] });
        let part = whole.part(&path).unwrap().update.unwrap();
        assert_eq!(apply(&part, &rest), apply(&whole, &document));
        let mut needs = Needs::none();
        whole.needs_without(&[&path], &mut needs);
        assert_eq!(needs, Needs::Paths(vec![Path::new("c"), Path::new("a.n")]));
        assert!(whole.has_part(&path) && !whole.has_part(&Path::new("a")));
    }

    #[test]
    fn a_window_counts_from_its_start() {
        let whole = update(&rawdoc! { "$set": { "a.b.3": "x", "a.b.12.y": "z", "q": 1 } });
        let part = whole.part(&Path::new("a.b")).unwrap();
        assert_eq!(part.numbers(), [3, 12]);
        assert!(part.window(4..12).is_none());
        let window = part.window(2..5).unwrap();
        let document = rawdoc! { "a": { "b": [1, 2, 3] } };
        assert_eq!(apply(&window, &document), rawdoc! { "a": { "b": [1, "x", 3] } });
    }
}
