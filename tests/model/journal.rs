//! What a push writes: the last page and the small part of its document, however long the
//! array is. On a server of its own, since the journal is everybody's.

use bson::{Document, doc};
use mongodb::{Client, Database};
use server::Server;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What a page may weigh, unless its policy says otherwise.
const PAGE_BYTES_MAX: i64 = 32 * 1024;
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

async fn fill(database: &Database, name: &str, max: i32, elements: i32) -> Result<()> {
    // Pages are full by their bytes, not by the number of their elements.
    let overflow = doc! { "page": 1000 };
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
async fn a_push_writes_its_page_and_little_else() -> Result<()> {
    assert_eq!(element(1).to_vec()?.len(), 150);
    let data = tempfile::tempdir()?;
    let running = Server::start(server::Options::local(data.path())).await?;
    let client = Client::with_uri_str(format!("mongodb://{}/", running.address)).await?;
    let database = client.database("journal");
    // A head that would find room in the record of its document, and one that would not.
    for max in [100, 1000] {
        for elements in [1001, 40_000] {
            let name = format!("c_{max}_{elements}");
            fill(&database, &name, max, elements).await?;
            let most = most_of_a_push(&database, &name).await?;
            let told = format!("{max} in the head, {elements} elements: {most} bytes");
            assert!(most > PAGE_BYTES_MAX / 2, "{told}");
            assert!(most <= PAGE_BYTES_MAX + REST_BYTES_MAX, "{told}");
        }
    }
    running.stop().await;
    Ok(())
}
