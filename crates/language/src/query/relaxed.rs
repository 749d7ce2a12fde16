//! Conditions that are left to whole documents, where some paths are hidden.

use super::Node;
use crate::Needs;
use value::Path;

impl Node {
    /// Whether a condition, which is no `$and`, looks at a hidden path. What goes by chance is
    /// left to whole documents too, so that none is drawn twice.
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
    use crate::query::Filter;
    use bson::rawdoc;

    #[test]
    fn what_sees_a_hidden_path_is_relaxed() {
        let schema = rawdoc! { "required": ["s"], "properties": { "k": { "minimum": 9 } } };
        for (condition, is_relaxed) in [
            (rawdoc! { "s.a": 1 }, true),
            (rawdoc! { "s.a.x": 1 }, true),
            (rawdoc! { "s": { "a": [1] } }, true),
            (rawdoc! { "$or": [{ "s.a": 2 }, { "k": 1 }] }, true),
            (rawdoc! { "$expr": { "$eq": ["$s", 1] } }, true),
            (rawdoc! { "$jsonSchema": schema }, true),
            (rawdoc! { "$sampleRate": 0.5 }, true),
            (rawdoc! { "k": { "$lt": 5 } }, false),
            (rawdoc! { "s.b": { "$in": [1, 2] } }, false),
            (rawdoc! {}, false),
        ] {
            let filter = Filter::parse(&condition, &Context::new()).unwrap();
            let found = filter.root.is_relaxed_by(&[&Path::new("s.a")]);
            assert_eq!(found, is_relaxed, "{condition:?}");
        }
    }
}
