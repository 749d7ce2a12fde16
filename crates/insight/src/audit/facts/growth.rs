//! What keeps an array from growing: a policy, or a validator.

use super::Collection;
use crate::audit::target::Limits;
use bson::{Bson, Document};
use guard::policy::Undeclared;
use value::Path;

/// Who keeps an array in bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Policy,
    Validator,
}

/// What bounds the array at a path, if anything does.
pub fn bound(collection: &Collection, path: &str, limits: &Limits) -> Option<Bound> {
    let policy = collection.policy.as_ref().is_some_and(|policy| {
        let path = Path::new(path);
        let declared = policy.arrays.iter().any(|rule| rule.path == path);
        declared || policy.undeclared != Undeclared::Allow
    });
    if policy {
        return Some(Bound::Policy);
    }
    let validator = collection.validator().filter(|_| limits.validators_enforced)?;
    bounds_array(validator, path).then_some(Bound::Validator)
}

/// Whether a validator says how long the array at a path may be.
fn bounds_array(validator: &Document, path: &str) -> bool {
    validator.iter().any(|(key, value)| match (&**key, value) {
        ("$jsonSchema", Bson::Document(schema)) => schema_bounds(schema, path),
        ("$and", Bson::Array(parts)) => {
            let mut parts = parts.iter().filter_map(Bson::as_document);
            parts.any(|part| bounds_array(part, path))
        }
        ("$expr", expression) => expression_bounds(expression, path),
        (key, Bson::Document(operators)) if key == path => operators.contains_key("$size"),
        // `{"tags.100": {$exists: false}}` is how one bounded arrays before `maxItems`.
        (key, Bson::Document(operators)) => {
            let place = key.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
            place.is_some_and(|place| place.parse::<u64>().is_ok())
                && operators.contains_key("$exists")
        }
        _ => false,
    })
}

fn schema_bounds(schema: &Document, path: &str) -> bool {
    let mut at = schema;
    for key in path.split('.') {
        // Through the elements of an array to their fields.
        while !at.contains_key("properties")
            && let Ok(items) = at.get_document("items")
        {
            at = items;
        }
        let next = at.get_document("properties").and_then(|fields| fields.get_document(key));
        let Ok(next) = next else { return false };
        at = next;
    }
    at.contains_key("maxItems") || at.contains_key("enum")
}

/// Whether an expression takes the size of the array.
fn expression_bounds(expression: &Bson, path: &str) -> bool {
    match expression {
        Bson::Document(document) => document.iter().any(|(key, value)| {
            key == "$size" && mentions(value, path) || expression_bounds(value, path)
        }),
        Bson::Array(items) => items.iter().any(|item| expression_bounds(item, path)),
        _ => false,
    }
}

fn mentions(expression: &Bson, path: &str) -> bool {
    match expression {
        Bson::String(text) => text.strip_prefix('$') == Some(path),
        Bson::Document(document) => document.values().any(|value| mentions(value, path)),
        Bson::Array(items) => items.iter().any(|item| mentions(item, path)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn validators_that_bound_an_array_are_recognised() {
        let schema = |inner: Document| doc! { "$jsonSchema": { "properties": inner } };
        for (validator, path) in [
            (schema(doc! { "tags": { "bsonType": "array", "maxItems": 10 } }), "tags"),
            (schema(doc! { "a": { "properties": { "b": { "maxItems": 10 } } } }), "a.b"),
            (
                schema(doc! { "a": { "items": { "properties": { "b": { "maxItems": 1 } } } } }),
                "a.b",
            ),
            (doc! { "$expr": { "$lte": [{ "$size": "$tags" }, 5] } }, "tags"),
            (
                doc! { "$and": [{ "$expr": { "$lt": [{ "$size": { "$ifNull": ["$tags", []] } }, 5] } }] },
                "tags",
            ),
            (doc! { "tags.100": { "$exists": false } }, "tags"),
        ] {
            assert!(bounds_array(&validator, path), "{validator}");
        }
        for validator in [
            schema(doc! { "tags": { "bsonType": "array", "minItems": 1 } }),
            schema(doc! { "other": { "maxItems": 10 } }),
            doc! { "$expr": { "$lte": [{ "$size": "$other" }, 5] } },
            doc! { "tags": { "$exists": true } },
        ] {
            assert!(!bounds_array(&validator, "tags"), "{validator}");
        }
    }
}
