use super::*;
use crate::report::Extent;
use bson::{Bson, Document, bson, doc};
use value::Path;

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn schema(of: &Document) -> Schema {
    Schema::parse(&raw(of)).unwrap_or_else(|error| panic!("{of} is refused: {error}"))
}

/// A schema for the field `a`, values it accepts, values it does not.
fn check(of: Document, accepted: &[Bson], refused: &[Bson]) {
    let parsed = schema(&doc! { "properties": { "a": of.clone() } });
    for (values, expected) in [(accepted, true), (refused, false)] {
        for value in values {
            let document = raw(&doc! { "a": value.clone() });
            assert_eq!(parsed.accepts_document(&document).unwrap(), expected, "{of} on {value}");
        }
    }
    assert!(parsed.accepts_document(&raw(&doc! {})).unwrap(), "{of} on a missing field");
}

fn code(of: Document) -> i32 {
    match Schema::parse(&raw(&of)) {
        Ok(_) => panic!("{of} is accepted"),
        Err(error) => error.code().number(),
    }
}

fn details(of: Document, document: Document) -> Vec<Document> {
    let mut report = Report::new(Extent::Whole);
    schema(&of).explain_document(&raw(&document), &mut report);
    let explained = Document::try_from(report.out.finish()).unwrap();
    assert_eq!(explained.get_str("operatorName").unwrap(), "$jsonSchema");
    let rules = explained.get_array("schemaRulesNotSatisfied").unwrap();
    rules.iter().map(|rule| rule.as_document().unwrap().clone()).collect()
}

#[test]
fn only_named_fields_are_looked_at() {
    let needs = |of: Document| {
        let mut needs = Needs::none();
        schema(&of).needs(&mut needs);
        needs
    };
    let few =
        doc! { "bsonType": "object", "required": ["b"], "properties": { "a": { "maxItems": 2 } } };
    assert_eq!(needs(few), Needs::Paths(vec![Path::new("a")]));
    assert_eq!(needs(doc! { "properties": {}, "maxProperties": 3 }), Needs::All);
}

#[test]
fn what_need_only_be_there_decides_too() {
    let mut needs = Needs::none();
    schema(&doc! { "required": ["b"], "properties": { "a": {} } }).depends_on(&mut needs);
    assert_eq!(needs, Needs::Paths(vec![Path::new("a"), Path::new("b")]));
}

#[test]
fn types() {
    check(doc! { "bsonType": "string" }, &[bson!("x")], &[bson!(1), bson!(null), bson!(["x"])]);
    check(doc! { "bsonType": ["int", "null"] }, &[bson!(1), bson!(null)], &[bson!(1.5)]);
    check(doc! { "bsonType": "number" }, &[bson!(1), bson!(1.5)], &[bson!("1")]);
    check(doc! { "type": "boolean" }, &[bson!(true)], &[bson!(1)]);
    check(doc! { "type": ["object", "array"] }, &[bson!({}), bson!([])], &[bson!(1)]);
    assert_eq!(code(doc! { "bsonType": "foo" }), 2);
    assert_eq!(code(doc! { "type": "int" }), 2);
    assert_eq!(code(doc! { "type": "integer" }), 9);
    assert_eq!(code(doc! { "bsonType": ["integer"] }), 9);
    assert_eq!(code(doc! { "bsonType": 1 }), 14);
    assert_eq!(code(doc! { "bsonType": [] }), 9);
    assert_eq!(code(doc! { "bsonType": ["int", "int"] }), 9);
    assert_eq!(code(doc! { "bsonType": "int", "type": "number" }), 9);
}

#[test]
fn numbers() {
    check(doc! { "minimum": 5 }, &[bson!(5), bson!(6.5), bson!("x")], &[bson!(4)]);
    check(doc! { "minimum": 5, "exclusiveMinimum": true }, &[bson!(6)], &[bson!(5)]);
    check(doc! { "maximum": 5 }, &[bson!(5), bson!(-1)], &[bson!(5.5)]);
    check(doc! { "maximum": 5, "exclusiveMaximum": true }, &[bson!(4)], &[bson!(5.0)]);
    check(doc! { "maximum": 5, "exclusiveMaximum": false }, &[bson!(5)], &[bson!(6)]);
    let (nan, nan_decimal) = (bson!(f64::NAN), Bson::Decimal128("NaN".parse().unwrap()));
    let numbers = [bson!(1), bson!(Bson::Int64(1)), bson!(f64::INFINITY)];
    for limit in ["minimum", "maximum"] {
        check(doc! { limit: 5 }, &[], &[nan.clone(), nan_decimal.clone()]);
        check(doc! { limit: nan.clone() }, &[nan.clone(), nan_decimal.clone()], &numbers);
        let exclusive = format!("exclusiveM{}", &limit[1..]);
        check(doc! { limit: nan.clone(), exclusive: true }, &[], &[nan.clone(), bson!(1)]);
    }
    check(doc! { "multipleOf": 0.1 }, &[bson!(0.3), bson!(2), bson!("x")], &[bson!(0.35)]);
    check(doc! { "multipleOf": 3 }, &[bson!(9), bson!(-3)], &[bson!(10)]);
    assert_eq!(code(doc! { "minimum": "5" }), 14);
    assert_eq!(code(doc! { "exclusiveMinimum": true }), 9);
    assert_eq!(code(doc! { "minimum": 1, "exclusiveMinimum": 1 }), 14);
    assert_eq!(code(doc! { "multipleOf": 0 }), 9);
}

