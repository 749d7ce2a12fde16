//! The Rust driver, against the server of this process or, through `tests/drivers/run`, the
//! binary.

use std::time::Duration;

use bson::{Document, doc};
use freeboard_tests::served;
use futures::TryStreamExt as _;
use mongodb::error::{ErrorKind, WriteFailure};
use mongodb::options::{
    ClientOptions, Compressor, CursorType, FindOneAndUpdateOptions, IndexOptions, InsertOneModel,
    ReturnDocument, UpdateOneModel, WriteModel,
};
use mongodb::{Client, Collection, Database, IndexModel, Namespace};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

async fn client() -> std::result::Result<Client, Box<dyn std::error::Error>> {
    let uri = format!("mongodb://{}/", served::address()?);
    let mut options = ClientOptions::parse(uri).await?;
    options.server_selection_timeout = Some(Duration::from_secs(5));
    Ok(Client::with_options(options)?)
}

/// An empty database named after the test.
async fn database(name: &str) -> std::result::Result<Database, Box<dyn std::error::Error>> {
    let database = client().await?.database(&format!("rust_{name}"));
    database.drop().await?;
    Ok(database)
}

async fn all(
    cursor: mongodb::Cursor<Document>,
) -> std::result::Result<Vec<Document>, mongodb::error::Error> {
    cursor.try_collect().await
}

#[tokio::test]
async fn pings() -> Result {
    let reply = client().await?.database("admin").run_command(doc! { "ping": 1 }).await?;
    assert_eq!(reply.get_f64("ok")?, 1.0);
    Ok(())
}

#[tokio::test]
async fn creates_reads_updates_deletes() -> Result {
    let c: Collection<Document> = database("crud").await?.collection("c");
    c.insert_many((0..5).map(|n| doc! { "_id": n, "n": n })).await?;
    assert_eq!(
        c.update_one(doc! { "_id": 1 }, doc! { "$inc": { "n": 5 } }).await?.modified_count,
        1
    );
    assert_eq!(c.update_many(doc! {}, doc! { "$set": { "seen": true } }).await?.modified_count, 5);
    c.replace_one(doc! { "_id": 0 }, doc! { "other": 1_i64 }).await?;
    assert_eq!(c.delete_many(doc! { "n": { "$lt": 4 } }).await?.deleted_count, 2);
    assert_eq!(
        all(c.find(doc! {}).await?).await?,
        [
            doc! { "_id": 0, "other": 1_i64 },
            doc! { "_id": 1, "n": 6, "seen": true },
            doc! { "_id": 4, "n": 4, "seen": true },
        ]
    );
    assert_eq!(c.count_documents(doc! { "n": { "$gt": 4 } }).await?, 1);
    assert_eq!(c.estimated_document_count().await?, 3);
    Ok(())
}

#[tokio::test]
async fn finds_and_modifies() -> Result {
    let c: Collection<Document> = database("find_and_modify").await?.collection("c");
    let options = FindOneAndUpdateOptions::builder()
        .upsert(true)
        .return_document(ReturnDocument::After)
        .build();
    let update = doc! { "$inc": { "n": 1 } };
    let found = c.find_one_and_update(doc! { "_id": 7 }, update).with_options(options).await?;
    assert_eq!(found, Some(doc! { "_id": 7, "n": 1 }));
    assert_eq!(c.find_one_and_delete(doc! { "_id": 7 }).await?, Some(doc! { "_id": 7, "n": 1 }));
    Ok(())
}

#[tokio::test]
async fn writes_in_bulk() -> Result {
    let database = database("bulk").await?;
    let namespace = Namespace::new(database.name(), "c");
    let models: Vec<WriteModel> = vec![
        InsertOneModel::builder()
            .namespace(namespace.clone())
            .document(doc! { "_id": 1 })
            .build()
            .into(),
        InsertOneModel::builder()
            .namespace(namespace.clone())
            .document(doc! { "_id": 2 })
            .build()
            .into(),
        UpdateOneModel::builder()
            .namespace(namespace)
            .filter(doc! { "_id": 1 })
            .update(doc! { "$set": { "n": 1 } })
            .build()
            .into(),
    ];
    let result = database.client().bulk_write(models).await?;
    assert_eq!((result.inserted_count, result.modified_count), (2, 1));
    Ok(())
}

