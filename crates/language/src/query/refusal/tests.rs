use super::*;
use crate::report::REPORT_BYTES_MAX;
use bson::{Bson, Document, doc};

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn info(filter: Document, document: Document) -> Document {
    let refusal = Refusal::parse(&raw(&filter), &Context::new()).unwrap();
    Document::try_from(refusal.info(&raw(&document))).unwrap()
}

fn said(filter: Document, document: Document) -> String {
    Refusal::parse(&raw(&filter), &Context::new()).unwrap().sentence(&raw(&document))
}

fn check(filter: Document, document: Document, expected: Document) {
    let shown = format!("{filter} on {document}");
    assert_eq!(info(filter, document).get_document("details").unwrap(), &expected, "{shown}");
}

/// A condition on a field, a document that breaks it, and what is told beside
/// the operator's name and the condition itself.
fn leaf(name: &str, filter: Document, document: Document, rest: Document) {
    let mut expected = doc! { "operatorName": name, "specifiedAs": filter.clone() };
    expected.extend(rest);
    check(filter, document, expected);
}

fn considered(reason: &str, value: impl Into<Bson>) -> Document {
    doc! { "reason": reason, "consideredValue": value.into() }
}

#[test]
fn the_document_is_named() {
    let told = info(doc! { "a": 2 }, doc! { "_id": 10, "a": 1 });
    assert_eq!(told.get_i32("failingDocumentId").unwrap(), 10);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["failingDocumentId", "details"]);
}

#[test]
fn comparisons() {
    leaf("$eq", doc! { "a": 2 }, doc! { "a": 1 }, considered("comparison failed", 1));
    leaf("$eq", doc! { "a": { "$eq": 2 } }, doc! { "a": 1 }, considered("comparison failed", 1));
    leaf("$lt", doc! { "a": { "$lt": 0 } }, doc! {}, doc! { "reason": "field was missing" });
    leaf(
        "$gte",
        doc! { "a.b": { "$gte": 3 } },
        doc! { "a": [{ "b": [0, 1] }, { "b": 2 }] },
        doc! { "reason": "comparison failed", "consideredValues": [0, 1, 2] },
    );
    leaf(
        "$gt",
        doc! { "a": { "$gt": 3 } },
        doc! { "a": [] },
        doc! { "reason": "comparison failed", "consideredValues": [] },
    );
    leaf("$ne", doc! { "a": { "$ne": 2 } }, doc! { "a": 2 }, considered("comparison succeeded", 2));
    let missed = "no matching value found in array";
    leaf("$in", doc! { "a": { "$in": [1, 2] } }, doc! { "a": 4 }, considered(missed, 4));
    let found = "matching value found in array";
    leaf("$nin", doc! { "a": { "$nin": [1] } }, doc! { "a": 1 }, considered(found, 1));
    let many: Vec<i32> = (0..12).collect();
    leaf(
        "$eq",
        doc! { "a": -1 },
        doc! { "a": many.clone() },
        doc! {
            "reason": "comparison failed", "consideredValues": many[..10].to_vec(),
            "consideredValuesTruncated": true,
        },
    );
}

