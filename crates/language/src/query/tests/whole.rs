//! What is asked of a whole filter: equalities, text, needs.

use super::*;

#[test]
fn equalities_for_upserts() {
    let found = |by: Document| -> Vec<String> {
        let parsed = filter(&by);
        let found = parsed.equalities().unwrap();
        found
            .iter()
            .map(|(path, value)| format!("{path}={}", crate::describe::value(*value)))
            .collect()
    };
    assert_eq!(found(doc! { "a": 1, "b.c": "x", "d": { "$gt": 5 } }), ["a=1", "b.c=\"x\""]);
    assert_eq!(found(doc! { "$and": [{ "a": 1 }, { "$and": [{ "b": 2 }] }] }), ["a=1", "b=2"]);
    assert_eq!(found(doc! { "$or": [{ "a": 1 }] }), ["a=1"]);
    assert!(found(doc! { "$or": [{ "a": 1 }, { "a": 2 }] }).is_empty());
    assert_eq!(found(doc! { "a": { "$in": [1] }, "b": { "$all": [2] } }), ["a=1", "b=2"]);
    assert!(found(doc! { "a": { "$in": [1, 2] }, "b": { "$ne": 1 } }).is_empty());
    let code = |by: Document| filter(&by).equalities().unwrap_err().code().number();
    assert_eq!(code(doc! { "a": { "$all": [1, 2] } }), 54);
    assert_eq!(code(doc! { "a": 1, "$and": [{ "a.b": 2 }] }), 54);
}

#[test]
fn filters_are_shown_with_every_operator() {
    let rows = [
        (doc! {}, doc! {}),
        (doc! { "a": 1 }, doc! { "a": { "$eq": 1 } }),
        (
            doc! { "b": { "$gt": 5 }, "a": 1 },
            doc! { "$and": [{ "a": { "$eq": 1 } }, { "b": { "$gt": 5 } }] },
        ),
        (doc! { "a": { "$ne": 1 } }, doc! { "a": { "$not": { "$eq": 1 } } }),
        (doc! { "$expr": { "$gt": ["$a", 1] } }, doc! { "$expr": { "$gt": ["$a", 1] } }),
        (doc! { "a": { "$exists": false } }, doc! { "a": { "$not": { "$exists": true } } }),
        (doc! { "a": { "$in": [2, 1] } }, doc! { "a": { "$in": [1, 2] } }),
        (doc! { "a": { "$in": [] } }, doc! { "$alwaysFalse": 1 }),
        (doc! { "a": regex("x", "i") }, doc! { "a": { "$regex": "x", "$options": "i" } }),
        (doc! { "a": { "$type": "string" } }, doc! { "a": { "$type": [2] } }),
        (
            doc! { "$or": [{ "a": { "$lt": 1 } }, { "$nor": [{ "b": 1 }] }] },
            doc! { "$or": [{ "a": { "$lt": 1 } }, { "$nor": [{ "b": { "$eq": 1 } }] }] },
        ),
    ];
    for (by, shown) in rows {
        assert_eq!(filter(&by).to_document(), raw(&shown), "{by}");
    }
}

#[test]
fn needs_are_the_paths_named() {
    let mut needs = Needs::none();
    filter(&doc! { "a.b": 1, "$or": [{ "c": 1 }, { "d": { "$elemMatch": { "e": 1 } } }] })
        .needs(&mut needs);
    let paths = ["a.b", "c", "d"].map(Path::new).to_vec();
    assert_eq!(needs, Needs::Paths(paths));
}

#[test]
fn one_value_can_be_matched() {
    let value_filter = |by: Document| ValueFilter::parse(&raw(&by), &Context::new()).unwrap();
    let list = raw(&doc! { "l": [1, 9, { "b": 1 }, [1]] });
    let list = value::element::get(&list, "l").unwrap();
    let which = |by: Document| -> Vec<bool> {
        let by = value_filter(by);
        list.children().map(|item| by.matches(item).unwrap()).collect()
    };
    assert_eq!(which(doc! { "$gt": 5 }), [false, true, false, false]);
    assert_eq!(which(doc! { "b": 1 }), [false, false, true, false]);
    assert_eq!(which(doc! { "$in": [1] }), [true, false, false, false]);
}

#[test]
fn expressions_imply_equalities() {
    let implied = |by: Document| filter(&by).implied();
    let path = |path: &str, value: Bson| doc! { path: { "$eq": value } };
    let cases = [
        (doc! { "$expr": { "$eq": ["$a.b", 5] } }, vec![path("a.b", bson!(5))]),
        (doc! { "$expr": { "$eq": [{ "$add": [1, 2] }, "$a"] } }, vec![path("a", bson!(3))]),
        (doc! { "$expr": { "$eq": ["$a", null] } }, vec![path("a", Bson::Null)]),
        (
            doc! { "x": 1, "$expr": { "$and": [{ "$eq": ["$a", 1] }, { "$gt": ["$b", 2] }, { "$eq": ["$c", "x"] }] } },
            vec![path("a", bson!(1)), path("c", bson!("x"))],
        ),
    ];
    for (by, expected) in cases {
        assert_eq!(implied(by.clone()), Some(raw(&doc! { "$and": expected })), "{by}");
    }
    for by in [
        doc! { "$expr": { "$eq": ["$a", [1]] } },
        doc! { "$expr": { "$eq": ["$a", "$b"] } },
        doc! { "$expr": { "$eq": ["$a", "$$REMOVE"] } },
        doc! { "$expr": { "$ne": ["$a", 1] } },
        doc! { "$expr": { "$not": { "$eq": ["$a", 1] } } },
        doc! { "$expr": { "$or": [{ "$eq": ["$a", 1] }, { "$eq": ["$b", 1] }] } },
        doc! { "$or": [{ "$expr": { "$eq": ["$a", 1] } }, { "b": 1 }] },
        doc! { "a": 1 },
    ] {
        assert_eq!(implied(by.clone()), None, "{by}");
    }
}
