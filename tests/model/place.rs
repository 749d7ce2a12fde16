//! The real store: a server of the test's own, spoken to over the wire.

use bson::{Bson, Document, RawDocumentBuf, doc};
use freeboard_tests::Result;
use freeboard_tests::connection::Connection;
use server::Running;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::history::Step;

const DATABASE: &str = "model";
/// Small, so that most finds take several batches.
const BATCH_DOCUMENTS: i32 = 7;

pub struct Place {
    connection: Connection,
    running: Running,
    runtime: Runtime,
    data: TempDir,
}

impl Place {
    pub fn start() -> Result<Place> {
        Place::open(TempDir::with_prefix("freeboard-model-")?)
    }

    fn open(data: TempDir) -> Result<Place> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let running = runtime.block_on(embedded::start(embedded::Options::local(data.path())))?;
        let connection = Connection::open(running.address)?;
        Ok(Place { connection, running, runtime, data })
    }

    /// Stops the server and opens its data again.
    pub fn restart(self) -> Result<Place> {
        drop(self.connection);
        self.runtime.block_on(self.running.stop());
        drop(self.runtime);
        Place::open(self.data)
    }

    pub fn create_indexes(&mut self, collection: &str, indexes: &[Document]) -> Result<()> {
        self.run(doc! { "createIndexes": collection, "indexes": indexes.to_vec() })?;
        Ok(())
    }

    pub fn validate(&mut self, collection: &str) -> Result<()> {
        let reply = self.run(doc! { "validate": collection, "full": true })?;
        match reply.get_bool("valid") {
            Ok(true) => Ok(()),
            _ => Err(format!("{collection} is not valid: {reply}").into()),
        }
    }

    /// Does the step and returns what the naive store returns for it.
    pub fn apply(&mut self, collection: &str, step: &Step) -> Result<Vec<Document>> {
        match step {
            Step::Insert(document) => {
                let reply =
                    self.run(doc! { "insert": collection, "documents": [document.clone()] })?;
                if let Ok(errors) = reply.get_array("writeErrors")
                    && let Some(Bson::Document(error)) = errors.first()
                {
                    return Ok(vec![only(error, &["code"])]);
                }
                Ok(vec![only(&reply, &["n"])])
            }
            Step::Update(filter, update) => {
                let update = doc! { "q": filter.clone(), "u": update.clone(), "multi": true };
                let reply = self.run(doc! { "update": collection, "updates": [update] })?;
                refuse_write_errors(&reply)?;
                Ok(vec![only(&reply, &["n", "nModified"])])
            }
            Step::Replace(id, fields) => {
                let update = doc! { "q": { "_id": *id }, "u": fields.clone() };
                let reply = self.run(doc! { "update": collection, "updates": [update] })?;
                refuse_write_errors(&reply)?;
                Ok(vec![only(&reply, &["n", "nModified"])])
            }
            Step::Delete(filter) => {
                let delete = doc! { "q": filter.clone(), "limit": 0 };
                let reply = self.run(doc! { "delete": collection, "deletes": [delete] })?;
                refuse_write_errors(&reply)?;
                Ok(vec![only(&reply, &["n"])])
            }
            Step::Find(filter, sort, skip, limit) => self.find(doc! {
                "find": collection,
                "filter": filter.clone(),
                "sort": sort.clone(),
                "skip": *skip as i32,
                "limit": *limit as i32,
                "batchSize": BATCH_DOCUMENTS,
            }),
            Step::Count(filter) => {
                let reply = self.run(doc! { "count": collection, "query": filter.clone() })?;
                Ok(vec![only(&reply, &["n"])])
            }
            Step::Distinct(field, filter) => {
                let command =
                    doc! { "distinct": collection, "key": *field, "query": filter.clone() };
                let values = self.run(command)?.get_array("values")?.len();
                Ok(vec![doc! { "values": values as i32 }])
            }
        }
    }

    fn find(&mut self, command: Document) -> Result<Vec<Document>> {
        let collection = command.get_str("find")?.to_owned();
        let mut reply = self.run(command)?;
        let mut found = Vec::new();
        loop {
            let cursor = reply.get_document("cursor")?;
            let batch =
                cursor.get_array("firstBatch").or_else(|_| cursor.get_array("nextBatch"))?;
            found.extend(batch.iter().filter_map(Bson::as_document).cloned());
            let id = cursor.get_i64("id")?;
            if id == 0 {
                return Ok(found);
            }
            let next =
                doc! { "getMore": id, "collection": &collection, "batchSize": BATCH_DOCUMENTS };
            reply = self.run(next)?;
        }
    }

    fn run(&mut self, mut command: Document) -> Result<Document> {
        command.insert("$db", DATABASE);
        let reply = self.connection.command(&RawDocumentBuf::try_from(&command)?)?;
        let reply = Document::try_from(reply)?;
        match reply.get_f64("ok") {
            Ok(1.0) => Ok(reply),
            _ => Err(format!("{command} was answered {reply}").into()),
        }
    }
}

fn refuse_write_errors(reply: &Document) -> Result<()> {
    if reply.contains_key("writeErrors") { Err(format!("{reply}").into()) } else { Ok(()) }
}

fn only(reply: &Document, names: &[&str]) -> Document {
    names.iter().filter_map(|name| Some(((*name).to_owned(), reply.get(name)?.clone()))).collect()
}
