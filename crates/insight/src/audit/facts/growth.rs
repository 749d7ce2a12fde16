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
    let validator = collection.validator().filter(|_| limits.validators_enforced);
    let max = policy
        .map(|bytes| bytes as u64)
        .into_iter()
        .chain(validator.and_then(|it| rule_max(it, Measure::Document)))
        .min();
    max.is_some_and(|max| max < limits.document_bytes)
}

/// What a validator may bound.
#[derive(Debug, Clone, Copy)]
enum Measure<'a> {
    /// The elements of the array at a path.
    Array(&'a str),
    /// The bytes of a document.
    Document,
}

/// How long a validator lets the array at a path become, where it says so.
fn allowed(validator: &Document, path: &str) -> Option<u64> {
    rule_max(validator, Measure::Array(path))
}

/// The bound of a filter. What is not understood is no bound.
fn rule_max(validator: &Document, measure: Measure<'_>) -> Option<u64> {
    let parts = |parts: &[Bson]| -> Vec<Option<u64>> {
        let each = parts.iter().map(|part| rule_max(part.as_document()?, measure));
        each.collect()
    };
    let each = validator.iter().filter_map(|(key, value)| match (&**key, value, measure) {
        ("$jsonSchema", Bson::Document(schema), Measure::Array(path)) => {
            let keys: Vec<&str> = path.split('.').collect();
            schema_max(schema, &keys)
        }
        ("$and", Bson::Array(all), _) => parts(all).into_iter().flatten().min(),
        ("$or", Bson::Array(any), _) => widest(parts(any)),
        ("$expr", expression, _) => expression_max(expression, measure),
        (key, Bson::Document(operators), Measure::Array(path)) => field_max(key, operators, path),
        _ => None,
    });
    each.min()
}

