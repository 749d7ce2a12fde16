//! A copy of the whole store, made by the server while it runs.

use crate::progress::Progress;
use crate::{Error, connect};
use bson::{Document, doc};
use mongodb::Client;
use std::path::Path;
use std::time::Duration;

/// How often the server is asked how far it has come.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Backup<'a> {
    pub uri: &'a str,
    /// A directory on the server's machine, empty or not there yet.
    pub directory: &'a Path,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Copied {
    pub bytes: u64,
}

impl Backup<'_> {
    pub async fn run(&self) -> Result<Copied, Error> {
        let directory = std::path::absolute(self.directory)?;
        let Some(directory) = directory.to_str().map(ToOwned::to_owned) else {
            return Err(Error::Use("the directory's name is not UTF-8; choose another".to_owned()));
        };
        let client = connect::client(self.uri).await?;
        let command = doc! { "freeboardBackup": 1, "directory": &directory };
        let admin = client.database("admin");
        let progress = Progress::bytes(Some(0));
        let copy = async { admin.run_command(command).await };
        tokio::pin!(copy);
        let reply = loop {
            tokio::select! {
                reply = &mut copy => break reply,
                _ = tokio::signal::ctrl_c() => {
                    stop(&client, &directory).await;
                    // The server takes away what it has written before it answers.
                    let _ = copy.await;
                    return Err(Error::Interrupted);
                }
                () = tokio::time::sleep(LOOK_INTERVAL) => {
                    if let Some(operation) = operation(&client, &directory).await {
                        show(&progress, &operation);
                    }
                }
            }
        };
        let reply = reply.map_err(|error| match &*error.kind {
            mongodb::error::ErrorKind::Command(command) if command.code == 59 => {
                Error::Use("this server makes no copies of itself; only Freeboard does".to_owned())
            }
            _ => error.into(),
        })?;
        Ok(Copied { bytes: number(&reply, "bytes") })
    }
}

/// The copy as `currentOp` shows it.
async fn operation(client: &Client, directory: &str) -> Option<Document> {
    let filter =
        doc! { "currentOp": 1, "command.freeboardBackup": 1, "command.directory": directory };
    let reply = client.database("admin").run_command(filter).await.ok()?;
    reply.get_array("inprog").ok()?.first()?.as_document().cloned()
}

fn show(progress: &Progress, operation: &Document) {
    if let Ok(figures) = operation.get_document("progress") {
        progress.set(number(figures, "done"), number(figures, "total"));
    }
}

async fn stop(client: &Client, directory: &str) {
    if let Some(opid) = operation(client, directory).await.and_then(|it| it.get("opid").cloned()) {
        // If it does not reach the server, the copy is made after all.
        let _ = client.database("admin").run_command(doc! { "killOp": 1, "op": opid }).await;
    }
}

fn number(document: &Document, name: &str) -> u64 {
    let number = document.get_i64(name).or_else(|_| document.get_i32(name).map(i64::from));
    u64::try_from(number.unwrap_or_default()).unwrap_or_default()
}
