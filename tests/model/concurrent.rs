//! Many clients at once: nothing lost, nothing twice, every index right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bson::{Document, doc};
use freeboard_tests::served;
use futures::future::try_join_all;
use mongodb::options::IndexOptions;
use mongodb::{Client, Collection, Database, IndexModel};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Crosses threads, unlike the other tests' results.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

pub async fn database(name: &str) -> Result<Database> {
    let client = Client::with_uri_str(format!(
        "mongodb://{}/",
        served::address().map_err(|error| error.to_string())?
    ))
    .await?;
    let database = client.database(&format!("concurrent_{name}"));
    database.drop().await?;
    Ok(database)
}

/// Runs `task` once for each number, all at the same time.
pub async fn together<T, F>(count: u64, task: impl Fn(u64) -> F) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let tasks = (0..count).map(|number| tokio::spawn(task(number)));
    try_join_all(tasks).await?.into_iter().collect()
}

pub async fn valid(database: &Database, collection: &str) -> Result<()> {
    let reply = database.run_command(doc! { "validate": collection, "full": true }).await?;
    match reply.get_bool("valid") {
        Ok(true) => Ok(()),
        _ => Err(format!("{collection} is not valid: {reply}").into()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn increments_of_one_document_add_up() -> Result<()> {
    let database = database("inc").await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_one(doc! { "_id": 1, "n": 0, "log": [] }).await?;
    let shared = c.clone();
    together(100, move |client| {
        let c = shared.clone();
        async move {
            for step in 0..10 {
                let mark = format!("{client}-{step}");
                let update = doc! { "$inc": { "n": 1 }, "$push": { "log": mark } };
                c.update_one(doc! { "_id": 1 }, update).await?;
            }
            Ok(())
        }
    })
    .await?;
    let document = c.find_one(doc! { "_id": 1 }).await?.ok_or("the document is gone")?;
    let log = document.get_array("log")?;
    assert_eq!(document.get_i32("n")?, 100 * 10);
    let marks: std::collections::BTreeSet<_> = log.iter().map(|mark| mark.to_string()).collect();
    assert_eq!((log.len(), marks.len()), (100 * 10, 100 * 10), "each push is there once");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_gets_a_unique_key() -> Result<()> {
    let database = database("unique").await?;
    let c: Collection<Document> = database.collection("c");
    let unique = IndexOptions::builder().unique(true).build();
    c.create_index(IndexModel::builder().keys(doc! { "k": 1 }).options(unique).build()).await?;
    let shared = c.clone();
    let won = together(16, move |client| {
        let c = shared.clone();
        async move {
            let mut won = 0;
            for key in 0..40_i64 {
                let id = client as i64 * 1_000 + key;
                won += u64::from(c.insert_one(doc! { "_id": id, "k": key }).await.is_ok());
            }
            Ok(won)
        }
    })
    .await?;
    assert_eq!(won.iter().sum::<u64>(), 40);
    assert_eq!(c.count_documents(doc! {}).await?, 40);
    valid(&database, "c").await
}

#[tokio::test(flavor = "multi_thread")]
async fn upserts_of_one_key_make_one_document() -> Result<()> {
    let database = database("upsert").await?;
    let c: Collection<Document> = database.collection("c");
    let shared = c.clone();
    together(32, move |_| {
        let c = shared.clone();
        async move {
            let update = doc! { "$inc": { "n": 1 } };
            c.update_one(doc! { "_id": "x" }, update).upsert(true).await?;
            Ok(())
        }
    })
    .await?;
    let document = c.find_one(doc! {}).await?.ok_or("nothing was inserted")?;
    assert_eq!(c.count_documents(doc! {}).await?, 1);
    assert_eq!(document.get_i32("n")?, 32);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_are_built_while_others_write() -> Result<()> {
    let database = database("build").await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_many((0..3_000).map(|n| doc! { "_id": n, "a": n % 17, "t": [n, n + 1] })).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let writes = Arc::new(AtomicU64::new(0));
    let writers = {
        let (c, stop, writes) = (c.clone(), stop.clone(), writes.clone());
        tokio::spawn(together(8, move |client| {
            let (c, stop, writes) = (c.clone(), stop.clone(), writes.clone());
            async move {
                let mut random = StdRng::seed_from_u64(client);
                while !stop.load(Ordering::Relaxed) {
                    let id = random.random_range(0..4_000);
                    let value = random.random_range(0..50);
                    match random.random_range(0..3) {
                        0 => {
                            c.delete_one(doc! { "_id": id }).await?;
                        }
                        _ => {
                            let set = doc! { "$set": { "a": value, "t": [value, id] } };
                            c.update_one(doc! { "_id": id }, set).upsert(true).await?;
                        }
                    }
                    writes.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            }
        }))
    };
    for round in 0..3 {
        let name = format!("a{round}");
        let options = IndexOptions::builder().name(name.clone()).build();
        let keys = doc! { "a": 1, "t": if round % 2 == 0 { 1 } else { -1 } };
        c.create_index(IndexModel::builder().keys(keys).options(options).build()).await?;
        valid_entries(&c).await?;
        if round < 2 {
            c.drop_index(name).await?;
        }
    }
    stop.store(true, Ordering::Relaxed);
    writers.await??;
    assert!(writes.load(Ordering::Relaxed) > 0, "nobody wrote meanwhile");
    valid(&database, "c").await
}

/// A build is seen in `currentOp` with how far it is, and `killOp` ends it with nothing left.
#[tokio::test(flavor = "multi_thread")]
async fn a_build_shows_its_progress_and_can_be_killed() -> Result<()> {
    const DOCUMENTS: i32 = 20_000;
    let database = database("progress").await?;
    let c: Collection<Document> = database.collection("c");
    c.insert_many((0..DOCUMENTS).map(|n| doc! { "_id": n, "n": n })).await?;
    // A build may be over before it is looked for: then the next one is.
    for attempt in 0..100 {
        let name = format!("built_{attempt}");
        let index = doc! { "key": { "n": 1, &name: 1 }, "name": &name };
        let command = doc! { "createIndexes": "c", "indexes": [index] };
        let building = tokio::spawn({
            let database = database.clone();
            async move { database.run_command(command).await }
        });
        let seen = watch_build(&database, &building).await?;
        let outcome = building.await?;
        let Some(total) = seen else { continue };
        assert_eq!(total, i64::from(DOCUMENTS));
        let names = c.list_index_names().await?;
        match outcome {
            // It was done before it heard.
            Ok(_) => assert!(names.contains(&name)),
            Err(error) => {
                assert!(error.to_string().contains("11601"), "{error}");
                assert!(!names.contains(&name));
                return valid(&database, "c").await;
            }
        }
    }
    Err("no build was seen and killed".into())
}

/// Kills a build once `currentOp` shows it; gives how many documents it has to go through.
async fn watch_build<T>(
    database: &Database,
    building: &tokio::task::JoinHandle<T>,
) -> Result<Option<i64>> {
    let admin = database.client().database("admin");
    while !building.is_finished() {
        let reply =
            admin.run_command(doc! { "currentOp": 1, "command.createIndexes": "c" }).await?;
        let Some(operation) = reply.get_array("inprog")?.first().and_then(|it| it.as_document())
        else {
            continue;
        };
        let Ok(progress) = operation.get_document("progress") else { continue };
        let number = |name: &str| match progress.get(name) {
            Some(bson::Bson::Int32(number)) => Ok(i64::from(*number)),
            Some(bson::Bson::Int64(number)) => Ok(*number),
            other => Err(format!("{name} is {other:?}")),
        };
        let (done, total) = (number("done")?, number("total")?);
        if total == 0 {
            // It has not begun yet.
            continue;
        }
        assert!((0..=total).contains(&done), "{progress}");
        let id = operation.get("opid").cloned().ok_or("no opid")?;
        admin.run_command(doc! { "killOp": 1, "op": id }).await?;
        return Ok(Some(total));
    }
    Ok(None)
}

/// The index answers, if only with what is there at that moment.
async fn valid_entries(c: &Collection<Document>) -> Result<()> {
    c.count_documents(doc! { "a": { "$gte": 0 } }).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn collections_come_and_go_while_others_write() -> Result<()> {
    let database = database("drop").await?;
    let c: Collection<Document> = database.collection("c");
    let shared = c.clone();
    together(8, move |client| {
        let c = shared.clone();
        async move {
            for step in 0..40 {
                if client == 0 && step % 5 == 0 {
                    c.drop().await?;
                } else {
                    c.insert_one(doc! { "client": client as i64, "step": step }).await?;
                }
            }
            Ok(())
        }
    })
    .await?;
    c.insert_one(doc! { "_id": "last" }).await?;
    let counted = c.count_documents(doc! {}).await?;
    assert_eq!(c.estimated_document_count().await?, counted);
    valid(&database, "c").await
}
