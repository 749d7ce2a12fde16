//! A server of its own for every test.

use bson::{Document, RawDocumentBuf};
use embedded::Options;
use mongodb::{Client, Collection};
use server::Running;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The directory of backups, beside the data.
pub const BACKUPS: &str = "backups";

pub struct Place {
    pub uri: String,
    pub client: Client,
    running: Running,
    directory: TempDir,
}

impl Place {
    pub async fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            backups: Some(directory.path().join(BACKUPS)),
            ..Options::local(directory.path().join("data"))
        };
        let (uri, client, running) = serve_with(options).await;
        Place { uri, client, running, directory }
    }

    /// A file beside the data.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.client.database("d").collection(name)
    }

    pub async fn command(&self, command: Document) -> mongodb::error::Result<Document> {
        self.client.database("admin").run_command(command).await
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }
}

pub async fn serve(data: &Path) -> (String, Client, Running) {
    serve_with(Options::local(data)).await
}

pub async fn serve_with(options: Options) -> (String, Client, Running) {
    let running = embedded::start(options).await.unwrap();
    let uri = format!("mongodb://{}/", running.address);
    let client = Client::with_uri_str(&uri).await.unwrap();
    (uri, client, running)
}
