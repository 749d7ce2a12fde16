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

async fn fill(
    database: &Database,
    name: &str,
    keep: &str,
    max: i32,
    elements: i32,
    total: Document,
) -> Result<()> {
    // Pages are full by their bytes, not by the number of their elements.
    let mut overflow = doc! { "page": 1000, "keep": keep };
    overflow.extend(total);
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

/// What each of some pushes writes.
async fn pushes(database: &Database, name: &str) -> Result<Vec<i64>> {
    let c = database.collection::<Document>(name);
    let mut written = Vec::new();
    let mut before = journaled(database).await?;
    for at in 0..PUSHES {
        c.update_one(doc! { "_id": 1 }, doc! { "$push": { "entries": element(at) } }).await?;
        let after = journaled(database).await?;
        written.push(after - before);
        before = after;
    }
    Ok(written)
}

/// The most that a push writes.
async fn most_of_a_push(database: &Database, name: &str) -> Result<i64> {
    Ok(pushes(database, name).await?.into_iter().max().unwrap_or(0))
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
            fill(&database, &name, keep, max, elements, doc! {}).await?;
            let most = most_of_a_push(&database, &name).await?;
            let told = format!("{keep}, {max} in the head, {elements} elements: {most} bytes");
            assert!(most > PAGE_BYTES_MAX / 2, "{told}");
            assert!(most <= PAGE_BYTES_MAX + head_bytes_max + REST_BYTES_MAX, "{told}");
        }
    }
    running.stop().await;
    Ok(())
}

/// At its bound an array drops as much as it gets, whatever is between its ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_push_at_the_bound_of_the_whole_writes_the_same_at_any_length() -> Result<()> {
    let data = tempfile::tempdir()?;
    let running = embedded::start(embedded::Options::local(data.path())).await?;
    let client = Client::with_uri_str(format!("mongodb://{}/", running.address)).await?;
    let database = client.database("journal");
    for (keep, max) in [("oldest", 1000), ("newest", 100)] {
        let mut means = Vec::new();
        for elements in [max + 900, 100_000] {
            let name = format!("bound_{keep}_{max}_{elements}");
            let total = doc! { "total_max": elements, "on_total": "drop_oldest" };
            fill(&database, &name, keep, max, elements, total).await?;
            // Until the head and the page next to it are such as dropping leaves them.
            for _ in 0..max / PUSHES + 1 {
                pushes(&database, &name).await?;
            }
            let written = pushes(&database, &name).await?;
            let most = written.iter().max().copied().unwrap_or(0);
            means.push(written.iter().sum::<i64>() / i64::from(PUSHES));
            let told = format!("{keep}, {max} in the head, {elements} elements: {most} bytes");
            // Each push writes one page and shortens another or the head; now and then a page
            // becomes the head.
            let pages = 2 * PAGE_BYTES_MAX + INLINE_BYTES_MAX;
            assert!(most <= pages + REST_BYTES_MAX, "{told}");
            let count = [doc! { "$project": { "n": { "$size": "$entries" } } }];
            let mut counted = database.collection::<Document>(&name).aggregate(count).await?;
            assert!(counted.advance().await?);
            assert_eq!(counted.deserialize_current()?.get_i32("n")?, elements, "{told}");
        }
        let [short, long] = means[..] else { return Err("two lengths".into()) };
        assert!((short - long).abs() * 4 <= short, "{keep}, {max}: {short} and {long} bytes");
    }
    running.stop().await;
    Ok(())
}
