//! Several reads as of one moment.

use crate::Error;
use bson::{Document, Timestamp, doc};
use mongodb::{ClientSession, Database, SessionCursor};

/// A session in which all reads see the same.
pub struct Snapshot {
    database: Database,
    pub session: ClientSession,
    time: Timestamp,
}

impl Snapshot {
    /// The moment of a read of this collection, after everything that was acknowledged.
    pub async fn new(database: &Database, collection: &str) -> Result<Snapshot, Error> {
        let mut session = database.client().start_session().causal_consistency(false).await?;
        // A snapshot shows what is synced; one after a given time waits until all is.
        let now = database.run_command(doc! { "ping": 1 }).session(&mut session).await?;
        let mut concern = doc! { "level": "snapshot" };
        if let Ok(time) = now.get_timestamp("operationTime") {
            concern.insert("afterClusterTime", time);
        }
        let look = doc! {
            "find": collection, "projection": { "_id": 1 }, "limit": 1, "singleBatch": true,
            "readConcern": concern,
        };
        let reply = database.run_command(look).session(&mut session).await?;
        let cursor = reply.get_document("cursor").ok();
        let time = cursor.and_then(|cursor| cursor.get_timestamp("atClusterTime").ok());
        let time = time.ok_or_else(|| {
            Error::Input("the server does not say when it reads, so no two reads agree".to_owned())
        })?;
        Ok(Snapshot { database: database.clone(), session, time })
    }

    /// Opens a cursor. It lasts as long as the session is in use.
    pub async fn open(&mut self, mut command: Document) -> Result<SessionCursor<Document>, Error> {
        let concern = doc! { "level": "snapshot", "atClusterTime": self.time };
        command.insert("readConcern", concern);
        let open = self.database.run_cursor_command(command);
        Ok(open.session(&mut self.session).await?)
    }

    /// The first document of a cursor.
    pub async fn first(&mut self, command: Document) -> Result<Option<Document>, Error> {
        let mut cursor = self.open(command).await?;
        match cursor.advance(&mut self.session).await? {
            true => Ok(Some(cursor.deserialize_current()?)),
            false => Ok(None),
        }
    }
}