#[test]
fn strings() {
    check(doc! { "minLength": 2 }, &[bson!("éé"), bson!(1)], &[bson!("é")]);
    check(doc! { "maxLength": 2 }, &[bson!("éé")], &[bson!("abc")]);
    check(doc! { "pattern": "^a.*z$" }, &[bson!("abz"), bson!(1)], &[bson!("ab")]);
    assert_eq!(code(doc! { "minLength": -1 }), 9);
    assert_eq!(code(doc! { "maxLength": 1.5 }), 9);
    assert_eq!(code(doc! { "maxLength": "1" }), 9);
    assert_eq!(code(doc! { "pattern": 1 }), 14);
    assert_eq!(code(doc! { "pattern": "(" }), 51091);
}

#[test]
fn arrays() {
    check(doc! { "minItems": 1 }, &[bson!([1]), bson!(1)], &[bson!([])]);
    check(doc! { "maxItems": 1 }, &[bson!([1])], &[bson!([1, 2])]);
    check(doc! { "uniqueItems": true }, &[bson!([1, 2])], &[bson!([1, 1.0])]);
    check(
        doc! { "uniqueItems": true },
        &[bson!([{ "a": 1 }, { "a": 2 }])],
        &[bson!([{ "a": 1, "b": 2 }, { "b": 2, "a": 1 }])],
    );
    check(doc! { "uniqueItems": false }, &[bson!([1, 1])], &[]);
    check(doc! { "items": { "bsonType": "int" } }, &[bson!([1, 2]), bson!([])], &[bson!([1, "x"])]);
    let pair = doc! { "items": [{ "bsonType": "int" }, { "bsonType": "string" }] };
    check(pair.clone(), &[bson!([1, "x", null]), bson!([1])], &[bson!(["x"])]);
    let mut closed = pair.clone();
    closed.insert("additionalItems", false);
    check(closed, &[bson!([1, "x"])], &[bson!([1, "x", 2])]);
    let mut typed = pair;
    typed.insert("additionalItems", doc! { "bsonType": "bool" });
    check(typed, &[bson!([1, "x", true])], &[bson!([1, "x", 2])]);
    assert_eq!(code(doc! { "items": 1 }), 14);
    assert_eq!(code(doc! { "uniqueItems": 1 }), 14);
    assert_eq!(code(doc! { "additionalItems": 1 }), 14);
}

#[test]
fn objects() {
    check(doc! { "required": ["b"] }, &[bson!({ "b": null }), bson!(1)], &[bson!({})]);
    check(
        doc! { "properties": { "b": { "minimum": 1 } } },
        &[bson!({ "b": 1 })],
        &[bson!({ "b": 0 })],
    );
    check(doc! { "minProperties": 1 }, &[bson!({ "x": 1 })], &[bson!({})]);
    check(doc! { "maxProperties": 1 }, &[bson!({ "x": 1 })], &[bson!({ "x": 1, "y": 1 })]);
    let closed = doc! {
        "properties": { "b": {} }, "patternProperties": { "^x": { "bsonType": "int" } },
        "additionalProperties": false,
    };
    check(
        closed,
        &[bson!({ "b": 1, "x1": 2 }), bson!({})],
        &[bson!({ "c": 1 }), bson!({ "x1": "text" })],
    );
    check(
        doc! { "additionalProperties": { "bsonType": "int" } },
        &[bson!({ "x": 1 })],
        &[bson!({ "x": "y" })],
    );
    check(
        doc! { "dependencies": { "b": ["c"], "d": { "required": ["e"] } } },
        &[bson!({}), bson!({ "b": 1, "c": 1 }), bson!({ "d": 1, "e": 1 })],
        &[bson!({ "b": 1 }), bson!({ "d": 1 })],
    );
    assert_eq!(code(doc! { "required": [] }), 9);
    assert_eq!(code(doc! { "required": ["a", "a"] }), 9);
    assert_eq!(code(doc! { "required": [1] }), 14);
    assert_eq!(code(doc! { "required": "a" }), 14);
    assert_eq!(code(doc! { "properties": 1 }), 14);
    assert_eq!(code(doc! { "properties": { "a": 1 } }), 14);
    assert_eq!(code(doc! { "dependencies": { "a": 1 } }), 14);
    assert_eq!(code(doc! { "additionalProperties": 1 }), 14);
    assert_eq!(code(doc! { "patternProperties": { "(": {} } }), 51091);
}