#[tokio::test]
async fn a_duplicate_key_is_told() -> Result {
    let c: Collection<Document> = database("duplicate").await?.collection("c");
    let options = IndexOptions::builder().unique(true).build();
    c.create_index(IndexModel::builder().keys(doc! { "a": 1 }).options(options).build()).await?;
    c.insert_one(doc! { "a": 1 }).await?;
    let error = c.insert_one(doc! { "a": 1 }).await.err().ok_or("a second a: 1 was taken")?;
    match &*error.kind {
        ErrorKind::Write(WriteFailure::WriteError(error)) => assert_eq!(error.code, 11000),
        other => panic!("{other}"),
    }
    assert_eq!(c.list_index_names().await?, ["_id_", "a_1"]);
    Ok(())
}

#[tokio::test]
async fn pages_through_a_cursor() -> Result {
    let c: Collection<Document> = database("cursor").await?.collection("c");
    c.insert_many((0..1000).map(|n| doc! { "_id": n })).await?;
    let found = all(c.find(doc! {}).sort(doc! { "_id": -1 }).batch_size(70).await?).await?;
    assert_eq!(found.len(), 1000);
    assert_eq!(found.first(), Some(&doc! { "_id": 999 }));
    Ok(())
}

#[tokio::test]
async fn follows_a_capped_collection() -> Result {
    let database = database("tailable").await?;
    database.create_collection("log").capped(true).size(100_000_u64).await?;
    let log: Collection<Document> = database.collection("log");
    log.insert_one(doc! { "_id": 1 }).await?;
    let mut cursor = log
        .find(doc! {})
        .cursor_type(CursorType::TailableAwait)
        .max_await_time(Duration::from_secs(2))
        .await?;
    assert_eq!(cursor.try_next().await?, Some(doc! { "_id": 1 }));
    let (next, written) = tokio::join!(cursor.try_next(), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        log.insert_one(doc! { "_id": 2 }).await
    });
    written?;
    assert_eq!(next?, Some(doc! { "_id": 2 }));
    Ok(())
}

#[tokio::test]
async fn aggregates() -> Result {
    let c: Collection<Document> = database("aggregate").await?.collection("c");
    c.insert_many((0..10).map(|n| doc! { "_id": n, "odd": n % 2, "n": n })).await?;
    let pipeline = [
        doc! { "$match": { "n": { "$gt": 1 } } },
        doc! { "$group": { "_id": "$odd", "total": { "$sum": "$n" } } },
        doc! { "$sort": { "_id": 1 } },
    ];
    assert_eq!(
        all(c.aggregate(pipeline).await?).await?,
        [doc! { "_id": 0, "total": 20 }, doc! { "_id": 1, "total": 24 }]
    );
    Ok(())
}

#[tokio::test]
async fn lists_what_there_is() -> Result {
    let database = database("catalog").await?;
    database.create_collection("a").await?;
    assert_eq!(database.list_collection_names().await?, ["a"]);
    assert!(database.client().list_database_names().await?.contains(&database.name().to_owned()));
    Ok(())
}

#[tokio::test]
async fn compresses() -> Result {
    let uri = format!("mongodb://{}/", served::address()?);
    let mut options = ClientOptions::parse(uri).await?;
    options.compressors = Some(vec![Compressor::Snappy]);
    let database = Client::with_options(options)?.database("rust_compression");
    database.drop().await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_many((0..100).map(|n| doc! { "_id": n, "text": "x".repeat(1000) })).await?;
    assert_eq!(all(c.find(doc! {}).await?).await?.len(), 100);
    Ok(())
}

#[tokio::test]
async fn uses_a_session() -> Result {
    let database = database("session").await?;
    let c: Collection<Document> = database.collection("c");
    let mut session = database.client().start_session().await?;
    c.insert_one(doc! { "_id": 1 }).session(&mut session).await?;
    assert_eq!(c.find_one(doc! {}).session(&mut session).await?, Some(doc! { "_id": 1 }));
    Ok(())
}
