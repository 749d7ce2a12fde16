//! `growthStats` switched off and on again, on a server of its own.

use bson::{Document, doc};
use mongodb::{Client, Database};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

async fn switch(client: &Client, on: bool) -> Result<()> {
    let admin = client.database("admin");
    admin.run_command(doc! { "setParameter": 1, "growthStats": on }).await?;
    let now = admin.run_command(doc! { "getParameter": 1, "growthStats": 1 }).await?;
    assert_eq!(now.get_bool("growthStats")?, on);
    Ok(())
}

fn integer(document: &Document, field: &str) -> Result<i64> {
    Ok(document.get_i64(field).or_else(|_| document.get_i32(field).map(i64::from))?)
}

async fn insert(database: &Database, ids: std::ops::Range<i32>) -> Result<()> {
    let document = |id: i32| doc! { "_id": id, "text": "x".repeat(id as usize * 100) };
    database.collection::<Document>("c").insert_many(ids.map(document)).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_counted_is_counted_when_someone_asks() -> Result<()> {
    let data = tempfile::tempdir()?;
    let running = embedded::start(embedded::Options::local(data.path())).await?;
    let client = Client::with_uri_str(format!("mongodb://{}/", running.address)).await?;
    let database = client.database("stats");
    insert(&database, 0..20).await?;
    switch(&client, false).await?;
    insert(&database, 20..40).await?;
    database.collection::<Document>("c").delete_one(doc! { "_id": 39 }).await?;
    switch(&client, true).await?;
    insert(&database, 40..42).await?;
    let stats = database.run_command(doc! { "growthStats": "c" }).await?;
    let sizes = stats.get_document("sizes")?;
    let largest = stats.get_array("largest")?;
    let ids: Vec<i32> =
        largest.iter().filter_map(|one| one.as_document()?.get_i32("_id").ok()).take(4).collect();
    assert_eq!(ids, [41, 40, 38, 37], "{stats}");
    let document = doc! { "_id": 41, "text": "x".repeat(4100) };
    assert_eq!(integer(sizes, "max")? as usize, document.to_vec()?.len(), "{stats}");
    assert_eq!(integer(&stats, "documents")?, 41, "{stats}");
    running.stop().await;
    Ok(())
}
