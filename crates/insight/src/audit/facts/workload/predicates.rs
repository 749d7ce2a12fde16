//! What a filter asks of fields, as an index sees it.

use super::shape::is_operators;
use bson::{Bson, Document};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Predicates {
    /// Fields that have one value, or one of a list.
    pub equal: Vec<String>,
    /// Fields between two values.
    pub range: Vec<String>,
    /// The parts of an `$or`, of which each needs an index.
    pub branches: Vec<Predicates>,
    /// Whether only an index of another kind serves it: of text or places.
    pub special: bool,
}

impl Predicates {
    pub fn of<'a>(filters: impl IntoIterator<Item = &'a Document>) -> Predicates {
        let mut found = Predicates::default();
        filters.into_iter().for_each(|filter| found.add(filter, ""));
        found
    }

    /// The fields of each branch, with those that all have in common.
    pub fn alternatives(&self) -> Vec<Predicates> {
        if self.branches.is_empty() {
            return vec![self.clone()];
        }
        let branches = self.branches.iter().flat_map(Predicates::alternatives);
        let with_common = |mut branch: Predicates| {
            self.equal.iter().for_each(|path| branch.push_equal(path.clone()));
            self.range.iter().for_each(|path| branch.push_range(path.clone()));
            branch.special |= self.special;
            branch
        };
        branches.map(with_common).collect()
    }

    fn add(&mut self, filter: &Document, prefix: &str) {
        for (key, value) in filter {
            match (&**key, value) {
                ("$and", Bson::Array(parts)) => {
                    let parts = parts.iter().filter_map(Bson::as_document);
                    parts.for_each(|part| self.add(part, prefix));
                }
                // One of them is enough to say what helps.
                ("$or", Bson::Array(parts)) if self.branches.is_empty() => {
                    let parts = parts.iter().filter_map(Bson::as_document);
                    let branch = |part: &Document| {
                        let mut branch = Predicates::default();
                        branch.add(part, prefix);
                        branch
                    };
                    self.branches = parts.map(branch).collect();
                }
                ("$text", _) => self.special = true,
                (key, _) if key.starts_with('$') => {}
                (key, value) => self.field(format!("{prefix}{key}"), value),
            }
        }
    }

    fn field(&mut self, path: String, value: &Bson) {
        match value {
            Bson::Document(operators) if is_operators(operators) => {
                let ignores_case = operators.get_str("$options").is_ok_and(|it| it.contains('i'));
                for (operator, operand) in operators {
                    match &**operator {
                        "$regex" if ignores_case => {}
                        "$regex" if is_anchored(operand) => self.push_range(path.clone()),
                        "$eq" | "$in" | "$all" => self.push_equal(path.clone()),
                        "$gt" | "$gte" | "$lt" | "$lte" => self.push_range(path.clone()),
                        "$elemMatch" => self.element(&path, operand),
                        "$geoWithin" | "$geoIntersects" | "$near" | "$nearSphere" => {
                            self.special = true;
                        }
                        _ => {}
                    }
                }
            }
            Bson::RegularExpression(_) if is_anchored(value) => self.push_range(path),
            Bson::RegularExpression(_) => {}
            _ => self.push_equal(path),
        }
    }

    fn element(&mut self, path: &str, operand: &Bson) {
        match operand {
            Bson::Document(operators) if is_operators(operators) => {
                self.field(path.to_owned(), operand);
            }
            Bson::Document(filter) => self.add(filter, &format!("{path}.")),
            _ => {}
        }
    }

    fn push_equal(&mut self, path: String) {
        self.range.retain(|known| *known != path);
        if !self.equal.contains(&path) {
            self.equal.push(path);
        }
    }

    fn push_range(&mut self, path: String) {
        if !self.equal.contains(&path) && !self.range.contains(&path) {
            self.range.push(path);
        }
    }
}

/// Whether an index finds what a regular expression matches: a beginning, in this case.
fn is_anchored(regex: &Bson) -> bool {
    match regex {
        Bson::RegularExpression(regex) => {
            regex.pattern.as_str().starts_with('^') && !regex.options.as_str().contains('i')
        }
        Bson::String(pattern) => pattern.starts_with('^'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn fields_are_told_by_what_is_asked_of_them() {
        let found = Predicates::of([&doc! {
            "a": 1, "b": { "$gte": 1, "$lt": 5 }, "c": { "$in": [1, 2] }, "d": { "$ne": 1 },
            "e": { "$elemMatch": { "x": 1, "y": { "$gt": 2 } } }, "f": { "$regex": "^ab" },
            "g": { "$regex": "^ab", "$options": "i" }, "$and": [{ "h": { "$eq": 2 } }],
            "$expr": { "$gt": ["$i", "$j"] }, "k": { "l": 1 },
        }]);
        assert_eq!(found.equal, ["a", "c", "e.x", "h", "k"]);
        assert_eq!(found.range, ["b", "e.y", "f"]);
        assert!(!found.special);
        assert!(Predicates::of([&doc! { "$text": { "$search": "x" } }]).special);
    }

    #[test]
    fn each_branch_has_what_all_have_in_common() {
        let found = Predicates::of([&doc! {
            "tenant": 1, "$or": [{ "a": 1 }, { "b": { "$gt": 1 } }],
        }]);
        let alternatives = found.alternatives();
        let fields: Vec<_> = alternatives.iter().map(|it| (&it.equal[..], &it.range[..])).collect();
        assert_eq!(fields.len(), 2);
        assert_eq!(alternatives[0].equal, ["a", "tenant"]);
        assert_eq!(
            (&alternatives[1].equal[..], &alternatives[1].range[..]),
            (&["tenant".to_owned()][..], &["b".to_owned()][..])
        );
    }
}
