//! A collection or view, as a command sees it: immutable, replaced as a whole.

use super::Index;
use crate::storage::CollectionId;
use bson::RawDocumentBuf;
use command::Namespace;
use std::sync::Arc;

#[derive(Debug)]
pub struct Collection {
    pub namespace: Namespace,
    /// The prefix of its records' keys; never reused.
    pub id: CollectionId,
    pub uuid: bson::Uuid,
    /// The options as given to `create`, for `listCollections`.
    pub options: RawDocumentBuf,
    /// The `_id` index first, then the others in order of creation. Empty for
    /// views. A clustered collection has no `_id` index: its record ids are its ids.
    pub indexes: Vec<Arc<Index>>,
}
