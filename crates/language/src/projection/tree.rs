//! A projection as a tree over the paths of its specification.

use super::slice::Slice;
use crate::Needs;
use crate::aggregate::expressions::Expression;
use crate::query::Filter;
use error::{Code, Result};
use rustc_hash::FxHashMap;
use value::Path;

/// Children up to this many are found by looking at each.
const LINEAR_CHILDREN_MAX: usize = 8;

/// What happens to fields that the tree does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// They are left out.
    Inclusion,
    /// They are kept; what is named goes.
    Exclusion,
    /// They are kept; what is named is computed.
    Addition,
}

/// What happens at the end of a path, or further along it.
#[derive(Debug)]
pub enum Node {
    Branch(Branch),
    Compute(Expression),
    Drop,
    /// The first element that matches. The filter is on the whole document.
    ElemMatch(Filter),
    Keep,
    /// The element that satisfied the query.
    Positional,
    Slice(Slice),
}

/// The fields of a document that the specification names.
#[derive(Debug, Default)]
pub struct Branch {
    /// In the order of the specification.
    children: Vec<(Box<str>, Node)>,
    /// Where each child stands; empty while there are few.
    places: FxHashMap<Box<str>, usize>,
    /// Whether anything below is computed, so that it appears even where the
    /// document has no such field.
    pub computed: bool,
    /// Whether a positional `$` is below.
    pub positional: bool,
}

impl Branch {
    pub fn children(&self) -> &[(Box<str>, Node)] {
        &self.children
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        if self.children.len() <= LINEAR_CHILDREN_MAX {
            self.children.iter().position(|(child, _)| **child == *name)
        } else {
            self.places.get(name).copied()
        }
    }

    pub fn contains(&self, path: &Path) -> bool {
        let mut branch = self;
        for (at, component) in path.components().enumerate() {
            match branch.find(component).map(|found| &branch.children[found].1) {
                Some(Node::Branch(next)) if at + 1 < path.len() => branch = next,
                Some(_) => return true,
                None => return false,
            }
        }
        true
    }

    /// Puts a node at the end of a path.
    pub fn insert(&mut self, path: &Path, node: Node) -> Result<()> {
        let computed = matches!(node, Node::Compute(_) | Node::ElemMatch(_));
        let positional = matches!(node, Node::Positional);
        let (parents, name) = (path.len() - 1, path.component(path.len() - 1));
        let mut branch = self;
        for at in 0..parents {
            branch.computed |= computed;
            branch.positional |= positional;
            branch = branch.below(path.component(at)).ok_or_else(|| {
                Code::location(31249).error(format!(
                    "Path collision at {} remaining portion {}",
                    path.as_str(),
                    path.tail(at + 1)
                ))
            })?;
        }
        branch.computed |= computed;
        branch.positional |= positional;
        if branch.find(name).is_some() {
            return Err(Code::location(31250).error(format!("Path collision at {}", path.as_str())));
        }
        branch.push(name, node);
        Ok(())
    }

    /// The branch of this name, made if there is nothing; `None` if something
    /// else is there.
    fn below(&mut self, name: &str) -> Option<&mut Branch> {
        let at = match self.find(name) {
            Some(at) => at,
            None => {
                self.push(name, Node::Branch(Branch::default()));
                self.children.len() - 1
            }
        };
        match &mut self.children[at].1 {
            Node::Branch(branch) => Some(branch),
            _ => None,
        }
    }

    fn push(&mut self, name: &str, node: Node) {
        self.children.push((name.into(), node));
        if self.places.is_empty() {
            self.index();
        } else {
            self.places.insert(name.into(), self.children.len() - 1);
        }
    }

    pub fn remove(&mut self, name: &str) {
        if let Some(at) = self.find(name) {
            self.children.remove(at);
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

    /// Every path that the specification names.
    pub fn paths(&self, parent: Option<&Path>, out: &mut Vec<Path>) {
        for (name, node) in &self.children {
            let path = join(parent, name);
            match node {
                Node::Branch(branch) => branch.paths(Some(&path), out),
                _ => out.push(path),
            }
        }
    }

    /// The paths whose old values are not part of the result.
    pub fn replaced(&self, parent: Option<&Path>, out: &mut Vec<Path>) {
        for (name, node) in &self.children {
            let path = join(parent, name);
            match node {
                Node::Branch(branch) => branch.replaced(Some(&path), out),
                Node::Drop => out.push(path),
                Node::Compute(_) if parent.is_none() => out.push(path),
                _ => {}
            }
        }
    }

    /// The paths that must be walked into, and what expressions look at. `kept`
    /// asks for the values of kept fields, too.
    pub fn reads(&self, parent: Option<&Path>, kept: bool, needs: &mut Needs) {
        for (name, node) in &self.children {
            let path = join(parent, name);
            match node {
                Node::Branch(branch) => branch.reads(Some(&path), kept, needs),
                Node::Compute(expression) => {
                    expression.needs(needs);
                    if parent.is_some() {
                        needs.add(&path);
                    }
                }
                Node::Keep if kept || parent.is_some() => needs.add(&path),
                // Its parent is walked into to leave it out; it is not looked at.
                Node::Drop if !matches!(needs, Needs::Except(_)) => {
                    if let Some(parent) = parent {
                        needs.add(parent);
                    }
                }
                Node::Drop | Node::Keep => {}
                Node::ElemMatch(_) | Node::Positional | Node::Slice(_) => needs.add(&path),
            }
        }
    }

    /// What expressions look at.
    pub fn computes_from(&self, needs: &mut Needs) {
        for (_, node) in &self.children {
            match node {
                Node::Branch(branch) => branch.computes_from(needs),
                Node::Compute(expression) => expression.needs(needs),
                _ => {}
            }
        }
    }

    /// Whether it names something below a path.
    pub fn goes_below(&self, path: &Path) -> bool {
        let mut branch = self;
        for at in 0..path.len() {
            match branch.find(path.component(at)).and_then(|at| branch.children.get(at)) {
                Some((_, Node::Branch(inner))) => branch = inner,
                _ => return false,
            }
        }
        true
    }
}

fn join(parent: Option<&Path>, name: &str) -> Path {
    parent.map_or_else(|| Path::new(name), |parent| parent.join(name))
}
