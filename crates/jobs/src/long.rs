//! A command that takes the server long: its progress, and how to stop it.

use crate::progress::Progress;
use crate::{Error, number, stop};
use bson::{Document, doc};
use mongodb::Client;
use std::time::Duration;

/// How often the server is asked how far it has come.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

pub struct Long<'a> {
    pub client: &'a Client,
    pub database: &'a str,
    pub command: Document,
    /// What `currentOp` knows it by.
    pub known_by: Document,
}

impl Long<'_> {
    /// Runs the command. On Ctrl-C the server is told to stop, and waited for.
    pub async fn run(self, progress: &Progress) -> Result<Document, Error> {
        let database = self.client.database(self.database);
        let command = self.command.clone();
        let work = async { database.run_command(command).await };
        let interrupt = stop::interrupt("stopping; the server ends what it does");
        tokio::pin!(work, interrupt);
        loop {
            tokio::select! {
                reply = &mut work => return Ok(reply?),
                () = &mut interrupt => {
                    self.stop().await;
                    let _ = work.await;
                    return Err(Error::Interrupted);
                }
                () = tokio::time::sleep(LOOK_INTERVAL) => {
                    if let Some(operation) = self.operation().await
                        && let Ok(figures) = operation.get_document("progress")
                    {
                        progress.set(number(figures, "done"), number(figures, "total"));
                    }
                }
            }
        }
    }

    /// The command as `currentOp` shows it.
    async fn operation(&self) -> Option<Document> {
        let mut filter = doc! { "currentOp": 1 };
        filter.extend(self.known_by.clone());
        let reply = self.client.database("admin").run_command(filter).await.ok()?;
        reply.get_array("inprog").ok()?.first()?.as_document().cloned()
    }

    async fn stop(&self) {
        if let Some(opid) = self.operation().await.and_then(|it| it.get("opid").cloned()) {
            // If it does not reach the server, the work is done after all.
            let kill = doc! { "killOp": 1, "op": opid };
            let _ = self.client.database("admin").run_command(kill).await;
        }
    }
}