#[test]
fn other_conditions() {
    let there = doc! { "a": { "$exists": true } };
    leaf("$exists", there, doc! {}, doc! { "reason": "path does not exist" });
    let gone = doc! { "a": { "$exists": false } };
    leaf("$exists", gone, doc! { "a": 1 }, doc! { "reason": "path does exist" });
    let mut told = considered("type did not match", "one");
    told.insert("consideredType", "string");
    leaf("$type", doc! { "a": { "$type": "int" } }, doc! { "a": "one" }, told);
    leaf(
        "$type",
        doc! { "a": { "$type": "int" } },
        doc! { "a": ["x", 1.5] },
        doc! {
            "reason": "type did not match", "consideredValues": ["x", 1.5],
            "consideredTypes": ["double", "string"],
        },
    );
    let reason = "$mod did not evaluate to expected remainder";
    leaf("$mod", doc! { "a": { "$mod": [2, 0] } }, doc! { "a": 1 }, considered(reason, 1));
    leaf(
        "$mod",
        doc! { "a": { "$mod": [2, 0] } },
        doc! { "a": "x" },
        doc! {
            "reason": "type did not match", "consideredType": "string",
            "expectedTypes": ["decimal", "double", "int", "long"], "consideredValue": "x",
        },
    );
    let reason = "array length was not equal to given size";
    leaf("$size", doc! { "a": { "$size": 2 } }, doc! { "a": [1] }, considered(reason, vec![1]));
    leaf(
        "$size",
        doc! { "a": { "$size": 2 } },
        doc! { "a": 1 },
        doc! {
            "reason": "type did not match", "consideredType": "int", "expectedType": "array",
            "consideredValue": 1,
        },
    );
    let reason = "array did not satisfy the child predicate";
    let filter = doc! { "a": { "$elemMatch": { "$gt": 5 } } };
    leaf("$elemMatch", filter, doc! { "a": [1, 2] }, considered(reason, vec![1, 2]));
    let reason = "array did not contain all specified values";
    leaf("$all", doc! { "a": { "$all": [1, 2] } }, doc! { "a": [1] }, considered(reason, vec![1]));
    let never = doc! { "reason": "expression always evaluates to false" };
    leaf("$all", doc! { "a": { "$all": [] } }, doc! { "a": [1] }, never);
    let reason = "bitwise operator failed to match";
    leaf("$bitsAllSet", doc! { "a": { "$bitsAllSet": 3 } }, doc! { "a": 1 }, considered(reason, 1));
    let reason = "regular expression did not match";
    let filter = doc! { "a": { "$regex": "^x", "$options": "i" } };
    leaf("$regex", filter, doc! { "a": "y" }, considered(reason, "y"));
}

#[test]
fn lists_of_clauses() {
    let lt = |bound: i32, reason: &str, value: i32| {
        doc! {
            "operatorName": "$lt", "specifiedAs": { "a": { "$lt": bound } },
            "reason": reason, "consideredValue": value,
        }
    };
    check(
        doc! { "b": { "$gt": 0 }, "a": { "$lt": 10 } },
        doc! { "a": 11, "b": 2 },
        doc! {
            "operatorName": "$and",
            "clausesNotSatisfied": [{ "index": 1, "details": lt(10, "comparison failed", 11) }],
        },
    );
    check(
        doc! { "$or": [{ "a": { "$lt": 10 } }, { "a": { "$lt": 5 } }] },
        doc! { "a": 11 },
        doc! {
            "operatorName": "$or",
            "clausesNotSatisfied": [
                { "index": 0, "details": lt(10, "comparison failed", 11) },
                { "index": 1, "details": lt(5, "comparison failed", 11) },
            ],
        },
    );
    check(
        doc! { "$nor": [{ "a": { "$lt": 5 } }, { "a": { "$lt": 10 } }] },
        doc! { "a": 9 },
        doc! {
            "operatorName": "$nor",
            "clausesSatisfied": [{ "index": 1, "details": lt(10, "comparison succeeded", 9) }],
        },
    );
    check(
        doc! { "a": { "$not": { "$lt": 10 } } },
        doc! { "a": 9 },
        doc! { "operatorName": "$not", "details": lt(10, "comparison succeeded", 9) },
    );
    check(
        doc! { "a": { "$not": { "$not": { "$lt": 10 } } } },
        doc! { "a": 11 },
        doc! {
            "operatorName": "$not",
            "details": { "operatorName": "$not", "details": lt(10, "comparison failed", 11) },
        },
    );
    check(
        doc! { "a": { "$not": { "$lt": 10, "$ne": 3 } } },
        doc! { "a": 9 },
        doc! {
            "operatorName": "$not",
            "details": {
                "operatorName": "$and",
                "clausesSatisfied": [
                    { "index": 0, "details": lt(10, "comparison succeeded", 9) },
                    { "index": 1, "details": {
                        "operatorName": "$ne", "specifiedAs": { "a": { "$ne": 3 } },
                        "reason": "comparison failed", "consideredValue": 9,
                    } },
                ],
            },
        },
    );
}

