//! Which documents an operation touches, as far as what it asks tells it.

use super::facts::{Operation, Predicates, direction};
use bson::{Bson, Document};

/// A read of the newest documents that asks for more of them reads old ones, too.
const NEWEST_DOCUMENTS_MAX: u64 = 1_000;

/// Whether an operation says in which range of a field all its documents lie; of a `hashed`
/// field only values say it.
pub fn confines(operation: &Operation, field: &str, hashed: bool) -> bool {
    let predicates = Predicates::of(operation.filters());
    let has = |fields: &[String]| fields.iter().any(|known| known == field);
    let confined = |it: &Predicates| has(&it.equal) || (!hashed && has(&it.range));
    predicates.alternatives().iter().all(confined)
}

/// The date, in milliseconds since 1970, before which a read touches no document by this
/// field; `None` where it may touch any.
pub fn since(operation: &Operation, field: &str) -> Option<i64> {
    operation.filters().into_iter().filter_map(|filter| lower_bound(filter, field)).max()
}

/// Whether it reads a page of the newest documents by this field.
pub fn is_newest_first(operation: &Operation, field: &str) -> bool {
    let newest = |sort: &Document| {
        let first = sort.iter().next();
        first.is_some_and(|(key, value)| key == field && direction(value) == Some(false))
    };
    let page = |limit: &u64| (1..=NEWEST_DOCUMENTS_MAX).contains(limit);
    operation.sorted().is_some_and(newest) && operation.limit().as_ref().is_some_and(page)
}

/// The latest date that the field must not be before, in a filter and its `$and`s.
fn lower_bound(filter: &Document, field: &str) -> Option<i64> {
    let bounds = filter.iter().filter_map(|(key, value)| match value {
        Bson::Array(parts) if key == "$and" => {
            let parts = parts.iter().filter_map(Bson::as_document);
            parts.filter_map(|part| lower_bound(part, field)).max()
        }
        Bson::DateTime(date) if key == field => Some(date.timestamp_millis()),
        Bson::Document(operators) if key == field => {
            let bounds = ["$eq", "$gt", "$gte"].into_iter();
            bounds
                .filter_map(|name| operators.get_datetime(name).ok())
                .max()
                .map(|it| it.timestamp_millis())
        }
        _ => None,
    });
    bounds.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{DateTime, doc};

    fn find(filter: Document) -> Operation {
        Operation { filter, ..Operation::default() }
    }

    #[test]
    fn bounds_are_found_in_ands_and_not_in_ors() {
        let date = |millis| DateTime::from_millis(millis);
        let both = doc! { "$and": [{ "at": { "$gte": date(5) } }, { "at": { "$gt": date(9) } }] };
        assert_eq!(since(&find(both), "at"), Some(9));
        assert_eq!(since(&find(doc! { "at": date(7) }), "at"), Some(7));
        assert_eq!(since(&find(doc! { "at": { "$lt": date(9) } }), "at"), None);
        let either = doc! { "$or": [{ "at": { "$gte": date(5) } }, { "a": 1 }] };
        assert_eq!(since(&find(either), "at"), None);
    }

    #[test]
    fn a_field_confines_by_value_or_range_in_every_branch() {
        let filter = doc! { "a": { "$in": [1, 2] }, "b": { "$ne": 1 }, "d": { "$gt": 1 } };
        let confined = |field| {
            let operation = find(filter.clone());
            (confines(&operation, field, false), confines(&operation, field, true))
        };
        assert_eq!(confined("a"), (true, true));
        assert_eq!(confined("b"), (false, false));
        assert_eq!(confined("d"), (true, false));
        assert!(!confines(&find(doc! { "$or": [{ "a": 1 }, { "b": 1 }] }), "a", false));
        assert!(confines(&find(doc! { "$or": [{ "a": 1 }, { "a": 2, "b": 1 }] }), "a", false));
    }

    #[test]
    fn pages_of_the_newest_are_told() {
        let find = |sort: Document, limit| Operation { sort, limit, ..Operation::default() };
        assert!(is_newest_first(&find(doc! { "at": -1 }, 20), "at"));
        assert!(!is_newest_first(&find(doc! { "at": 1 }, 20), "at"));
        assert!(!is_newest_first(&find(doc! { "at": -1 }, 0), "at"));
        assert!(!is_newest_first(&find(doc! { "by": 1, "at": -1 }, 20), "at"));
        let stages = |last: Document| Operation {
            pipeline: vec![doc! { "$match": { "a": 1 } }, doc! { "$sort": { "at": -1 } }, last],
            ..Operation::default()
        };
        assert!(is_newest_first(&stages(doc! { "$limit": 5 }), "at"));
        assert!(!is_newest_first(&stages(doc! { "$group": { "_id": "$a" } }), "at"));
    }
}
