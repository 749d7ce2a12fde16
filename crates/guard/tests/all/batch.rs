//! What a write needs of its document and of others is loaded, that of a batch at once.

use bson::{RawDocument, RawDocumentBuf, rawdoc};
use naive::Memory;

/// The policy of `patterns/stamp.rs`, under which each insert writes to one further document.
fn stamped() -> Memory {
    naive::stamp::switch_on();
    let memory = Memory::with_policy("c", &rawdoc! { "document": { "warn_bytes": 12_345 } });
    memory.put("log", rawdoc! { "_id": "all", "lines": [] });
    memory
}

#[tokio::test]
async fn one_load_serves_a_batch_of_inserts() {
    let documents: Vec<RawDocumentBuf> = (0..500).map(|id| rawdoc! { "_id": id }).collect();
    let documents: Vec<&RawDocument> = documents.iter().map(|document| &**document).collect();
    let together = stamped();
    together.insert_many("c", &documents).await.unwrap();
    assert_eq!(together.round_trips(), 1);
    let one_by_one = stamped();
    for document in &documents {
        one_by_one.insert("c", document).await.unwrap();
    }
    assert_eq!(one_by_one.round_trips(), 500);
    assert_eq!(together.documents("log"), one_by_one.documents("log"));
    assert_eq!(together.documents("c"), one_by_one.documents("c"));
}

#[tokio::test]
async fn a_pattern_sees_what_it_needs_of_a_deleted_document() {
    let memory = stamped();
    for id in 0..3 {
        memory.put("companions", rawdoc! { "_id": id });
    }
    memory.insert("c", &rawdoc! { "_id": 1, "companions": [0, 2, 5] }).await.unwrap();
    assert_eq!(memory.delete("c", &rawdoc! {}).await.unwrap(), 1);
    assert_eq!(memory.documents("companions"), [rawdoc! { "_id": 1 }]);
}
