//! A copy of the whole store, made by the server while it runs.

use crate::long::Long;
use crate::progress::Progress;
use crate::{Error, connect, number};
use bson::doc;

#[derive(Debug)]
pub struct Backup<'a> {
    pub uri: &'a str,
    /// A directory on the server's machine, empty or not there yet: a name below its directory
    /// of backups, or an absolute path there.
    pub directory: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Copied {
    pub bytes: u64,
    /// Where the copy is, on the server's machine.
    pub directory: String,
}

impl Backup<'_> {
    pub async fn run(&self) -> Result<Copied, Error> {
        let directory = self.directory;
        let client = connect::client(self.uri).await?;
        let copy = Long {
            client: &client,
            database: "admin",
            command: doc! { "freeboardBackup": 1, "directory": directory },
            // The server takes away what it has written before it stops.
            known_by: doc! { "command.freeboardBackup": 1, "command.directory": directory },
        };
        let reply = copy.run(&Progress::bytes("copying", Some(0))).await;
        let reply = reply.map_err(|error| match error.is_unknown_command() {
            true => {
                Error::Use("this server makes no copies of itself; only Freeboard does".to_owned())
            }
            false => error,
        })?;
        let directory = reply.get_str("directory").unwrap_or(directory).to_owned();
        Ok(Copied { bytes: number(&reply, "bytes"), directory })
    }
}
