//! The index that a query wants: fields that are equal to something first, then those of the
//! sort, then those between two values.

use crate::audit::facts::{Index, Operation, Predicates, direction};
use bson::{Bson, Document};

/// Fields of an index that is proposed; more cost every write and seldom help.
const FIELDS_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub equal: Vec<String>,
    /// With whether it goes up.
    pub sort: Vec<(String, bool)>,
    pub range: Vec<String>,
    pub collation: Option<Document>,
}

/// How well an index serves a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    None,
    /// It finds some of the documents that are not wanted, too, or leaves the sort to do.
    Partly,
    Wholly,
}

impl Wanted {
    /// What an operation wants, one for each branch of an `$or`; nothing where no index of
    /// ordered keys helps.
    pub fn by(operation: &Operation, collation: Option<&Document>) -> Vec<Wanted> {
        let predicates = Predicates::of(operation.filters());
        let sort = operation.sorted().into_iter().flatten();
        let sort: Option<Vec<(String, bool)>> =
            sort.map(|(path, order)| Some((path.clone(), direction(order)?))).collect();
        // Of how well a text matches, or as the documents lie.
        let Some(sort) = sort.filter(|it| it.iter().all(|(path, _)| path != "$natural")) else {
            return Vec::new();
        };
        let alternatives = predicates.alternatives();
        let served = |it: &Predicates| it.special || it.equal.iter().any(|path| path == "_id");
        let branched = alternatives.len() > 1;
        let idle = |it: &Predicates| branched && it.equal.is_empty() && it.range.is_empty();
        // One branch that reads everything makes the others' indexes useless.
        if alternatives.iter().any(|it| served(it) || idle(it)) {
            return Vec::new();
        }
        let wanted = alternatives.into_iter().map(|it| Wanted::new(it, &sort, collation));
        wanted.filter(|it| !it.key(&|_| 0).is_empty()).collect()
    }

    fn new(found: Predicates, sort: &[(String, bool)], collation: Option<&Document>) -> Wanted {
        let Predicates { mut equal, mut range, .. } = found;
        equal.truncate(FIELDS_MAX);
        let mut sort: Vec<(String, bool)> =
            sort.iter().filter(|(path, _)| !equal.contains(path)).cloned().collect();
        sort.truncate(FIELDS_MAX - equal.len());
        range.retain(|path| !sort.iter().any(|(sorted, _)| sorted == path));
        range.truncate(FIELDS_MAX - equal.len() - sort.len());
        Wanted { equal, sort, range, collation: collation.filter(|it| !is_simple(it)).cloned() }
    }

    /// The key of the index; of fields that are equal those come first that weigh most.
    pub fn key(&self, weight: &dyn Fn(&str) -> u64) -> Vec<(String, bool)> {
        let mut equal = self.equal.clone();
        equal.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.cmp(b)));
        let up = |path: String| (path, true);
        let range = self.range.iter().cloned().map(up);
        equal.into_iter().map(up).chain(self.sort.iter().cloned()).chain(range).collect()
    }

    pub fn served_by(&self, index: &Index) -> Service {
        let hidden = index.spec.get_bool("hidden").unwrap_or(false);
        let partial = index.spec.contains_key("partialFilterExpression");
        if hidden || partial || !self.collates_as(index.collation()) {
            return Service::None;
        }
        let first = index.key.iter().next();
        match first {
            Some((path, _)) if path.contains("$**") => Service::Partly,
            Some((path, Bson::String(kind))) if kind == "hashed" => {
                if self.equal.contains(path) {
                    Service::Partly
                } else {
                    Service::None
                }
            }
            _ if !index.is_ordered() => Service::None,
            _ => self.served_by_key(&index.fields()),
        }
    }

    pub fn served_by_key(&self, key: &[(&str, bool)]) -> Service {
        let has = |paths: &[String], path: &str| paths.iter().any(|it| it == path);
        let leading = key.iter().take_while(|(path, _)| has(&self.equal, path)).count();
        let rest = &key[leading..];
        let whole = leading == self.equal.len()
            && self.sorts_by(rest)
            && self.range.iter().all(|path| rest.iter().any(|(field, _)| field == path));
        let Some((first, _)) = key.first() else { return Service::None };
        let filters = !self.equal.is_empty() || !self.range.is_empty();
        let begins = match filters {
            true => has(&self.equal, first) || has(&self.range, first),
            false => self.sort.first().is_some_and(|(path, _)| path == first),
        };
        match (whole, begins) {
            (true, _) => Service::Wholly,
            (false, true) => Service::Partly,
            (false, false) => Service::None,
        }
    }

    /// Whether keys in this order, or read backwards, are in the order of the sort.
    fn sorts_by(&self, key: &[(&str, bool)]) -> bool {
        if key.len() < self.sort.len() {
            return false;
        }
        let pairs = || self.sort.iter().zip(key);
        let same = pairs().all(|((path, _), (field, _))| path == field);
        let turned = |back: bool| pairs().all(|((_, up), (_, goes_up))| (up == goes_up) != back);
        same && (turned(false) || turned(true))
    }

    /// Whether an index has the collation that the query compares by.
    pub fn collates_as(&self, index: Option<&Document>) -> bool {
        match (&self.collation, index.filter(|it| !is_simple(it))) {
            (None, None) => true,
            (Some(asked), Some(index)) => {
                asked.iter().all(|(key, value)| index.get(key).is_some_and(|it| alike(value, it)))
            }
            _ => false,
        }
    }
}