#[test]
fn what_looks_at_no_field() {
    let filter = doc! { "$expr": { "$eq": ["$a", "$b"] } };
    leaf(
        "$expr",
        filter.clone(),
        doc! { "a": 1, "b": 2 },
        doc! { "reason": "expression did not match", "expressionResult": false },
    );
    check(
        doc! { "$nor": [filter.clone()] },
        doc! { "a": 1, "b": 1 },
        doc! {
            "operatorName": "$nor",
            "clausesSatisfied": [{ "index": 0, "details": {
                "operatorName": "$expr", "specifiedAs": filter,
                "reason": "expression did match", "expressionResult": true,
            } }],
        },
    );
    let told = info(doc! { "$expr": { "$divide": [10, "$zero"] } }, doc! { "zero": 0 });
    let told = told.get_document("details").unwrap();
    assert_eq!(told.get_str("reason").unwrap(), "failed to evaluate aggregation expression");
    let error = told.get_document("details").unwrap();
    assert_eq!(error.get_i32("code").unwrap(), 2);
    assert_eq!(error.get_str("codeName").unwrap(), "BadValue");
    let filter = doc! { "$alwaysFalse": 1 };
    let reason = doc! { "reason": "expression always evaluates to false" };
    leaf("$alwaysFalse", filter, doc! {}, reason);
    check(
        doc! { "$nor": [{ "$jsonSchema": { "required": ["a"] } }] },
        doc! { "a": 1 },
        doc! {
            "operatorName": "$nor",
            "clausesSatisfied": [{ "index": 0, "details": {
                "operatorName": "$jsonSchema", "reason": "schema matched",
            } }],
        },
    );
}

#[test]
fn a_large_value_is_left_out() {
    let large = "x".repeat(REPORT_BYTES_MAX + 1);
    let told = info(doc! { "a": "y" }, doc! { "_id": 1, "a": large });
    let expected = doc! {
        "failingDocumentId": 1, "truncated": true,
        "details": { "operatorName": "$eq", "reason": "comparison failed" },
    };
    assert_eq!(told, expected);
}

#[test]
fn the_sentence_names_path_rule_and_value() {
    let schema = doc! { "$jsonSchema": {
        "required": ["name"],
        "properties": { "list": { "items": { "properties": { "n": { "bsonType": "int" } } } } },
    } };
    assert_eq!(
        said(schema.clone(), doc! { "name": 1, "list": [{ "n": 1 }, { "n": "x" }] }),
        "'list.1.n' does not satisfy bsonType: \"int\": type did not match; found \"x\" of type string"
    );
    assert_eq!(
        said(schema, doc! {}),
        "the document does not satisfy required: [ \"name\" ]; missing: [ \"name\" ]"
    );
    assert_eq!(
        said(doc! { "a": { "$lt": 10 } }, doc! { "a": 11 }),
        "'a' does not satisfy $lt (a: { $lt: 10 }): comparison failed; found 11"
    );
    assert_eq!(
        said(doc! { "$nor": [{ "a": 1 }] }, doc! { "a": 1 }),
        "'a' may not satisfy $eq (a: 1): comparison succeeded; found 1"
    );
    assert_eq!(
        said(doc! { "a": { "$not": { "$gt": 1 } } }, doc! { "a": 2 }),
        "'a' may not satisfy $gt (a: { $gt: 1 }): comparison succeeded; found 2"
    );
    let long = said(doc! { "a": 1 }, doc! { "a": "y".repeat(10_000) });
    assert!(long.len() < 400, "{long}");
}