#[test]
fn values_and_logic() {
    check(
        doc! { "enum": [1, "x", { "a": 1, "b": 2 }, null] },
        &[bson!(1.0), bson!("x"), bson!({ "b": 2, "a": 1 }), bson!(null)],
        &[bson!(2), bson!([1])],
    );
    check(doc! { "allOf": [{ "minimum": 1 }, { "maximum": 5 }] }, &[bson!(3)], &[bson!(6)]);
    check(
        doc! { "anyOf": [{ "bsonType": "int" }, { "minLength": 2, "bsonType": "string" }] },
        &[bson!(3), bson!("xx")],
        &[bson!("x")],
    );
    check(
        doc! { "oneOf": [{ "minimum": 1 }, { "minimum": 5 }] },
        &[bson!(3)],
        &[bson!(6), bson!(0)],
    );
    check(doc! { "not": { "bsonType": "int" } }, &[bson!("x")], &[bson!(1)]);
    assert_eq!(code(doc! { "enum": [] }), 9);
    assert_eq!(code(doc! { "enum": [1, 1.0] }), 9);
    assert_eq!(code(doc! { "enum": 1 }), 14);
    assert_eq!(code(doc! { "allOf": [] }), 2);
    assert_eq!(code(doc! { "anyOf": [1] }), 14);
    assert_eq!(code(doc! { "not": 1 }), 14);
    assert_eq!(code(doc! { "foo": 1 }), 9);
    assert_eq!(code(doc! { "$ref": "x" }), 9);
    assert_eq!(code(doc! { "title": 1 }), 14);
}

#[test]
fn an_oversize_array_is_explained_as_mongodb_does() {
    let of = doc! {
        "properties": { "tags": { "bsonType": "array", "maxItems": 2, "description": "few" } }
    };
    let expected = doc! {
        "operatorName": "properties",
        "propertiesNotSatisfied": [{
            "propertyName": "tags",
            "description": "few",
            "details": [{
                "operatorName": "maxItems",
                "specifiedAs": { "maxItems": 2 },
                "reason": "array did not match specified length",
                "consideredValue": [1, 2, 3],
                "numberOfItems": 3,
            }],
        }],
    };
    assert_eq!(details(of, doc! { "tags": [1, 2, 3] }), [expected]);
}

#[test]
fn other_rules_are_explained() {
    let of = doc! {
        "required": ["b", "a"],
        "properties": { "n": { "bsonType": "int" }, "s": { "enum": ["x"] } },
        "additionalProperties": false,
        "not": { "required": ["z"] },
        "oneOf": [{ "required": ["n"] }, { "required": ["s"] }],
    };
    let expected = [
        doc! {
            "operatorName": "properties",
            "propertiesNotSatisfied": [
                { "propertyName": "n", "details": [{
                    "operatorName": "bsonType", "specifiedAs": { "bsonType": "int" },
                    "reason": "type did not match", "consideredValue": "x",
                    "consideredType": "string",
                }] },
                { "propertyName": "s", "details": [{
                    "operatorName": "enum", "specifiedAs": { "enum": ["x"] },
                    "reason": "value was not found in enum", "consideredValue": "y",
                }] },
            ],
        },
        doc! {
            "operatorName": "additionalProperties",
            "specifiedAs": { "additionalProperties": false },
            "additionalProperties": ["z"],
        },
        doc! {
            "operatorName": "required", "specifiedAs": { "required": ["b", "a"] },
            "missingProperties": ["a", "b"],
        },
        doc! {
            "operatorName": "oneOf", "reason": "more than one subschema matched",
            "matchingSchemaIndexes": [0, 1],
        },
        doc! { "operatorName": "not", "reason": "child expression matched" },
    ];
    assert_eq!(details(of, doc! { "n": "x", "s": "y", "z": 1 }), expected);
}

