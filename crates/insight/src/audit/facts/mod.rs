//! What the server tells of itself, before and beside the documents.

mod collection;
mod gather;
mod growth;
mod index;
mod server;
mod sharding;
mod workload;

pub use collection::{Collection, Kind};
pub use gather::{Listing, gather};
pub use growth::{Bound, bound, is_document_bound, keeps_lower_case};
pub use index::{Index, direction};
pub use server::Server;
pub use sharding::{INTENDED_INDEX, ShardKey};
pub use workload::{
    End, JOIN, Lookup, Operation, Part, Predicates, Used, Workload, literal, lookups,
};

use crate::report::Note;
use command::Namespace;
use command::namespace::POLICIES;

/// What could not be looked at, and why.
#[derive(Debug, Default)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Of the deployment as a whole.
    pub fn add(&mut self, note: impl Into<String>) {
        self.0.push(Note { namespace: None, note: note.into(), missed: false });
    }

    pub fn of(&mut self, namespace: impl ToString, note: impl Into<String>) {
        let namespace = Some(namespace.to_string());
        self.0.push(Note { namespace, note: note.into(), missed: false });
    }

    /// Something that was asked for and could not be looked at: the audit is not complete.
    pub fn miss(&mut self, namespace: Option<String>, note: impl Into<String>) {
        self.0.push(Note { namespace, note: note.into(), missed: true });
    }

    pub fn append(&mut self, other: Notes) {
        self.0.extend(other.0);
    }

    pub fn any_missed(&self) -> bool {
        self.0.iter().any(|note| note.missed)
    }

    pub fn into_vec(self) -> Vec<Note> {
        self.0
    }
}

/// Names that are the server's own.
pub fn is_internal(namespace: &Namespace) -> bool {
    namespace.collection.starts_with("system.") || &*namespace.collection == POLICIES
}
