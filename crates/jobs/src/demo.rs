//! Made-up data, loaded into a server.

use crate::progress::Progress;
use crate::{Error, connect};
use ::demo::{Recipe, SHARD_KEY_INDEX, Scenario};
use bson::{Document, RawDocumentBuf, doc};
use futures::stream::{self, StreamExt, TryStreamExt};
use mongodb::error::{Error as ClientError, ErrorKind};
use mongodb::options::IndexOptions;
use mongodb::{Client, Database, IndexModel};

/// What one command inserts.
const BATCH_DOCUMENTS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Collections that are filled at once; each is filled in the order of its documents.
const COLLECTIONS_AT_ONCE: usize = 4;
/// The server has a document with this `_id` already.
const DUPLICATE_KEY: i32 = 11_000;

/// What is done where a collection has documents already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Nothing is loaded at all.
    Refuse,
    /// The collections that will be filled are dropped first.
    Drop,
    /// What an interrupted load left out is added.
    Resume,
}

pub struct Demo<'a> {
    pub uri: &'a str,
    pub database: &'a str,
    pub scenarios: Vec<&'static Scenario>,
    pub recipe: Recipe,
    pub existing: Existing,
    /// Whether to ask what the scenarios' applications ask, too, with the profiler on.
    pub queries: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub collections: u64,
    /// Those that were inserted; what was there before is not counted.
    pub documents: u64,
    pub bytes: u64,
    /// Collections that were meant to be sharded and are not, and why.
    pub unsharded: Vec<(String, String)>,
    pub queries: u64,
    /// Why the profiler was not on while they ran.
    pub unprofiled: Option<String>,
}

/// Documents of one insert.
#[derive(Default)]
struct Batch {
    documents: Vec<RawDocumentBuf>,
    bytes: usize,
}

impl Demo<'_> {
    pub async fn run(&self) -> Result<Loaded, Error> {
        let (database, mut loaded) = crate::interruptible(self.load()).await?;
        if self.queries {
            self.ask(&database, &mut loaded).await?;
        }
        Ok(loaded)
    }

    async fn load(&self) -> Result<(Database, Loaded), Error> {
        let client = connect::client(self.uri).await?;
        let database = client.database(self.database);
        let collections: Vec<::demo::Collection> =
            self.scenarios.iter().flat_map(|row| row.collections(&self.recipe)).collect();
        self.make_way(&database, &collections).await?;
        let progress =
            Progress::documents("loading", Some(collections.iter().map(|c| c.count).sum()));
        let loaded = stream::iter(&collections)
            .map(|collection| fill(&client, &database, collection, &progress))
            .buffer_unordered(COLLECTIONS_AT_ONCE)
            .try_fold(Loaded::default(), async |loaded, one| Ok(loaded.and(one)))
            .await?;
        Ok((database, loaded))
    }

    /// Asks what the applications ask. The profiler records it, where the server has one,
    /// and is then as it was before, whatever happens in between.
    async fn ask(&self, database: &Database, loaded: &mut Loaded) -> Result<(), Error> {
        let level = match database.run_command(doc! { "profile": 2 }).await {
            Ok(reply) => reply.get("was").cloned(),
            Err(error) => match &*error.kind {
                ErrorKind::Command(said) => {
                    loaded.unprofiled = Some(said.message.clone());
                    None
                }
                _ => return Err(error.into()),
            },
        };
        let asked = crate::interruptible(self.ask_all(database)).await;
        if let Some(level) = level {
            database.run_command(doc! { "profile": level }).await?;
        }
        loaded.queries = asked?;
        Ok(())
    }

    async fn ask_all(&self, database: &Database) -> Result<u64, Error> {
        let mut asked = 0;
        for query in self.scenarios.iter().flat_map(|row| row.queries(&self.recipe)) {
            database.run_command(query).await?;
            asked += 1;
        }
        Ok(asked)
    }

    /// Sees to the collections that have documents already.
    async fn make_way(
        &self,
        database: &Database,
        collections: &[::demo::Collection],
    ) -> Result<(), Error> {
        if self.existing == Existing::Resume {
            return Ok(());
        }
        let there = database.list_collection_names().await?;
        for collection in collections.iter().filter(|one| there.contains(&one.name)) {
            let target = database.collection::<Document>(&collection.name);
            if self.existing == Existing::Drop {
                target.drop().await?;
            } else if target.find_one(doc! {}).projection(doc! { "_id": 1 }).await?.is_some() {
                return Err(Error::Use(format!(
                    "{} has documents already; --drop replaces them, --resume goes on with a \
                     load that was interrupted, --db chooses another database",
                    target.namespace()
                )));
            }
        }
        Ok(())
    }
}

