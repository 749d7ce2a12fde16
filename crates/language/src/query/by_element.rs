//! Conditions that one element of an array can satisfy by itself.

use super::{Node, Predicate};
use bson::RawBson;
use value::Path;

impl Node {
    /// Whether a document satisfies it exactly if one with a part of the array's elements does,
    /// whatever the parts are: some element decides, not their number, order or absence.
    pub fn holds_by_one_element(&self, array: &Path) -> bool {
        let (path, predicate) = match self {
            Node::Field(path, predicate) => (path, predicate),
            Node::Or(branches) => return branches.iter().all(|it| it.holds_by_one_element(array)),
            _ => return false,
        };
        let is_array = path.len() == array.len();
        array.is_prefix_of(path)
            && (is_array || path.index(array.len()).is_none())
            && predicate.holds_by_one_element(is_array)
    }
}

impl Predicate {
    /// `whole` if it is a condition on the array itself.
    fn holds_by_one_element(&self, whole: bool) -> bool {
        let is_of_elements = |value: &RawBson| match value {
            // What is missing counts as null; each is compared with these.
            RawBson::Null | RawBson::Undefined | RawBson::MinKey | RawBson::MaxKey => false,
            RawBson::Array(_) => !whole,
            _ => true,
        };
        match self {
            Predicate::Eq(value)
            | Predicate::Gt(value)
            | Predicate::Gte(value)
            | Predicate::Lt(value)
            | Predicate::Lte(value) => is_of_elements(value),
            Predicate::In(list) => list.values.iter().all(is_of_elements),
            Predicate::Regex(_) | Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => {
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Context;
    use crate::query::Filter;
    use bson::{RawDocumentBuf, rawdoc};
    use value::Path;

    fn holds(filter: &RawDocumentBuf) -> bool {
        let filter = Filter::parse(filter, &Context::new()).unwrap();
        filter.root.holds_by_one_element(&Path::new("s.a"))
    }

    #[test]
    fn what_one_element_decides() {
        for filter in [
            rawdoc! { "s.a": 1 },
            rawdoc! { "s.a": { "n": 1 } },
            rawdoc! { "s.a.n": { "$gte": 1 } },
            rawdoc! { "s.a.n": [1, 2] },
            rawdoc! { "s.a.n.0": 1 },
            rawdoc! { "s.a": { "$in": [1, "x"] } },
            rawdoc! { "s.a.t": { "$regex": "^x" } },
            rawdoc! { "s.a": { "$elemMatch": { "n": { "$ne": 1 }, "0": 2 } } },
            rawdoc! { "s.a.b": { "$elemMatch": { "$gt": 1, "$lt": 5 } } },
            rawdoc! { "$or": [{ "s.a": 1 }, { "s.a.n": 2 }] },
        ] {
            assert!(holds(&filter), "{filter:?}");
        }
    }

    #[test]
    fn what_needs_the_whole_array() {
        for filter in [
            rawdoc! { "s.a": [1] },
            rawdoc! { "s.a": { "$in": [1, [2]] } },
            rawdoc! { "s.a.n": null },
            rawdoc! { "s.a": { "$in": [1, null] } },
            rawdoc! { "s.a.0": 1 },
            rawdoc! { "s.a.0.n": 1 },
            rawdoc! { "s.a": { "$ne": 1 } },
            rawdoc! { "s.a.n": { "$not": { "$gt": 1 } } },
            rawdoc! { "s.a": { "$size": 1 } },
            rawdoc! { "s.a.n": { "$exists": true } },
            rawdoc! { "s.a": { "$gt": bson::RawBson::MinKey } },
            rawdoc! { "s": { "$elemMatch": { "a": 1 } } },
            rawdoc! { "k": 1 },
            rawdoc! { "s.a": 1, "s.a.n": 2 },
            rawdoc! { "$or": [{ "s.a": 1 }, { "k": 2 }] },
            rawdoc! { "$or": [{ "s.a": 1, "s.a.n": 2 }, { "s.a": 3 }] },
        ] {
            assert!(!holds(&filter), "{filter:?}");
        }
    }
}
