//! The workers, one file each. A new one is one file and one row here.

mod collections;
mod counter;
mod documents;
mod growth;
mod indexes;
mod transfers;

use crate::load::Worker;
use bson::{Document, doc};

/// The database that most of them share.
const DATABASE: &str = "crash";

pub fn all() -> Vec<Box<dyn Worker>> {
    vec![
        Box::new(collections::Collections::default()),
        Box::new(counter::Counter::new("left")),
        Box::new(counter::Counter::new("right")),
        Box::new(documents::Documents::new(0)),
        Box::new(documents::Documents::new(1)),
        Box::new(documents::Documents::new(2)),
        Box::new(growth::Growth),
        Box::new(indexes::Indexes::default()),
        Box::new(transfers::Transfers::new(0)),
        Box::new(transfers::Transfers::new(1)),
    ]
}

/// A session of one's own.
pub fn session() -> Document {
    doc! { "id": bson::Uuid::new() }
}
