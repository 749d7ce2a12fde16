//! What a push writes: some of the last page, of the head where the newest elements are
//! kept, and the small part of its document, however long the array is. On a server of its
//! own, since the journal is everybody's.

use bson::{Document, doc};
use mongodb::{Client, Database};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What a page weighs when it is last written whole; from then on it is in segments.
const PAGE_BYTES_MAX: i64 = 17 * 1024;
/// A head that is not out of line.
const INLINE_BYTES_MAX: i64 = 16 * 1024;
/// The first and the last segment of a head.
const ENDS_BYTES_MAX: i64 = 9 * 1024;
/// Everything else that a push writes: the document without its array, index entries, the
/// record of the retryable write, the journal's own.
const REST_BYTES_MAX: i64 = 2 * 1024;
/// Pushes that fill more than a page.
const PUSHES: i32 = 230;
const FILL_ELEMENTS: i32 = 5000;
/// What makes an element of 150 bytes.
const TEXT_BYTES: usize = 126;

fn element(at: i32) -> Document {
    doc! { "at": at, "text": "x".repeat(TEXT_BYTES) }
}

async fn journaled(database: &Database) -> Result<i64> {
    let status = database.run_command(doc! { "serverStatus": 1 }).await?;
    Ok(status.get_document("freeboard")?.get_document("journal")?.get_i64("bytes")?)
}

async fn fill(database: &Database, name: &str, keep: &str, max: i32, elements: i32) -> Result<()> {
    // Pages are full by their bytes, not by the number of their elements.
    let overflow = doc! { "page": 1000, "keep": keep };
    let rule = doc! { "max": max, "on_limit": "overflow", "overflow": overflow };
    let policy = doc! { "arrays": { "entries": rule } };
    database.run_command(doc! { "setGrowthPolicy": name, "policy": policy }).await?;
    let c = database.collection::<Document>(name);
    c.insert_one(doc! { "_id": 1, "name": "a small field", "entries": [] }).await?;
    for first in (0..elements).step_by(FILL_ELEMENTS as usize) {
        let end = (first + FILL_ELEMENTS).min(elements);
        let each: Vec<Document> = (first..end).map(element).collect();
        let push = doc! { "$push": { "entries": { "$each": each } } };
        c.update_one(doc! { "_id": 1 }, push).await?;
    }
    Ok(())
}

/// The most that a push writes.
async fn most_of_a_push(database: &Database, name: &str) -> Result<i64> {
    let c = database.collection::<Document>(name);
    let mut most = 0;
    let mut before = journaled(database).await?;
    for at in 0..PUSHES {
        c.update_one(doc! { "_id": 1 }, doc! { "$push": { "entries": element(at) } }).await?;
        let after = journaled(database).await?;
        most = most.max(after - before);
        before = after;
    }
    Ok(most)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_writes_little_at_any_length() -> Result<()> {
    assert_eq!(element(1).to_vec()?.len(), 150);
    let data = tempfile::tempdir()?;
    let running = embedded::start(embedded::Options::local(data.path())).await?;
    let client = Client::with_uri_str(format!("mongodb://{}/", running.address)).await?;
    let database = client.database("journal");
    // A head of 100 finds room in the record of its document and is written with it.
    for (keep, max, head_bytes_max) in [
        ("oldest", 100, 0),
        ("oldest", 1000, 0),
        ("newest", 100, INLINE_BYTES_MAX),
        ("newest", 1000, ENDS_BYTES_MAX),
    ] {
        for elements in [1001, 40_000] {
            let name = format!("{keep}_{max}_{elements}");
            fill(&database, &name, keep, max, elements).await?;
            let most = most_of_a_push(&database, &name).await?;
            let told = format!("{keep}, {max} in the head, {elements} elements: {most} bytes");
            assert!(most > PAGE_BYTES_MAX / 2, "{told}");
            assert!(most <= PAGE_BYTES_MAX + head_bytes_max + REST_BYTES_MAX, "{told}");
        }
    }
    running.stop().await;
    Ok(())
}
