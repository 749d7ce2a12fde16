//! A pattern that only tests declare (`guard/patterns/stamp.rs`) takes part in every kind of
//! write, and its own writes go through the patterns of the collection that they are about.

use bson::{Bson, Document, doc};
use freeboard_tests::served;
use futures::TryStreamExt as _;
use mongodb::options::ReturnDocument;
use mongodb::{Client, Collection, Database, IndexModel};
use std::time::{Duration, Instant};

/// Crosses threads, unlike the other tests' results.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long an expired document may stay.
const EXPIRY_MAX: Duration = Duration::from_secs(20);

struct Place {
    client: Client,
    database: Database,
    stamped: Collection<Document>,
}

impl Place {
    /// The log takes so many lines.
    async fn new(name: &str, lines: i32) -> Result<Place> {
        naive::stamp::switch_on();
        let address = served::address().map_err(|error| error.to_string())?;
        let client = Client::with_uri_str(format!("mongodb://{address}/")).await?;
        let database = client.database(name);
        let log = doc! { "arrays": { "lines": { "max": lines, "on_limit": "reject" } } };
        let stamped = doc! { "document": { "warn_bytes": 12_345 } };
        for (collection, policy) in [("log", log), ("stamped", stamped)] {
            let set = doc! { "setGrowthPolicy": collection, "policy": policy };
            database.run_command(set).await?;
        }
        let stamped = database.collection("stamped");
        Ok(Place { client, database, stamped })
    }

    /// The stamp of a document.
    async fn stamp(&self, id: i32) -> Result<String> {
        let found = self.stamped.find_one(doc! { "_id": id }).await?;
        Ok(found.ok_or("it is not there")?.get_str("stamp")?.to_owned())
    }

    /// The lines of the log since the last look, as `kind id`.
    async fn lines(&self) -> Result<Vec<String>> {
        let log = self.database.collection::<Document>("log");
        let taken = log.find_one_and_update(doc! {}, doc! { "$set": { "lines": [] } }).await?;
        let taken = taken.ok_or("there is no log")?;
        let lines = taken.get_array("lines")?.iter().filter_map(|line| line.as_document());
        lines
            .map(|line| Ok(format!("{} {}", line.get_str("kind")?, line.get("id").ok_or("?")?)))
            .collect()
    }

