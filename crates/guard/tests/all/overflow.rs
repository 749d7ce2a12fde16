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
