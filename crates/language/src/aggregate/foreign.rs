//! What a pipeline asks of the world outside it.

use super::{Documents, Pipeline};
use bson::RawDocument;
use error::Result;

/// Other collections and temporary space, as a pipeline sees them: `$lookup`,
/// `$graphLookup`, `$unionWith` read through this; whoever runs the pipeline
/// implements it.
pub trait Foreign: Send + Sync {
    /// The database that the pipeline runs in.
    fn database(&self) -> &str;

    /// Runs `pipeline` over the collection (or view) `collection` of `database`.
    /// The pipeline begins with whatever `$match` may use an index.
    fn run(&self, database: &str, collection: &str, pipeline: Pipeline) -> Result<Documents>;

    /// A new temporary file for documents that do not fit in memory; `None`
    /// where the client does not allow disk use.
    fn spill(&self) -> Result<Option<Box<dyn Spill>>> {
        Ok(None)
    }
}

/// A run of documents on its way to a temporary file.
pub trait Spill: Send {
    fn push(&mut self, document: &RawDocument) -> Result<()>;

    /// Ends the writing. The file goes with what is given, and with its readers.
    fn finish(self: Box<Self>) -> Result<Box<dyn Spilled>>;
}

/// A run of documents in a temporary file.
pub trait Spilled: Send {
    /// Reads what was pushed, in order, from the first on: as often as is asked for, at
    /// the same time too.
    fn read(&self) -> Documents;
}

/// A world without other collections and without disk.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl Foreign for Nowhere {
    fn database(&self) -> &str {
        ""
    }

    fn run(&self, _: &str, _: &str, _: Pipeline) -> Result<Documents> {
        Ok(Box::new(std::iter::empty()))
    }
}