    async fn aggregate(&self, source: &str, stage: Document) -> Result<()> {
        let source = self.database.collection::<Document>(source);
        let cursor = source.aggregate([stage]).await?;
        cursor.try_collect::<Vec<_>>().await?;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_takes_part_in_every_kind_of_write() -> Result<()> {
    let place = Place::new("stamped_kinds", 1_000).await?;
    let stamped = &place.stamped;
    stamped.insert_many([doc! { "_id": 1 }, doc! { "_id": 2 }]).await?;
    assert_eq!(place.stamp(1).await?, "insert");
    assert_eq!(place.lines().await?, ["insert 1", "insert 2"]);

    stamped.update_one(doc! { "_id": 1 }, doc! { "$set": { "x": 1 } }).await?;
    stamped.replace_one(doc! { "_id": 2 }, doc! { "x": 2 }).await?;
    stamped.update_one(doc! { "_id": 3 }, doc! { "$set": { "x": 3 } }).upsert(true).await?;
    stamped.update_many(doc! {}, vec![doc! { "$set": { "y": 1 } }]).await?;
    assert_eq!(place.stamp(2).await?, "update");
    let lines = ["update 1", "update 2", "insert 3", "update 1", "update 2", "update 3"];
    assert_eq!(place.lines().await?, lines);

    let modify = stamped.find_one_and_update(doc! { "_id": 3 }, doc! { "$inc": { "y": 1 } });
    let modified = modify.return_document(ReturnDocument::After).await?.ok_or("nothing")?;
    assert_eq!(modified.get_str("stamp")?, "update");
    stamped.find_one_and_delete(doc! { "_id": 3 }).await?;
    stamped.delete_many(doc! { "_id": 2 }).await?;
    assert_eq!(place.lines().await?, ["update 3", "delete 3", "delete 2"]);

    let ops = vec![
        doc! { "insert": 0, "document": { "_id": 4 } },
        doc! { "update": 0, "filter": { "_id": 4 }, "updateMods": { "$set": { "z": 1 } } },
        doc! { "delete": 0, "filter": { "_id": 1 } },
    ];
    let bulk = doc! { "bulkWrite": 1, "ops": ops, "nsInfo": [{ "ns": "stamped_kinds.stamped" }] };
    place.client.database("admin").run_command(bulk).await?;
    assert_eq!(place.lines().await?, ["insert 4", "update 4", "delete 1"]);

    let mut session = place.client.start_session().await?;
    session.start_transaction().await?;
    stamped.insert_one(doc! { "_id": 5 }).session(&mut session).await?;
    stamped.delete_one(doc! { "_id": 4 }).session(&mut session).await?;
    session.abort_transaction().await?;
    assert!(place.lines().await?.is_empty(), "what was rolled back left a line");
    session.start_transaction().await?;
    stamped.insert_one(doc! { "_id": 5 }).session(&mut session).await?;
    session.commit_transaction().await?;
    assert_eq!(place.lines().await?, ["insert 5"]);
    Ok(())
}

/// They are listed in a field that is long enough to be stored apart from its document.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_document_takes_its_companions_along() -> Result<()> {
    let place = Place::new("stamped_companions", 1_000).await?;
    let companions = place.database.collection::<Document>("companions");
    let stamped = doc! { "document": { "warn_bytes": 12_345 } };
    place.database.run_command(doc! { "setGrowthPolicy": "companions", "policy": stamped }).await?;
    companions.insert_many((0..3).map(|id| doc! { "_id": id })).await?;
    let mut listed: Vec<Bson> = vec![0.into(), 2.into()];
    listed.extend((0..2_000).map(|at| Bson::from(format!("nobody is called {at}"))));
    place.stamped.insert_one(doc! { "_id": 9, "companions": listed }).await?;
    place.lines().await?;
    place.stamped.delete_one(doc! { "_id": 9 }).await?;
    assert_eq!(place.lines().await?, ["delete 9", "delete 0", "delete 2"]);
    assert_eq!(companions.count_documents(doc! {}).await?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_out_and_expiry_are_writes_too() -> Result<()> {
    let place = Place::new("stamped_targets", 1_000).await?;
    let source = place.database.collection::<Document>("source");
    source.insert_many([doc! { "_id": 1, "x": 1 }, doc! { "_id": 2, "x": 2 }]).await?;
    place.aggregate("source", doc! { "$merge": { "into": "stamped" } }).await?;
    assert_eq!(place.stamp(2).await?, "insert");
    place
        .aggregate("source", doc! { "$merge": { "into": "stamped", "whenMatched": "replace" } })
        .await?;
    assert_eq!(place.stamp(2).await?, "update");
    let lines = ["insert 1", "insert 2", "update 1", "update 2"];
    assert_eq!(place.lines().await?, lines);

    place.aggregate("source", doc! { "$out": "stamped" }).await?;
    assert_eq!(place.stamp(1).await?, "insert");
    assert_eq!(place.lines().await?, ["insert 1", "insert 2"]);

    let expiry = mongodb::options::IndexOptions::builder().expire_after(Duration::from_secs(1));
    let index = IndexModel::builder().keys(doc! { "at": 1 }).options(expiry.build()).build();
    place.stamped.create_index(index).await?;
    place.stamped.insert_one(doc! { "_id": 9, "at": bson::DateTime::from_millis(0) }).await?;
    let begun = Instant::now();
    while place.stamped.find_one(doc! { "_id": 9 }).await?.is_some() {
        assert!(begun.elapsed() < EXPIRY_MAX, "it does not expire");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(place.lines().await?, ["insert 9", "delete 9"]);
    Ok(())
}

/// The log has a policy of its own, which the pattern's writes meet.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_collection_refuses_is_rolled_back() -> Result<()> {
    let place = Place::new("stamped_rollback", 2).await?;
    place.stamped.insert_many([doc! { "_id": 1 }, doc! { "_id": 2 }]).await?;
    let refused = place.stamped.insert_one(doc! { "_id": 3 }).await.unwrap_err().to_string();
    assert!(refused.contains("lines"), "{refused}");
    let refused = place.stamped.delete_one(doc! { "_id": 1 }).await.unwrap_err().to_string();
    assert!(refused.contains("lines"), "{refused}");
    assert_eq!(place.stamped.count_documents(doc! {}).await?, 2);
    assert_eq!(place.lines().await?.len(), 2);
    let validator = doc! { "collMod": "log", "validator": { "no": { "$exists": true } } };
    place.database.run_command(validator).await?;
    let refused = place.stamped.insert_one(doc! { "_id": 4 }).await.unwrap_err().to_string();
    assert!(refused.contains("121") || refused.contains("validation"), "{refused}");
    assert_eq!(place.stamped.count_documents(doc! {}).await?, 2);
    Ok(())
}
