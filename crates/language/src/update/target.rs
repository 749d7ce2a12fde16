//! The paths that an update's operators write to.

use super::tree::{Node, Object};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A path that an operator writes to.
#[derive(Debug, Clone)]
pub struct Target {
    /// `None` stands for any element of an array.
    components: Vec<Option<Box<str>>>,
    /// Whether it does no more than append to an array.
    appends: bool,
}

impl Target {
    pub(super) fn len(&self) -> usize {
        self.components.len()
    }

    /// Whether it writes the whole value of a field or element at this depth, that it leads to.
    pub(super) fn ends_at(&self, depth: usize) -> bool {
        self.len() == depth + 1 && !self.appends
    }
}

/// The paths that the leaves of a tree of operators write to.
pub(super) fn targets(root: &Object) -> Arc<[Target]> {
    let mut found = Vec::new();
    collect_object(root, &mut Vec::new(), &mut found);
    found.into()
}

fn collect_object(object: &Object, path: &mut Vec<Option<Box<str>>>, found: &mut Vec<Target>) {
    for (name, node) in object.children() {
        collect(node, Some(name.clone()), path, found);
    }
    if let Some(node) = object.positional() {
        collect(node, None, path, found);
    }
}

fn collect(
    node: &Node,
    component: Option<Box<str>>,
    path: &mut Vec<Option<Box<str>>>,
    found: &mut Vec<Target>,
) {
    path.push(component);
    match node {
        Node::Object(object) => collect_object(object, path, found),
        Node::Array(array) => {
            array.children.iter().for_each(|child| collect(&child.node, None, path, found));
        }
        Node::Leaf(operator) => {
            found.push(Target { components: path.clone(), appends: operator.appended().is_some() });
        }
    }
    path.pop();
}

/// Targets by the name that each goes on with at some depth.
pub(super) struct Leading<'t> {
    named: FxHashMap<&'t str, Vec<&'t Target>>,
    /// Those that go on with any element.
    any: Vec<&'t Target>,
}

impl<'t> Leading<'t> {
    pub fn of(targets: &[&'t Target], depth: usize) -> Leading<'t> {
        let mut leading = Leading { named: FxHashMap::default(), any: Vec::new() };
        for target in targets {
            match target.components.get(depth) {
                Some(Some(name)) => leading.named.entry(&**name).or_default().push(*target),
                Some(None) => leading.any.push(*target),
                None => {}
            }
        }
        leading
    }

    /// The targets that go on below a name.
    pub fn to(&self, name: &str) -> Vec<&'t Target> {
        let named = self.named.get(name).into_iter().flatten();
        named.chain(&self.any).copied().collect()
    }
}
