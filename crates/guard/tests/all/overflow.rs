//! What becomes of pages, on a naive store.

use bson::{RawBsonRef, rawdoc};
use language::update::Update;
use language::{Context, Needs};
use naive::Memory;
use value::element::get_value;
use write::Returns;

fn memory() -> Memory {
    let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow",
    "overflow": { "into": "p", "page": 2 } } } };
    Memory::with_policy("c", &crate::named(policy))
}

#[tokio::test]
async fn inserting_splits_and_deleting_cascades() {
    let memory = memory();
    memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5] }).await.unwrap();
    let head = rawdoc! { "_id": 1, "a": [1, 2], "aCount": 5, "aHasOverflow": true,
    "aOverflowPages": 2 };
    assert_eq!(memory.documents("c"), [head]);
    assert_eq!(memory.documents("p").len(), 2);
    assert_eq!(memory.delete("c", &rawdoc! {}).await.unwrap(), 1);
    assert!(memory.documents("p").is_empty());
}

#[tokio::test]
async fn a_failed_insert_is_the_documents_own() {
    let memory = memory();
    let document = rawdoc! { "_id": 1, "a": [1, 2, 3] };
    memory.insert("c", &document).await.unwrap();
    let error = memory.insert("c", &document).await.unwrap_err();
    assert_eq!((error.code().number(), error.message()), (11000, "E11000 in test.c"));
    assert_eq!(memory.documents("p").len(), 1);
}

#[tokio::test]
async fn pages_are_the_policys_alone() {
    let memory = memory();
    let error = memory.insert("p", &rawdoc! { "_id": 1 }).await.unwrap_err();
    assert_eq!(error.code().number(), 73);
    memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3] }).await.unwrap();
    let update = rawdoc! { "$set": { "x": 1 } };
    let updated = memory.update("p", &rawdoc! {}, RawBsonRef::Document(&update), None).await;
    assert_eq!(updated.unwrap_err().code().number(), 73);
    assert!(memory.delete("p", &rawdoc! {}).await.is_err());
}

#[tokio::test]
async fn an_upsert_splits_and_shows_what_is_asked_for() {
    let memory = memory();
    let push = rawdoc! { "$push": { "a": { "$each": [1, 2, 3, 4, 5] } } };
    let push = Update::parse(RawBsonRef::Document(&push), None, &Context::new()).unwrap();
    let last = rawdoc! { "a": { "$slice": -2 } };
    for (count, shown) in [(5, rawdoc! { "a": [4, 5] }), (10, rawdoc! { "a": [4, 5] })] {
        let returns = Returns { needs: Needs::All, projection: Some(&last), after: true };
        let changed = memory.change("c", &rawdoc! { "_id": 7 }, &push, Some(returns), true).await;
        let touched = changed.unwrap().touched.unwrap().document.unwrap();
        assert_eq!(get_value(&touched, "a"), get_value(&shown, "a"));
        assert_eq!(get_value(&touched, "aCount"), Some(RawBsonRef::Int32(count)));
    }
    assert_eq!(memory.documents("p").len(), 4);
}

/// What is pushed at either end, and what a slice keeps, is what it costs: no limit on how much
/// lies between, and no page that is neither at an end nor cut off.
#[tokio::test]
async fn pushes_at_both_ends_leave_what_is_between() {
    for keep in ["oldest", "newest"] {
        let policy = rawdoc! { "arrays": { "a": { "max": 10, "on_limit": "overflow",
        "overflow": { "into": "p", "page": 1_000, "keep": keep } } } };
        let memory = Memory::with_policy("c", &policy);
        let items: bson::RawArrayBuf = (0..150_000).collect();
        memory.insert("c", &rawdoc! { "_id": 1, "a": items }).await.unwrap();
        let pages = memory.documents("p");
        let lowest = || {
            let numbers = memory.documents("p").into_iter();
            numbers.filter_map(|page| page.get_i32("page").ok()).min()
        };
        for (push, untouched) in [
            (rawdoc! { "$each": [-1], "$position": 0 }, 148),
            (rawdoc! { "$each": [-2, -3], "$position": 0 }, 148),
            (rawdoc! { "$each": [7], "$slice": -150_000 }, 147),
            (rawdoc! { "$each": [8], "$position": 0, "$slice": 149_999 }, 147),
        ] {
            let push = rawdoc! { "$push": { "a": push } };
            let push = RawBsonRef::Document(&push);
            let updated = memory.update("c", &rawdoc! { "_id": 1 }, push, None).await.unwrap();
            assert_eq!(updated.modified, 1);
            let now = memory.documents("p");
            let same = now.iter().filter(|page| pages.contains(page)).count();
            assert!(same >= untouched, "{keep} {push:?}: {same}");
            // Where the pages are full, a prepend goes below them.
            assert!(untouched < 148 || lowest() == Some(0), "{keep} {:?}", lowest());
        }
        let cut = rawdoc! { "$push": { "a": { "$each": [9], "$slice": -3 } } };
        memory.update("c", &rawdoc! {}, RawBsonRef::Document(&cut), None).await.unwrap();
        assert!(memory.documents("p").len() <= 1);
    }
}

/// However it is pushed, an element may be nested as deeply as in a plain array.
#[tokio::test]
async fn what_is_too_deep_is_refused_at_either_end() {
    let memory = memory();
    memory.insert("c", &rawdoc! { "_id": 1, "a": [1, 2, 3, 4, 5] }).await.unwrap();
    let nested = |levels| (1..levels).fold(rawdoc! {}, |inner, _| rawdoc! { "x": inner });
    for clauses in [rawdoc! {}, rawdoc! { "$position": 0 }, rawdoc! { "$slice": -4 }] {
        let push = async |levels| {
            let mut clauses = clauses.clone();
            clauses.append(bson::cstr!("$each"), bson::rawbson!([nested(levels)]));
            let update = rawdoc! { "$push": { "a": clauses } };
            memory.update("c", &rawdoc! {}, RawBsonRef::Document(&update), None).await
        };
        push(170).await.unwrap();
        assert_eq!(push(182).await.unwrap_err().code(), error::Code::Overflow, "{clauses:?}");
    }
}
