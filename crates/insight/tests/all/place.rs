//! A server of its own for every test.

use bson::{Document, RawDocumentBuf, doc};
use freeboard_insight::audit::{Budget, Options, Reach, Thresholds};
use freeboard_insight::report::Finding;
use freeboard_insight::{Report, audit};
use mongodb::{Client, Collection};
use server::Running;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Place {
    pub uri: String,
    pub client: Client,
    running: Running,
    _directory: TempDir,
}

impl Place {
    pub async fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let running = embedded::start(embedded::Options::local(&data)).await.unwrap();
        let uri = format!("mongodb://{}/", running.address);
        let client = Client::with_uri_str(&uri).await.unwrap();
        Place { uri, client, running, _directory: directory }
    }

    pub fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.client.database("shop").collection(name)
    }

    pub async fn fill(&self, name: &str, documents: impl IntoIterator<Item = Document>) {
        let documents: Vec<RawDocumentBuf> =
            documents.into_iter().map(|it| RawDocumentBuf::try_from(&it).unwrap()).collect();
        self.collection(name).insert_many(documents).await.unwrap();
    }

    pub async fn command(&self, command: Document) -> Document {
        self.client.database("shop").run_command(command).await.unwrap()
    }

    pub async fn index(&self, collection: &str, name: &str, key: Document) {
        let indexes = [doc! { "key": key, "name": name }];
        self.command(doc! { "createIndexes": collection, "indexes": indexes.to_vec() }).await;
    }

    /// The options of a full audit.
    pub fn options(&self) -> Options {
        Options {
            uri: self.uri.clone(),
            database: None,
            target: None,
            reach: Reach::Full,
            budget: Budget::default(),
            thresholds: Thresholds::default(),
        }
    }

    pub async fn audit(&self, options: &Options) -> Report {
        audit(options, &CancellationToken::new()).await.unwrap()
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }
}

/// What a detector found, by itself or beside others that saw the same.
pub fn found<'a>(report: &'a Report, detector: &str) -> Vec<&'a Finding> {
    report.findings.iter().filter(|finding| finding.is_of(&[detector])).collect()
}