#[test]
fn the_sentence_tells_each_rule_of_which_one_would_do() {
    let of = |rule: Document| doc! { "$jsonSchema": { "properties": { "a": rule } } };
    let string = doc! { "bsonType": "string" };
    let many = doc! { "bsonType": "int", "minimum": 10 };
    let string_said =
        "'a' does not satisfy bsonType: \"string\": type did not match; found 5 of type int";
    for keyword in ["anyOf", "oneOf"] {
        let rule = doc! { keyword: [string.clone(), many.clone()] };
        assert_eq!(
            said(of(rule), doc! { "a": 5 }),
            format!(
                "'a' satisfies none of {keyword}: (1) {string_said}, (2) 'a' does not satisfy \
                 minimum: 10: comparison failed; found 5"
            )
        );
        // One alone is the rule itself.
        assert_eq!(said(of(doc! { keyword: [string.clone()] }), doc! { "a": 5 }), string_said);
    }
    assert_eq!(
        said(
            doc! { "$or": [{ "phone": { "$type": "string" } }, { "email": { "$regex": "@" } }] },
            doc! { "phone": 5 },
        ),
        "the document satisfies none of $or: (1) 'phone' does not satisfy $type (phone: { $type: \
         \"string\" }): type did not match; found 5 of type int, (2) 'email' does not satisfy \
         $regex (email: { $regex: \"@\" }): field was missing"
    );
    let all: Vec<Document> = (0..9).map(|at| doc! { "a": at }).collect();
    let told = said(doc! { "$or": all }, doc! { "a": 9 });
    assert!(told.contains("(4) ") && told.ends_with(" and 5 more"), "{told}");
    let long: Vec<Document> = (0..9).map(|_| doc! { "a": "y".repeat(10_000) }).collect();
    let told = said(doc! { "$or": long }, doc! { "a": "z".repeat(10_000) });
    assert!(told.len() < 2_000, "{told}");
    assert_eq!(
        said(doc! { "$nor": [{ "a": 1, "b": 2 }] }, doc! { "a": 1, "b": 2 }),
        "the document may not satisfy all of $and: (1) 'a' may not satisfy $eq (a: 1): comparison \
         succeeded; found 1, (2) 'b' may not satisfy $eq (b: 2): comparison succeeded; found 2"
    );
}

#[test]
fn the_sentence_names_what_may_not_hold() {
    let of = |rule: Document| doc! { "$jsonSchema": { "properties": { "a": rule } } };
    assert_eq!(
        said(of(doc! { "not": { "bsonType": "int" } }), doc! { "a": 5 }),
        "'a' does not satisfy not: { bsonType: \"int\" }: child expression matched; found 5"
    );
    let rule = doc! { "oneOf": [{ "minimum": 9 }, { "minimum": 1 }, { "maximum": 6 }] };
    assert_eq!(
        said(of(rule), doc! { "a": 5 }),
        "'a' does not satisfy oneOf: [ { minimum: 9 }, { minimum: 1 }, { maximum: 6 } ]: more \
         than one subschema matched, [ 1, 2 ]; found 5"
    );
    assert_eq!(
        said(doc! { "$nor": [{ "$jsonSchema": { "required": ["a"] } }] }, doc! { "a": 1 }),
        "the document may not satisfy $jsonSchema: { required: [ \"a\" ] }: schema matched"
    );
    assert_eq!(
        said(doc! { "$nor": [{}] }, doc! {}),
        "the document may not satisfy {}, which all documents do"
    );
}

#[test]
fn the_sentence_leaves_nothing_unnamed() {
    let int = doc! { "$jsonSchema": { "properties": { "a": { "bsonType": "int" } } } };
    let rule = "'a' does not satisfy bsonType: \"int\": type did not match; found";
    for (value, found) in [
        (Bson::Int64(5), "5 of type long"),
        (Bson::JavaScriptCode(String::new()), "Code(\"\") of type javascript"),
        (Bson::Symbol("x".into()), "\"x\" of type symbol"),
    ] {
        assert_eq!(said(int.clone(), doc! { "a": value }), format!("{rule} {found}"));
    }
    assert_eq!(
        said(doc! { "a": { "$type": "int" } }, doc! { "a": ["x", 1.5] }),
        "'a' does not satisfy $type (a: { $type: \"int\" }): type did not match; found [ \"x\", \
         1.5 ] of types [ \"double\", \"string\" ]"
    );
    assert_eq!(
        said(doc! { "": 1 }, doc! { "": 2 }),
        "'' does not satisfy $eq ('': 1): comparison failed; found 2"
    );
    let empty = doc! { "$jsonSchema": { "properties": { "": { "minimum": 3 } } } };
    assert_eq!(
        said(empty, doc! { "": 2 }),
        "'' does not satisfy minimum: 3: comparison failed; found 2"
    );
}

#[test]
fn the_sentence_is_whole_where_the_account_is_cut() {
    let many = vec![Bson::String("x".repeat(1_000)); 13_000];
    let cut = format!("[ \"{}", "x".repeat(100));
    for (filter, rule) in [
        (doc! { "a": { "$size": 1 } }, "'a' does not satisfy $size (a: { $size: 1 }): "),
        (
            doc! { "$jsonSchema": { "properties": { "a": { "maxItems": 9 } } } },
            "'a' does not satisfy maxItems: 9: array did not match specified length, 13000 items",
        ),
    ] {
        let document = doc! { "a": many.clone() };
        assert!(info(filter.clone(), document.clone()).get_bool("truncated").unwrap());
        let said = said(filter, document);
        assert!(said.starts_with(rule) && said.contains(&cut) && said.len() < 500, "{said}");
    }
}

