//! What a pipeline asks of the world outside it.

use super::{Documents, Pipeline};
use error::Result;

/// Other collections, as a pipeline sees them: `$lookup`, `$graphLookup`,
/// `$unionWith` read through this; whoever runs the pipeline implements it.
pub trait Foreign: Send + Sync {
    /// Runs `pipeline` over the collection (or view) `collection` of `database`.
    /// The pipeline begins with whatever `$match` may use an index.
    fn run(&self, database: &str, collection: &str, pipeline: Pipeline) -> Result<Documents>;
}
