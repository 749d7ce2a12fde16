//! Filters on documents in which fields stand elsewhere.

use super::Node;
use value::Path;

impl Node {
    /// The same condition where each path is another; `None` if one has none, or if it looks
    /// at more than fields.
    pub fn renamed(&self, source_of: &dyn Fn(&Path) -> Option<Path>) -> Option<Node> {
        let all = |nodes: &[Node]| -> Option<Vec<Node>> {
            nodes.iter().map(|node| node.renamed(source_of)).collect()
        };
        match self {
            Node::And(nodes) => all(nodes).map(Node::And),
            Node::Or(nodes) => all(nodes).map(Node::Or),
            Node::Nor(nodes) => all(nodes).map(Node::Nor),
            Node::Field(path, predicate) => {
                source_of(path).map(|source| Node::Field(source, predicate.clone()))
            }
            Node::True => Some(Node::True),
            Node::False => Some(Node::False),
            Node::Expr(_) | Node::JsonSchema(_) | Node::SampleRate(_) => None,
        }
    }
}
