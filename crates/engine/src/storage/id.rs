//! The numbers that keys begin with.

/// Names a collection's records. Never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub u32);

/// Names an index's entries. Never reused; shares its numbers with collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexId(pub u32);

/// A record's place in natural order: insertion order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId(pub u64);

/// A logical session: `lsid.id`. Its retry records are kept under it.
pub type SessionId = [u8; 16];