#[test]
fn the_sentence_is_whole_where_there_is_no_account() {
    let names: Document =
        (0..60_000).map(|at| (format!("{at}{}", "n".repeat(250)), Bson::Null)).collect();
    let filter = doc! { "$jsonSchema": { "additionalProperties": false } };
    let told = info(filter.clone(), names.clone());
    assert_eq!(told.get_str("note").unwrap(), "detailed error was too large");
    let told = said(filter, names);
    let rule = "the document does not satisfy additionalProperties: false; not allowed: [ \"0nnn";
    assert!(told.starts_with(rule) && told.len() < 400, "{told}");

    let (mut schema, mut document) = (doc! { "maximum": 5 }, Bson::Int32(6));
    for _ in 0..48 {
        schema = doc! { "properties": { "a": schema } };
        document = Bson::Document(doc! { "a": document });
    }
    let document = document.as_document().unwrap().clone();
    let filter = doc! { "$jsonSchema": schema };
    let told = info(filter.clone(), document.clone());
    assert_eq!(told.get_str("reason").unwrap(), "generated error was too deeply nested");
    let path = ["a"; 48].join(".");
    let expected = format!("'{path}' does not satisfy maximum: 5: comparison failed; found 6");
    assert_eq!(said(filter, document), expected);
}

#[test]
fn what_cannot_be_evaluated_is_told_where_it_stands() {
    let bomb = format!("{}!", "a".repeat(40));
    let pattern = "^(a+)+$";
    let error = "(Error occurred while executing the regular expression. Result code: -47 (PCRE2: \
                 error matching: match limit exceeded))";
    let is = doc! { "pattern": pattern };
    let said =
        |schema: Document, document: Document| said(doc! { "$jsonSchema": schema }, document);
    let failed = format!(
        "'s' does not satisfy pattern: \"{pattern}\": failed to evaluate regular expression \
         {error}; found \"{bomb}\""
    );
    for rule in [
        is.clone(),
        doc! { "allOf": [is.clone()] },
        doc! { "oneOf": [{ "bsonType": "string" }, is.clone()] },
    ] {
        let document = doc! { "s": bomb.clone() };
        assert_eq!(said(doc! { "properties": { "s": rule } }, document), failed);
    }
    let list = doc! { "s": [bomb.clone()] };
    for rule in [doc! { "items": is.clone() }, doc! { "items": [], "additionalItems": is.clone() }]
    {
        let expected = failed.replace("'s'", "'s.0'");
        assert_eq!(said(doc! { "properties": { "s": rule } }, list.clone()), expected);
    }
    assert_eq!(
        said(doc! { "properties": { "s": { "not": is } } }, doc! { "s": bomb.clone() }),
        format!(
            "'s' does not satisfy not: {{ pattern: \"{pattern}\" }}: failed to evaluate child \
             expression {error}; found \"{bomb}\""
        )
    );
    assert_eq!(
        said(doc! { "patternProperties": { pattern: {} } }, doc! { bomb.clone(): 1 }),
        format!(
            "'{bomb}' does not satisfy patternProperties '{pattern}': failed to evaluate regular \
             expression {error}"
        )
    );
    let only = doc! { "patternProperties": { pattern: {} }, "additionalProperties": false };
    assert_eq!(
        said(only, doc! { bomb.clone(): 1 }),
        format!(
            "the document does not satisfy additionalProperties: false; not allowed: [ \"{bomb}\" ]"
        )
    );
}

#[test]
fn a_condition_that_cannot_be_evaluated_neither_held_nor_failed() {
    let bomb = format!("{}!", "a".repeat(40));
    let filter = doc! { "s": { "$not": { "$regex": "^(a+)+$" } } };
    let told = said(filter, doc! { "s": bomb });
    assert!(told.contains("failed to evaluate condition (Error occurred"), "{told}");
}
