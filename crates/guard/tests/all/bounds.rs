//! Bounds of arrays and documents, on a naive store.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use naive::Memory;

async fn update(memory: &Memory, update: &RawDocument) -> Result<RawDocumentBuf, i32> {
    let all = rawdoc! {};
    let updated = memory.update("c", &all, RawBsonRef::Document(update), None).await;
    updated.map_err(|error| error.code().number())?;
    Ok(memory.documents("c").remove(0))
}

#[tokio::test]
async fn updates_are_kept_within_bounds() {
    let policy = rawdoc! {
        "document": { "max_bytes": 300 },
        "undeclared_arrays": { "max": 1 },
        "arrays": {
            "kept": { "max": 2 },
            "s.log": { "max": 2, "on_limit": "drop_oldest" },
            "first": { "max": 2, "on_limit": "drop_newest" },
        },
    };
    let memory = Memory::with_policy("c", &policy);
    let start = rawdoc! { "_id": 1, "kept": [1, 2], "s": { "log": [1, 2] }, "first": [1, 2] };
    memory.insert("c", &start).await.unwrap();
    for refused in [
        rawdoc! { "$push": { "kept": 3 } },
        rawdoc! { "$set": { "other": [1, 2] } },
        rawdoc! { "$set": { "text": "x".repeat(400) } },
        rawdoc! { "kept": [1, 2, 3] },
    ] {
        assert_eq!(update(&memory, &refused).await, Err(121), "{refused:?}");
        assert_eq!(memory.documents("c"), std::slice::from_ref(&start));
    }
    let pushed = rawdoc! { "$push": { "s.log": 3, "first": 3 }, "$pop": { "kept": 1 } };
    let expected = rawdoc! { "_id": 1, "kept": [1], "s": { "log": [2, 3] }, "first": [1, 2] };
    assert_eq!(update(&memory, &pushed).await.unwrap(), expected);
}
