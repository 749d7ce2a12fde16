//! Regular expressions, `$expr`, collation, and what is refused.

use super::*;

#[test]
fn regexes() {
    check(&[
        (
            doc! { "a": regex("^ab", "") },
            &[
                (doc! { "a": "abc" }, true),
                (doc! { "a": "xab" }, false),
                (doc! { "a": ["x", "abc"] }, true),
                (doc! { "a": Bson::Symbol("abc".into()) }, true),
                (doc! { "a": regex("^ab", "") }, true),
                (doc! { "a": regex("^ab", "i") }, false),
                (doc! { "a": 1 }, false),
                (doc! {}, false),
            ],
        ),
        (doc! { "a": { "$regex": "^AB", "$options": "i" } }, &[(doc! { "a": "abc" }, true)]),
        (doc! { "a": { "$options": "i", "$regex": "^AB" } }, &[(doc! { "a": "abc" }, true)]),
        (doc! { "a": { "$regex": regex("é.$", "s") } }, &[(doc! { "a": "é\n" }, true)]),
        (
            doc! { "a": { "$regex": "b", "$ne": "abc" } },
            &[(doc! { "a": "abc" }, false), (doc! { "a": "abd" }, true)],
        ),
        (doc! { "a": { "$not": { "$regex": "b" } } }, &[(doc! { "a": "c" }, true)]),
    ]);
    refused(&[
        (doc! { "a": { "$regex": 1 } }, 2, "$regex has to be a string"),
        (doc! { "a": { "$regex": "x", "$options": 1 } }, 2, "$options has to be a string"),
        (doc! { "a": { "$options": "i" } }, 2, "$options needs a $regex"),
        (doc! { "a": { "$regex": "(" } }, 51091, "Regular expression is invalid"),
        (
            doc! { "a": { "$regex": "a", "$options": "q" } },
            51108,
            "invalid flag in regex options: q",
        ),
        (doc! { "a": { "$regex": "a\0b" } }, 2, "embedded null byte"),
        (
            doc! { "a": { "$regex": regex("a", "i"), "$options": "s" } },
            51075,
            "options set in both",
        ),
        (
            doc! { "a": { "$options": "s", "$regex": regex("a", "i") } },
            51074,
            "options set in both",
        ),
    ]);
}

#[test]
fn expr() {
    assert!(matches(doc! { "$expr": { "$eq": ["$a", "$b"] } }, doc! { "a": 1, "b": 1.0 }));
    assert!(!matches(doc! { "$expr": "$missing" }, doc! { "a": 1 }));
    assert!(matches(doc! { "$expr": "$a" }, doc! { "a": "x" }));
}

#[test]
fn what_is_not_supported_is_refused() {
    refused(&[
        (doc! { "$where": "this.a" }, 2, "server-side JavaScript"),
        (doc! { "$text": { "$search": "x" } }, 27, "text index required"),
        (doc! { "a": { "$near": [0, 0] } }, 291, "$near is not supported"),
        (doc! { "a": { "$geoWithin": {} } }, 238, "$geoWithin is not supported"),
    ]);
}

#[test]
fn a_collation_decides_how_strings_compare() {
    let collation = raw(&doc! { "locale": "en", "strength": 2 });
    let collator = Collator::parse(&collation).unwrap().map(Arc::new);
    let context = Context { collator, ..Context::new() };
    let matches = |by: Document, document: Document| {
        Filter::parse(&raw(&by), &context).unwrap().matches(&raw(&document)).unwrap()
    };
    assert!(matches(doc! { "a": "abc" }, doc! { "a": "ABC" }));
    assert!(matches(doc! { "a": { "b": "x" } }, doc! { "a": { "b": "X" } }));
    assert!(matches(doc! { "a": { "$in": ["ZZ", "b", "A"] } }, doc! { "a": ["x", "B"] }));
    assert!(matches(doc! { "a": { "$gt": "B" } }, doc! { "a": "c" }));
    assert!(!matches(doc! { "a": { "$ne": "abc" } }, doc! { "a": "Abc" }));
    // Regular expressions are not touched by it.
    assert!(!matches(doc! { "a": regex("abc", "") }, doc! { "a": "ABC" }));
}
