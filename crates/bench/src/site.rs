//! Where a workload works: a database of a target, and the sizes of the run.

use bson::RawDocumentBuf;
use mongodb::options::{Acknowledgment, CollectionOptions, WriteConcern};
use mongodb::{Collection, Database};

/// The database a run fills and drops.
pub const DATABASE: &str = "freeboard_bench";

#[derive(Clone)]
pub struct Site {
    /// The server, with user and password.
    pub uri: String,
    pub database: Database,
    pub clients: usize,
    pub documents: u64,
    /// How long the long arrays are.
    pub elements: u64,
}

impl Site {
    pub fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.database.collection(name)
    }

    /// A collection whose writes are acknowledged after (`durable`) or before they are synced.
    pub fn collection_with_journal(&self, name: &str, durable: bool) -> Collection<RawDocumentBuf> {
        let concern =
            WriteConcern::builder().w(Acknowledgment::Nodes(1)).journal(Some(durable)).build();
        let options = CollectionOptions::builder().write_concern(concern).build();
        self.database.collection_with_options(name, options)
    }
}