fn is_simple(collation: &Document) -> bool {
    collation.get_str("locale").is_ok_and(|locale| locale == "simple")
}

/// Whether two settings are the same, of whatever type their numbers are.
fn alike(a: &Bson, b: &Bson) -> bool {
    let number = |value: &Bson| match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn wanted(filter: Document, sort: Document) -> Vec<Wanted> {
        let operation =
            Operation { command: "find".to_owned(), filter, sort, ..Operation::default() };
        Wanted::by(&operation, None)
    }

    fn served(wanted: &Wanted, key: Document) -> Service {
        wanted.served_by(&Index::new(doc! { "name": "i", "key": key }))
    }

    #[test]
    fn keys_are_in_the_order_equality_sort_range() {
        let found = wanted(
            doc! { "total": { "$gt": 5 }, "status": "x", "at": { "$gte": 1 } },
            doc! { "at": -1 },
        );
        let key = found[0].key(&|_| 0);
        let row = |path: &str, up| (path.to_owned(), up);
        assert_eq!(key, [row("status", true), row("at", false), row("total", true)]);
        assert!(wanted(doc! { "_id": 1, "a": 1 }, doc! {}).is_empty());
        assert!(wanted(doc! {}, doc! {}).is_empty());
        assert!(wanted(doc! { "a": { "$ne": 1 } }, doc! {}).is_empty());
        assert!(wanted(doc! {}, doc! { "$natural": -1 }).is_empty());
        assert_eq!(wanted(doc! { "$or": [{ "a": 1 }, { "b": 1 }] }, doc! {}).len(), 2);
        assert!(wanted(doc! { "$or": [{ "a": 1 }, { "b": { "$ne": 1 } }] }, doc! {}).is_empty());
    }

    #[test]
    fn the_index_that_is_proposed_serves() {
        let filter = doc! { "a": 1, "b": 1, "c": 1, "d": { "$gt": 1 }, "e": { "$gt": 1 } };
        for one in wanted(filter, doc! { "f": 1, "g": -1, "h": 1 }) {
            let key = one.key(&|_| 0);
            let fields: Vec<(&str, bool)> = key.iter().map(|(path, up)| (&**path, *up)).collect();
            assert_eq!((key.len(), one.served_by_key(&fields)), (FIELDS_MAX, Service::Wholly));
        }
    }

    #[test]
    fn an_index_serves_by_its_beginning() {
        let one = &wanted(doc! { "a": 1, "b": 2 }, doc! { "c": -1 })[0];
        assert_eq!(served(one, doc! { "b": 1, "a": 1, "c": 1 }), Service::Wholly);
        assert_eq!(served(one, doc! { "a": 1, "b": 1, "c": -1, "d": 1 }), Service::Wholly);
        assert_eq!(served(one, doc! { "a": 1, "c": 1, "b": 1 }), Service::Partly);
        assert_eq!(served(one, doc! { "a": "hashed" }), Service::Partly);
        assert_eq!(served(one, doc! { "c": 1, "a": 1, "b": 1 }), Service::None);
        assert_eq!(served(one, doc! { "a": "text" }), Service::None);
        let sort = &wanted(doc! {}, doc! { "x": 1, "y": -1 })[0];
        assert_eq!(served(sort, doc! { "x": -1, "y": 1 }), Service::Wholly);
        assert_eq!(served(sort, doc! { "x": 1, "y": 1 }), Service::Partly);
    }

    #[test]
    fn a_hidden_partial_or_otherwise_collated_index_serves_nobody() {
        let one = &wanted(doc! { "a": 1 }, doc! {})[0];
        for (name, value) in [
            ("hidden", Bson::Boolean(true)),
            ("partialFilterExpression", Bson::Document(doc! { "b": 1 })),
            ("collation", Bson::Document(doc! { "locale": "en", "strength": 2 })),
        ] {
            let mut spec = doc! { "name": "i", "key": { "a": 1 } };
            spec.insert(name, value);
            assert_eq!(one.served_by(&Index::new(spec)), Service::None, "{name}");
        }
        let operation = Operation { filter: doc! { "a": 1 }, ..Operation::default() };
        let asked = doc! { "locale": "en", "strength": 2 };
        let one = &Wanted::by(&operation, Some(&asked))[0];
        let kept = doc! { "locale": "en", "caseLevel": false, "strength": 2_i64 };
        let spec = doc! { "name": "i", "key": { "a": 1 }, "collation": kept };
        assert_eq!(one.served_by(&Index::new(spec)), Service::Wholly);
    }
}
