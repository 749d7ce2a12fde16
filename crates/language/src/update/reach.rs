//! Whether an update may change what stands at a path.

use super::tree::{Node, Object};
use value::Path;
use value::path::array_index;

/// Whether a tree of operators has one at the path, above it or below it. The
/// path may go through arrays, whose elements it does not name.
pub fn touches(root: &Object, path: &Path) -> bool {
    object_touches(root, path, 0)
}

/// What a tree of operators has at the path, if it has nothing else.
pub fn only<'t>(root: &'t Object, path: &Path) -> Option<&'t Node> {
    let mut object = root;
    for at in 0..path.len() {
        let [(name, node)] = object.children() else { return None };
        if **name != *path.component(at) || object.positional().is_some() {
            return None;
        }
        match node {
            node if at + 1 == path.len() => return Some(node),
            Node::Object(inner) => object = inner,
            _ => return None,
        }
    }
    None
}

fn object_touches(object: &Object, path: &Path, at: usize) -> bool {
    let mut children = object.children().iter();
    children.any(|(name, node)| {
        if **name == *path.component(at) {
            node_touches(node, path, at + 1)
        } else {
            at > 0 && array_index(name).is_some() && node_touches(node, path, at)
        }
    }) || object.positional().is_some_and(|node| node_touches(node, path, at))
}

fn node_touches(node: &Node, path: &Path, at: usize) -> bool {
    if at == path.len() {
        return true;
    }
    match node {
        Node::Leaf(_) => true,
        Node::Object(object) => object_touches(object, path, at),
        Node::Array(array) => array.children.iter().any(|it| node_touches(&it.node, path, at)),
    }
}