#[test]
fn a_name_with_dots_is_a_path() {
    let accepts =
        |of: Document, document: Document| schema(&of).accepts_document(&raw(&document)).unwrap();
    let required = || doc! { "required": ["a.b"] };
    assert!(accepts(required(), doc! { "a": { "b": null } }));
    assert!(accepts(required(), doc! { "a": [{}, { "b": 1 }] }));
    assert!(!accepts(required(), doc! { "a": { "c": 1 } }));
    assert!(!accepts(required(), doc! { "a.b": 1 }));
    let small = || doc! { "properties": { "a.b": { "maximum": 5 } } };
    assert!(accepts(small(), doc! { "a": { "b": 5 } }));
    assert!(accepts(small(), doc! { "a": {}, "a.b": 6 }));
    assert!(!accepts(small(), doc! { "a": { "b": 6 } }));
    assert!(accepts(small(), doc! { "a": [{ "b": 6 }, { "b": 4 }] }));
    assert!(!accepts(small(), doc! { "a": [{ "b": 6 }, { "b": 7 }] }));
    let both = || doc! { "dependencies": { "a.b": ["c.d"] } };
    assert!(!accepts(both(), doc! { "a": { "b": 1 } }));
    assert!(accepts(both(), doc! { "a": { "b": 1 }, "c": { "d": 1 } }));
    // What other fields there may be is asked of their names.
    let closed = || doc! { "properties": { "a.b": {} }, "additionalProperties": false };
    assert!(!accepts(closed(), doc! { "a": { "b": 1 } }));
    assert!(accepts(closed(), doc! { "a.b": 1 }));
    let mut needs = Needs::none();
    schema(&required()).needs(&mut needs);
    schema(&small()).needs(&mut needs);
    assert_eq!(needs, Needs::Paths(vec![Path::new("a.b")]));
}

#[test]
fn many_names_are_found_as_few_are() {
    let names: Vec<String> = (0..40).map(|at| format!("f{at}")).collect();
    let properties: Document =
        names.iter().map(|name| (name.clone(), bson!({ "minimum": 1 }))).collect();
    let of = schema(&doc! { "required": names.clone(), "properties": properties });
    let document: Document = names.iter().map(|name| (name.clone(), bson!(1))).collect();
    assert!(of.accepts_document(&raw(&document)).unwrap());
    for (name, value) in [("f0", Some(0)), ("f39", Some(0)), ("f7", None)] {
        let mut other = document.clone();
        other.remove(name);
        value.map(|value| other.insert(name, value));
        assert!(!of.accepts_document(&raw(&other)).unwrap(), "{name}");
    }
}

#[test]
fn the_error_of_the_keyword_read_first_is_told() {
    assert_eq!(code(doc! { "minimum": "x", "bsonType": "foo" }), 2);
    assert_eq!(code(doc! { "properties": 5, "required": [] }), 9);
    assert_eq!(code(doc! { "properties": { "a": 5 }, "type": "foo" }), 2);
    assert_eq!(code(doc! { "enum": 5, "allOf": [] }), 2);
    assert_eq!(code(doc! { "bsonType": "foo", "title": 5 }), 14);
}

#[test]
fn what_no_document_can_be_is_explained_as_mongodb_does() {
    let never = "expression always evaluates to false";
    let told = doc! { "operatorName": "enum", "specifiedAs": { "enum": [1, 2] }, "reason": never };
    assert_eq!(details(doc! { "enum": [1, 2] }, doc! {}), [told]);
    let told = details(doc! { "enum": [1, {}] }, doc! { "a": 1 }).remove(0);
    assert_eq!(told.get_str("reason").unwrap(), "value was not found in enum");
    let (title, sub) = ("t", doc! { "title": "t", "bsonType": "string" });
    let told = details(doc! { "allOf": [sub, { "title": title, "required": ["a"] }] }, doc! {});
    let told = told[0].get_array("schemasNotSatisfied").unwrap();
    let keys = |at: usize| told[at].as_document().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(0), ["index", "details"]);
    assert_eq!(keys(1), ["index", "title", "details"]);
}

#[test]
fn a_filter_may_hold_a_schema() {
    let filter = |by: Document| crate::query::Filter::parse(&raw(&by), &crate::Context::new());
    let by = filter(doc! { "$jsonSchema": { "required": ["a"] }, "b": 1 }).unwrap();
    assert!(by.matches(&raw(&doc! { "a": 1, "b": 1 })).unwrap());
    assert!(!by.matches(&raw(&doc! { "b": 1 })).unwrap());
    assert_eq!(filter(doc! { "$jsonSchema": 1 }).unwrap_err().code().number(), 14);
}
