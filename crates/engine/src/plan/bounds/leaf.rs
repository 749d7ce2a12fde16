//! A filter taken apart: its conjuncts, and the predicates that indexes can use.

use crate::index::extract::position;
use language::query::{Node, Predicate};
use value::Path;

/// One predicate on one path that every matching document satisfies.
#[derive(Debug)]
pub struct Leaf<'f> {
    /// Which conjunct of the filter it comes from.
    pub conjunct: usize,
    pub path: Path,
    pub predicate: &'f Predicate,
    /// The `$elemMatch`es it stands in, outermost first.
    pub within: Vec<Element>,
    /// Whether it is only implied by its conjunct, an `$expr`.
    pub implied: bool,
}

/// One `$elemMatch`: predicates within the same one speak of one array element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Tells two `$elemMatch`es on one path apart.
    pub number: usize,
    /// How many components the array's path has.
    pub depth: usize,
}

impl Leaf<'_> {
    /// Whether its conjunct says nothing beside it.
    pub fn is_whole_conjunct(&self) -> bool {
        self.within.is_empty() && !self.implied
    }
}

/// How many components of a path are known to be the same element for two predicates: the
/// depth of the innermost `$elemMatch` they share.
pub fn shared_depth(a: &[Element], b: &[Element]) -> usize {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b);
    shared.last().map_or(0, |(element, _)| element.depth)
}

/// A part of a filter that must hold, and where in the filter it stands.
#[derive(Debug, Clone)]
pub struct Conjunct<'f> {
    pub node: &'f Node,
    pub place: NodePlace,
}

/// The way from a filter's root to one of its nodes: which child at each step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodePlace(Vec<usize>);

impl NodePlace {
    /// The place of a child.
    pub fn child(&self, at: usize) -> NodePlace {
        NodePlace([self.0.as_slice(), &[at]].concat())
    }

    pub fn find<'f>(&self, root: &'f Node) -> &'f Node {
        self.0.iter().fold(root, |node, at| match node {
            Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => nodes.get(*at).unwrap_or(node),
            node => node,
        })
    }
}

/// The parts of a filter, or of the node at some place of it, that must all hold.
pub fn conjuncts<'f>(node: &'f Node, place: &NodePlace) -> Vec<Conjunct<'f>> {
    match node {
        Node::And(nodes) => nodes
            .iter()
            .enumerate()
            .flat_map(|(at, node)| conjuncts(node, &place.child(at)))
            .collect(),
        Node::True => Vec::new(),
        node => vec![Conjunct { node, place: place.clone() }],
    }
}

/// Every leaf of a list of conjuncts.
#[derive(Debug, Default)]
pub struct Leaves<'f> {
    pub leaves: Vec<Leaf<'f>>,
    elements: usize,
}

impl<'f> Leaves<'f> {
    pub fn of(conjuncts: &[Conjunct<'f>]) -> Leaves<'f> {
        let mut leaves = Leaves::default();
        for (at, conjunct) in conjuncts.iter().enumerate() {
            leaves.node(at, conjunct.node, None, &[]);
        }
        leaves
    }

    fn node(&mut self, conjunct: usize, node: &'f Node, above: Option<&Path>, within: &[Element]) {
        match node {
            Node::And(nodes) => {
                nodes.iter().for_each(|node| self.node(conjunct, node, above, within));
            }
            Node::Field(path, predicate) => {
                let path = match above {
                    None => path.clone(),
                    // Within an element a number names a field of it, or a position
                    // in an array that is the element: an index knows neither.
                    Some(_) if is_positional(path) => return,
                    Some(above) => Path::new(&format!("{}.{}", above.as_str(), path.as_str())),
                };
                self.predicate(conjunct, path, predicate, within);
            }
            Node::Expr(expr) => {
                self.leaves.extend(expr.implied.iter().map(|(path, predicate)| Leaf {
                    conjunct,
                    path: path.clone(),
                    predicate,
                    within: Vec::new(),
                    implied: true,
                }));
            }
            _ => {}
        }
    }

    fn predicate(
        &mut self,
        conjunct: usize,
        path: Path,
        predicate: &'f Predicate,
        within: &[Element],
    ) {
        match predicate {
            Predicate::ElemMatchObject(node) => {
                let within = self.element(within, path.len());
                self.node(conjunct, node, Some(&path), &within);
            }
            Predicate::ElemMatchValue(predicates) => {
                let within = self.element(within, path.len());
                for predicate in predicates.iter().filter(|it| !is_of_inner(it)) {
                    self.predicate(conjunct, path.clone(), predicate, &within);
                }
            }
            Predicate::And(predicates) => {
                for predicate in predicates {
                    self.predicate(conjunct, path.clone(), predicate, within);
                }
            }
            predicate => {
                let within = within.to_vec();
                self.leaves.push(Leaf { conjunct, path, predicate, within, implied: false });
            }
        }
    }

    fn element(&mut self, within: &[Element], depth: usize) -> Vec<Element> {
        self.elements += 1;
        let mut within = within.to_vec();
        within.push(Element { number: self.elements, depth });
        within
    }
}

/// Whether it looks into an array that is an element itself: an index has such an element as a
/// whole.
fn is_of_inner(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => true,
        Predicate::And(predicates) => predicates.iter().any(is_of_inner),
        _ => false,
    }
}

/// Whether a component of the path may be a position in an array.
pub fn is_positional(path: &Path) -> bool {
    path.components().any(|component| position(component).is_some())
}
