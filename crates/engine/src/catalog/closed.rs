//! Validators that let documents have no other fields than those they name.

use bson::{RawBsonRef, RawDocument, rawdoc};
use language::Context;
use language::query::Filter;
use value::element::{array_elements, get_value};
use value::{DocumentWriter, elements};

/// Whether a validator refuses every document that has a field of this name, whatever it holds.
pub fn is_closed_to(validator: &RawDocument, field: &str) -> bool {
    elements(validator).any(|clause| match (clause.key, clause.value()) {
        ("$jsonSchema", RawBsonRef::Document(schema)) => is_schema_closed_to(schema, field),
        ("$and", clauses) => documents(clauses).any(|clause| is_closed_to(clause, field)),
        _ => false,
    })
}

fn is_schema_closed_to(schema: &RawDocument, field: &str) -> bool {
    let is_closed = get_value(schema, "additionalProperties") == Some(RawBsonRef::Boolean(false));
    let all = get_value(schema, "allOf");
    (is_closed && !names(schema, field))
        || all.is_some_and(|all| documents(all).any(|part| is_schema_closed_to(part, field)))
}

/// Whether a schema has a word on a field, by its name or by a pattern.
fn names(schema: &RawDocument, field: &str) -> bool {
    let mut names = DocumentWriter::new();
    names.begin_document("$jsonSchema");
    for keyword in ["properties", "patternProperties"] {
        let Some(RawBsonRef::Document(named)) = get_value(schema, keyword) else { continue };
        names.begin_document(keyword);
        elements(named).for_each(|it| names.append_document(it.key, &rawdoc! {}));
        names.end();
    }
    names.append_bool("additionalProperties", false);
    names.end();
    let mut document = DocumentWriter::new();
    document.append_null(field);
    let filter = Filter::parse(&names.finish(), &Context::new());
    filter.and_then(|filter| filter.matches(&document.finish())).unwrap_or(true)
}

fn documents(value: RawBsonRef<'_>) -> impl Iterator<Item = &RawDocument> {
    let array = value.as_array();
    let items = array.into_iter().flat_map(|array| array_elements(array));
    items.filter_map(|item| item.as_document())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_closed_schema_names_is_let_in() {
        let schema = rawdoc! {
            "properties": { "_id": { "bsonType": "int" }, "a": {} },
            "patternProperties": { "^x": { "bsonType": "int" } },
            "additionalProperties": false,
        };
        let validator = rawdoc! { "$jsonSchema": schema.clone() };
        let closed = |field| is_closed_to(&validator, field);
        assert!(closed("b") && closed("aCount"));
        assert!(!closed("a") && !closed("x1") && !closed("_id"));
        for validator in [
            rawdoc! { "$and": [{ "n": 1 }, { "$jsonSchema": schema.clone() }] },
            rawdoc! { "$jsonSchema": { "allOf": [{}, schema.clone()] } },
        ] {
            assert!(is_closed_to(&validator, "b") && !is_closed_to(&validator, "a"));
        }
        for validator in [
            rawdoc! { "b": { "$exists": false } },
            rawdoc! { "$jsonSchema": { "properties": { "a": {} } } },
            rawdoc! { "$jsonSchema": { "additionalProperties": { "bsonType": "int" } } },
            rawdoc! { "$or": [{ "$jsonSchema": schema }] },
        ] {
            assert!(!is_closed_to(&validator, "b"), "{validator:?}");
        }
    }
}
