//! What becomes of pages, on a naive store.

use crate::memory::Memory;
use bson::{RawBsonRef, rawdoc};

fn memory() -> Memory {
    let policy = rawdoc! { "arrays": { "a": { "max": 2, "on_limit": "overflow",
    "overflow": { "into": "p", "page": 2 } } } };
    Memory::with_policy("c", &policy)
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
