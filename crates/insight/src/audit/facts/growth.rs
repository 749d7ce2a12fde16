//! What keeps an array from growing: a policy, or a validator.

use super::Collection;
use crate::audit::census::ArrayCensus;
use crate::audit::target::Limits;
use bson::{Bson, Document};
use guard::policy::Undeclared;
use value::Path;

/// What keeps an array in bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Policy,
    Validator,
}

/// What bounds the array at a path, if anything does. A validator does only if an array that
/// it allows fits into a document.
pub fn bound(
    collection: &Collection,
    path: &str,
    array: &ArrayCensus,
    limits: &Limits,
) -> Option<Bound> {
    let policy = collection.policy.as_ref().is_some_and(|policy| {
        let path = Path::new(path);
        let declared = policy.arrays.iter().any(|rule| rule.path == path);
        declared || policy.undeclared != Undeclared::Allow
    });
    if policy {
        return Some(Bound::Policy);
    }
    let validator = collection.validator().filter(|_| limits.validators_enforced)?;
    let max = allowed(validator, path)?;
    let fits = max as f64 * array.element_bytes_max() <= limits.document_bytes as f64;
    fits.then_some(Bound::Validator)
}

/// Whether documents cannot grow to the limit: by a policy, or a validator of their size.
pub fn is_document_bound(collection: &Collection, limits: &Limits) -> bool {
    let policy = collection.policy.as_ref().and_then(|policy| policy.document.max_bytes);
    let policy = policy.is_some_and(|bytes| (bytes as u64) < limits.document_bytes);
    let validator = collection.validator().filter(|_| limits.validators_enforced);
    policy
        || validator.is_some_and(|it| compares(&Bson::Document(it.clone()), "$bsonSize", "$ROOT"))
}

/// How long a validator lets the array at a path become, where it says so.
fn allowed(validator: &Document, path: &str) -> Option<u64> {
    let each = validator.iter().filter_map(|(key, value)| match (&**key, value) {
        ("$jsonSchema", Bson::Document(schema)) => {
            let keys: Vec<&str> = path.split('.').collect();
            schema_max(schema, &keys)
        }
        ("$and", Bson::Array(parts)) => {
            let parts = parts.iter().filter_map(Bson::as_document);
            parts.filter_map(|part| allowed(part, path)).min()
        }
        // Of expressions it is only known that they speak of the length.
        ("$expr", expression) => compares(expression, "$size", path).then_some(0),
        (key, Bson::Document(operators)) if key == path && operators.contains_key("$size") => {
            Some(0)
        }
        // `{"tags.100": {$exists: false}}` is how one bounded arrays before `maxItems`.
        (key, Bson::Document(operators)) => {
            let place = key.strip_prefix(path).and_then(|rest| rest.strip_prefix('.'));
            let place = place.and_then(|place| place.parse::<u64>().ok());
            place.filter(|_| operators.contains_key("$exists"))
        }
        _ => None,
    });
    each.min()
}

fn schema_max(schema: &Document, keys: &[&str]) -> Option<u64> {
    let Some((key, rest)) = keys.split_first() else {
        return match schema.get("maxItems") {
            Some(Bson::Int32(max)) => u64::try_from(*max).ok(),
            Some(Bson::Int64(max)) => u64::try_from(*max).ok(),
            Some(Bson::Double(max)) => Some(*max as u64),
            _ => schema.contains_key("enum").then_some(0),
        };
    };
    let below = |name: &str| schema.get_document(name).ok();
    if *key == "$[]" {
        return schema_max(below("items")?, rest);
    }
    let named = below("properties").and_then(|fields| fields.get_document(key).ok());
    let other = || below("additionalProperties").filter(|_| key.contains('<'));
    match named.or_else(other) {
        Some(next) => schema_max(next, rest),
        // Through the elements of an array to their fields.
        None => schema_max(below("items")?, keys),
    }
}

/// Whether an expression takes the size of something by this operator.
fn compares(expression: &Bson, operator: &str, path: &str) -> bool {
    match expression {
        Bson::Document(document) => document.iter().any(|(key, value)| {
            key == operator && mentions(value, path) || compares(value, operator, path)
        }),
        Bson::Array(items) => items.iter().any(|item| compares(item, operator, path)),
        _ => false,
    }
}

/// Whether a validator has `_id`s in lower case only.
pub fn keeps_lower_case(collection: &Collection, path: &str) -> bool {
    let validator = collection.validator();
    validator.is_some_and(|it| compares(&Bson::Document(it.clone()), "$toLower", path))
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
            (schema(doc! { "a": { "additionalProperties": { "maxItems": 3 } } }), "a.<date>"),
            (schema(doc! { "a": { "items": { "maxItems": 3 } } }), "a.$[]"),
        ] {
            assert!(allowed(&validator, path).is_some(), "{validator}");
        }
        for validator in [
            schema(doc! { "tags": { "bsonType": "array", "minItems": 1 } }),
            schema(doc! { "other": { "maxItems": 10 } }),
            doc! { "$expr": { "$lte": [{ "$size": "$other" }, 5] } },
            doc! { "tags": { "$exists": true } },
        ] {
            assert!(allowed(&validator, "tags").is_none(), "{validator}");
        }
    }
}