/// Shards, fills and indexes one collection.
async fn fill(
    client: &Client,
    database: &Database,
    collection: &::demo::Collection,
    progress: &Progress,
) -> Result<Loaded, Error> {
    let target = database.collection::<RawDocumentBuf>(&collection.name);
    let mut loaded = Loaded { collections: 1, ..Loaded::default() };
    if let Some(key) = &collection.shard_key {
        let namespace = target.namespace().to_string();
        let command = doc! { "shardCollection": &namespace, "key": key };
        if let Err(error) = client.database("admin").run_command(command).await {
            match &*error.kind {
                // Few servers shard; the data is of use all the same.
                ErrorKind::Command(said) => {
                    loaded.unsharded.push((namespace, said.message.clone()));
                }
                _ => return Err(error.into()),
            }
        }
    }
    let mut documents = collection.documents();
    loop {
        let batch = Batch::take(&mut documents);
        if batch.documents.is_empty() {
            break;
        }
        let there = match target.insert_many(&batch.documents).ordered(false).await {
            Ok(_) => 0,
            Err(error) => duplicates(error)?,
        };
        let sent = batch.documents.len() as u64;
        progress.add(sent);
        loaded.documents += sent - there;
        loaded.bytes += batch.bytes as u64;
    }
    if !collection.indexes.is_empty() {
        let intended =
            if loaded.unsharded.is_empty() { None } else { collection.shard_key.as_ref() };
        let model = |key: &Document| {
            let name = (intended == Some(key)).then(|| SHARD_KEY_INDEX.to_owned());
            let options = IndexOptions::builder().name(name).build();
            IndexModel::builder().keys(key.clone()).options(options).build()
        };
        target.create_indexes(collection.indexes.iter().map(model)).await?;
    }
    Ok(loaded)
}

/// How many documents of a batch were there already, if nothing worse has happened.
fn duplicates(error: ClientError) -> Result<u64, Error> {
    let ErrorKind::InsertMany(many) = &*error.kind else { return Err(error.into()) };
    let refused = many.write_errors.as_deref().unwrap_or_default();
    match refused.iter().find(|one| one.code != DUPLICATE_KEY) {
        Some(worse) => Err(Error::Input(format!(
            "the server refused a document with code {}: {}",
            worse.code, worse.message
        ))),
        None if many.write_concern_error.is_some() => Err(error.into()),
        None => Ok(refused.len() as u64),
    }
}

impl Batch {
    fn take(documents: &mut impl Iterator<Item = RawDocumentBuf>) -> Batch {
        let mut batch = Batch::default();
        while batch.documents.len() < BATCH_DOCUMENTS_MAX && batch.bytes < BATCH_BYTES_MAX {
            let Some(document) = documents.next() else { break };
            batch.bytes += document.as_bytes().len();
            batch.documents.push(document);
        }
        batch
    }
}

impl Loaded {
    fn and(mut self, other: Loaded) -> Loaded {
        self.collections += other.collections;
        self.documents += other.documents;
        self.bytes += other.bytes;
        self.unsharded.extend(other.unsharded);
        self
    }
}
