//! Storage: records, index entries, the catalog's rows, on fjall.

mod document;
mod id;
mod view;

pub use document::Document;
pub use id::{CollectionId, IndexId, RecordId};
pub use view::{Counts, Entries, Entry, Record, Records, View};