/// The bound of alternatives, if each of them is one.
fn widest(bounds: Vec<Option<u64>>) -> Option<u64> {
    bounds.into_iter().collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// `{"tags": {$size: 3}}`, and `{"tags.100": {$exists: false}}`, which is how one bounded
/// arrays before `maxItems`.
fn field_max(key: &str, operators: &Document, path: &str) -> Option<u64> {
    if key == path {
        return number(operators.get("$size")?);
    }
    let place = key.strip_prefix(path)?.strip_prefix('.')?.parse::<u64>().ok()?;
    let exists = match operators.get("$exists")? {
        Bson::Boolean(exists) => *exists,
        other => number(other) != Some(0),
    };
    (!exists).then_some(place)
}

/// The most that an expression is true for.
fn expression_max(expression: &Bson, measure: Measure<'_>) -> Option<u64> {
    let (operator, operand) = only(expression)?;
    let items = operand.as_array().map(Vec::as_slice).unwrap_or_default();
    match (operator, items) {
        ("$and", parts) => parts.iter().filter_map(|part| expression_max(part, measure)).min(),
        ("$or", parts) => widest(parts.iter().map(|part| alternative_max(part, measure)).collect()),
        ("$cond", [condition, yes, no]) => cond_max(condition, yes, no, measure),
        ("$cond", []) => {
            let parts = operand.as_document()?;
            cond_max(parts.get("if")?, parts.get("then")?, parts.get("else")?, measure)
        }
        ("$lte" | "$eq", [size, max]) if is_size(size, measure) => number(max),
        ("$gte" | "$eq", [max, size]) if is_size(size, measure) => number(max),
        ("$lt", [size, max]) | ("$gt", [max, size]) if is_size(size, measure) => {
            Some(number(max)?.saturating_sub(1))
        }
        _ => None,
    }
}

/// Where there is no array, none grows.
fn alternative_max(expression: &Bson, measure: Measure<'_>) -> Option<u64> {
    let is_other = only(expression).is_some_and(|(operator, operand)| {
        let inner = operand.as_array().and_then(|items| items.first()).unwrap_or(operand);
        operator == "$not" && is_array_test(inner, measure)
    });
    if is_other { Some(0) } else { expression_max(expression, measure) }
}

fn cond_max(condition: &Bson, yes: &Bson, no: &Bson, measure: Measure<'_>) -> Option<u64> {
    match is_array_test(condition, measure) {
        true => expression_max(yes, measure),
        false => widest(vec![expression_max(yes, measure), expression_max(no, measure)]),
    }
}

/// `{$isArray: "$tags"}`
fn is_array_test(expression: &Bson, measure: Measure<'_>) -> bool {
    let Measure::Array(path) = measure else { return false };
    only(expression)
        .is_some_and(|(operator, operand)| operator == "$isArray" && is_array(operand, path))
}

/// Whether an expression is what is measured.
fn is_size(expression: &Bson, measure: Measure<'_>) -> bool {
    let Some((operator, operand)) = only(expression) else { return false };
    match measure {
        Measure::Array(path) => operator == "$size" && is_array(operand, path),
        Measure::Document => operator == "$bsonSize" && operand.as_str() == Some("$$ROOT"),
    }
}

/// `"$tags"`, `["$tags"]`, `{$ifNull: ["$tags", []]}`, `{$cond: [{$isArray: "$tags"}, "$tags", []]}`
fn is_array(expression: &Bson, path: &str) -> bool {
    match expression {
        Bson::String(text) => text.strip_prefix('$') == Some(path),
        Bson::Array(items) => matches!(&items[..], [item] if is_array(item, path)),
        other => match only(other) {
            Some(("$ifNull", Bson::Array(items))) => {
                items.first().is_some_and(|item| is_array(item, path))
            }
            Some(("$cond", Bson::Array(items))) => match &items[..] {
                [condition, yes, _] => {
                    is_array_test(condition, Measure::Array(path)) && is_array(yes, path)
                }
                _ => false,
            },
            _ => false,
        },
    }
}

/// The operator of an expression and its operand.
fn only(expression: &Bson) -> Option<(&str, &Bson)> {
    let document = expression.as_document().filter(|it| it.len() == 1)?;
    document.iter().next().map(|(key, value)| (&**key, value))
}

fn number(value: &Bson) -> Option<u64> {
    match value {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        Bson::Double(number) if *number >= 0.0 => Some(*number as u64),
        other => match only(other) {
            Some(("$literal", literal)) => number(literal),
            _ => None,
        },
    }
}

fn schema_max(schema: &Document, keys: &[&str]) -> Option<u64> {
    let Some((key, rest)) = keys.split_first() else {
        let max = schema.get("maxItems").and_then(number);
        return max.or_else(|| schema.contains_key("enum").then_some(0));
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
            doc! { "tags.0": { "$exists": true } },
            doc! { "$expr": { "$gt": [{ "$size": "$tags" }, 0] } },
            doc! { "$expr": { "$lt": [0, { "$size": "$tags" }] } },
            doc! { "$expr": { "$ne": [{ "$size": "$tags" }, 7] } },
            doc! { "$expr": { "$lte": [{ "$size": "$tags" }, "$max"] } },
            doc! { "$expr": { "$or": [{ "$lte": [{ "$size": "$tags" }, 5] }, "$vip"] } },
            doc! { "$or": [{ "tags": { "$size": 1 } }, { "vip": true }] },
        ] {
            assert!(allowed(&validator, "tags").is_none(), "{validator}");
        }
    }

    #[test]
    fn the_number_of_a_bound_is_read() {
        let size = || doc! { "$size": "$tags" };
        let is_array = || doc! { "$isArray": "$tags" };
        for (validator, max) in [
            (doc! { "$expr": { "$lte": [size(), 5] } }, 5),
            (doc! { "$expr": { "$lt": [size(), 5] } }, 4),
            (doc! { "$expr": { "$gt": [5, size()] } }, 4),
            (doc! { "$expr": { "$gte": [{ "$literal": 5_i64 }, size()] } }, 5),
            (doc! { "$expr": { "$cond": [is_array(), { "$lte": [size(), 9] }, true] } }, 9),
            (doc! { "$expr": { "$or": [{ "$not": [is_array()] }, { "$lte": [size(), 9] }] } }, 9),
            (doc! { "$or": [{ "tags": { "$size": 1 } }, { "tags.4": { "$exists": false } }] }, 4),
            (doc! { "tags.100": { "$exists": 0 } }, 100),
        ] {
            assert_eq!(allowed(&validator, "tags"), Some(max), "{validator}");
        }
    }

    #[test]
    fn documents_are_bound_from_above_and_below_the_limit() {
        use crate::audit::facts::Kind;
        use crate::audit::target::Target;
        let bound = |expression: Document| {
            let namespace = command::Namespace::new("d", "c").unwrap();
            let options = doc! { "validator": { "$expr": expression } };
            let collection = Collection::new(namespace, Kind::Ordinary, options);
            is_document_bound(&collection, Target::MongoDb.limits())
        };
        let size = || doc! { "$bsonSize": "$$ROOT" };
        assert!(bound(doc! { "$lte": [size(), 8_388_608] }));
        assert!(bound(doc! { "$and": [{ "$gt": [8_388_608, size()] }, true] }));
        assert!(!bound(doc! { "$gte": [size(), 5] }));
        assert!(!bound(doc! { "$lte": [size(), 99_000_000] }));
        assert!(!bound(doc! { "$lte": [{ "$bsonSize": "$part" }, 5_000] }));
    }
}
