//! An engine to run commands on, and what it then holds.

use bson::{Document, RawDocumentBuf, doc};
use command::{Client, Request};
use engine::Engine;
use engine::storage::trees::Trees;
use error::Error;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub const DATABASE: &str = "d";

pub struct World {
    pub engine: Arc<Engine>,
    client: Arc<Client>,
}

/// Every document, by collection and `_id`.
pub type Contents = BTreeMap<(String, i64), Document>;

impl World {
    pub async fn open(directory: &Path) -> Result<World, String> {
        let engine = Engine::open(directory).await.map_err(|error| error.to_string())?;
        Ok(World::of(engine))
    }

    pub async fn over(trees: Arc<dyn Trees>) -> World {
        World::of(Engine::with_trees(trees).await.unwrap())
    }

    /// Inserts one document after another as long as a write is under way, and says how many.
    pub async fn insert_others(self: Arc<World>, under_way: Arc<AtomicBool>) -> i64 {
        let mut others = 0;
        while under_way.load(Ordering::SeqCst) {
            others += 1;
            self.must(doc! { "insert": "other", "documents": [{ "_id": others }] }).await;
        }
        others
    }

    fn of(engine: Arc<Engine>) -> World {
        World { engine, client: Arc::new(Client::new(1, "127.0.0.1:1".parse().unwrap())) }
    }

    /// Runs a command; a write that failed is an error, too.
    pub async fn run(&self, command: Document) -> Result<Document, Error> {
        self.run_on(DATABASE, command).await
    }

    pub async fn run_on(&self, database: &str, mut command: Document) -> Result<Document, Error> {
        command.insert("$db", database);
        let command = RawDocumentBuf::try_from(&command).unwrap();
        let reply = self.engine.run(Request::from(command), &self.client).await?;
        let reply = Document::try_from(reply.body).unwrap();
        let failed = reply.get_array("writeErrors").ok().and_then(|errors| errors.first());
        let failed = failed.and_then(|error| error.as_document());
        match failed.or(reply.get_document("writeConcernError").ok()) {
            Some(failed) => {
                let code = error::Code::location(failed.get_i32("code").unwrap());
                Err(code.error(failed.get_str("errmsg").unwrap().to_owned()))
            }
            None => Ok(reply),
        }
    }

    /// Runs a command that must succeed.
    pub async fn must(&self, command: Document) -> Document {
        self.run(command).await.unwrap()
    }

    pub async fn collections(&self) -> Result<Vec<String>, Error> {
        let list = doc! { "listCollections": 1, "nameOnly": true };
        let reply = self.run(list).await?;
        let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
        let name =
            |one: &bson::Bson| one.as_document().unwrap().get_str("name").unwrap().to_owned();
        Ok(batch.iter().map(name).collect())
    }

    /// Everything that is there.
    pub async fn contents(&self) -> Result<Contents, Error> {
        let mut contents = Contents::new();
        for collection in self.collections().await? {
            let find = doc! { "find": &collection, "batchSize": 100_000 };
            let mut reply = self.run(find).await?;
            let mut batch = "firstBatch";
            loop {
                let cursor = reply.get_document("cursor").unwrap();
                for document in cursor.get_array(batch).unwrap() {
                    let document = document.as_document().unwrap().clone();
                    let place = (collection.clone(), document.get_i64("_id").unwrap());
                    assert!(
                        contents.insert(place, document).is_none(),
                        "a document is there twice"
                    );
                }
                // A reply holds 16 MB.
                let id = cursor.get_i64("id").unwrap();
                if id == 0 {
                    break;
                }
                reply = self.run(doc! { "getMore": id, "collection": &collection }).await?;
                batch = "nextBatch";
            }
        }
        Ok(contents)
    }

    /// How many documents of a collection can be seen that are synced.
    pub async fn count_synced(&self, collection: &str) -> usize {
        let find = doc! { "find": collection, "readConcern": { "level": "majority" } };
        let reply = self.run(find).await.unwrap();
        reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap().len()
    }

    /// Whether every index agrees with its collection and every count is exact.
    pub async fn is_valid(&self) -> Result<bool, Error> {
        for collection in self.collections().await? {
            let reply = self.run(doc! { "validate": &collection, "full": true }).await?;
            let count = self.run(doc! { "count": &collection }).await?;
            let exact = count.get_i32("n").unwrap() == reply.get_i32("nrecords").unwrap();
            if !reply.get_bool("valid").unwrap() || !exact {
                eprintln!("{reply}");
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub async fn assert_valid(&self) {
        assert!(self.is_valid().await.unwrap());
    }

    pub async fn close(self) {
        self.engine.close().await;
    }
}
