//! Cures that several detectors propose.

use super::census::ArrayCensus;
use super::detectors::Subject;
use super::facts::literal;
use crate::report::{Cure, name, shell};
use bson::Document;
use command::Namespace;
use serde_json::{Map, Value, json};

/// Elements that an array keeps in its document, at most and at least.
const HEAD_ELEMENTS_MAX: u64 = 1_000;
const HEAD_ELEMENTS_MIN: u64 = 10;

/// A bound that nine of ten arrays keep already: 10, 20, 50, 100 …
pub fn head_elements(array: &ArrayCensus) -> u64 {
    let usual = array.lengths.quantile(0.9);
    let decades = std::iter::successors(Some(HEAD_ELEMENTS_MIN), |decade| decade.checked_mul(10));
    let mut rounds = decades.flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    rounds.find(|round| *round >= usual || *round >= HEAD_ELEMENTS_MAX).unwrap_or(HEAD_ELEMENTS_MAX)
}

/// A policy that lets the array of a path overflow into pages.
pub fn bound_array(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let namespace = &subject.collection.namespace;
    if !can_be_declared(path) {
        return Cure::validator("outlier", max_items(path, head_elements(array)));
    }
    let mut arrays = Map::new();
    let rule = json!({ "max": head_elements(array), "on_limit": "overflow" });
    arrays.insert(path.to_owned(), rule);
    Cure::policy("outlier", namespace, json!({ "arrays": arrays }))
}

/// Whether a policy can name the array: it is found by field names alone.
pub fn can_be_declared(path: &str) -> bool {
    let plain = |key: &str| {
        !key.is_empty()
            && !key.starts_with('$')
            && !key.contains('<')
            && value::path::array_index(key).is_none()
    };
    path.split('.').all(plain) && path.split('.').next() != Some("_id")
}

/// A `$jsonSchema` that bounds the array at a path.
pub fn max_items(path: &str, max: u64) -> Value {
    let mut schema = json!({ "bsonType": "array", "maxItems": max });
    for key in path.split('.').rev() {
        let mut fields = Map::new();
        fields.insert(key.to_owned(), schema);
        schema = json!({ "properties": fields });
    }
    json!({ "$jsonSchema": schema })
}

/// The command that drops an index.
pub fn drop_index(namespace: &Namespace, name: &str) -> Cure {
    let (collection, name) = (Value::from(&*namespace.collection), Value::from(name));
    Cure::command("fewer indexes", format!("db.getCollection({collection}).dropIndex({name})"))
}

/// The command that makes an index, its keys up or down.
pub fn create_index(
    namespace: &Namespace,
    key: &[(String, bool)],
    collation: Option<&Document>,
) -> String {
    let fields: Vec<String> = key
        .iter()
        .map(|(path, up)| format!("{}: {}", name(path), if *up { "1" } else { "-1" }))
        .collect();
    let collection = Value::from(&*namespace.collection);
    let options = match collation {
        Some(collation) => format!(", {{collation: {}}}", shell(&literal(collation))),
        None => String::new(),
    };
    format!("db.getCollection({collection}).createIndex({{{}}}{options})", fields.join(", "))
}
