//! Filters without what some of their conditions look at.

use super::{Filter, Node};
use crate::Needs;
use value::Path;

impl Filter {
    /// What of the filter looks at none of some paths: every document that passes the filter
    /// passes this one. What goes by chance is left out too, so that nobody is drawn twice.
    pub fn relaxed(&self, hidden: &[&Path]) -> Filter {
        let root = relaxed(&self.root, hidden).unwrap_or(Node::True);
        Filter { root, collator: self.collator.clone() }
    }

    /// What satisfies this filter and one condition more.
    pub fn and(&self, node: &Node) -> Filter {
        let root = Node::and(vec![self.root.clone(), node.clone()]);
        Filter { root, collator: self.collator.clone() }
    }
}

fn relaxed(node: &Node, hidden: &[&Path]) -> Option<Node> {
    match node {
        Node::And(nodes) => {
            let nodes: Vec<Node> = nodes.iter().filter_map(|it| relaxed(it, hidden)).collect();
            (!nodes.is_empty()).then_some(Node::And(nodes))
        }
        node => (!node.is_relaxed_by(hidden)).then(|| node.clone()),
    }
}

impl Node {
    /// Whether a condition, which is no `$and`, is left out where these paths are hidden.
    pub fn is_relaxed_by(&self, hidden: &[&Path]) -> bool {
        let mut needs = Needs::none();
        self.depends_on(&mut needs);
        matches!(self, Node::SampleRate(_)) || hidden.iter().any(|path| needs.contains(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;
    use bson::{RawDocumentBuf, rawdoc};

    fn relaxed(filter: &RawDocumentBuf) -> Filter {
        Filter::parse(filter, &Context::new()).unwrap().relaxed(&[&Path::new("s.a")])
    }

    #[test]
    fn only_what_sees_no_hidden_path_is_left() {
        let filter = rawdoc! {
            "s.a": 1, "k": { "$lt": 5, "$gt": 1 }, "s.b": { "$in": [1, 2] },
            "$or": [{ "s.a": 2 }, { "k": 1 }], "$and": [{ "s": { "a": [1] } }, { "t": "x" }],
            "$expr": { "$eq": ["$s", 1] }, "$sampleRate": 0.5,
            "$jsonSchema": { "required": ["s"], "properties": { "k": { "minimum": 9 } } },
        };
        let relaxed = relaxed(&filter);
        for (document, passes) in [
            (rawdoc! { "k": 3, "s": { "b": 1 }, "t": "x" }, true),
            (rawdoc! { "k": 5, "s": { "b": 1 }, "t": "x" }, false),
            (rawdoc! { "k": 3, "s": { "b": 3 }, "t": "x" }, false),
            (rawdoc! { "k": 3, "s": { "b": 1 }, "t": "y" }, false),
        ] {
            assert_eq!(relaxed.matches(&document).unwrap(), passes, "{document:?}");
        }
    }

    #[test]
    fn nothing_left_lets_everything_pass() {
        for filter in [rawdoc! {}, rawdoc! { "s.a.x": 1 }, rawdoc! { "$sampleRate": 0.5 }] {
            assert!(relaxed(&filter).is_always_true(), "{filter:?}");
        }
    }
}
