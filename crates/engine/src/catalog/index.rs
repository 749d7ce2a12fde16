//! An index's definition.

use crate::storage::IndexId;
use bson::RawDocumentBuf;
use language::query::Filter;
use std::sync::atomic::{AtomicU64, Ordering};
use value::{Collator, Path};

#[derive(Debug)]
pub struct Index {
    /// The prefix of its entries' keys; never reused.
    pub id: IndexId,
    pub name: String,
    pub fields: Vec<IndexField>,
    pub unique: bool,
    pub sparse: bool,
    pub hidden: bool,
    /// False while it is being built: written to, not read from.
    pub ready: bool,
    pub partial: Option<Filter>,
    pub expire_after_seconds: Option<i64>,
    pub collator: Option<Collator>,
    pub multikey: Multikey,
    /// `{v: 2, key, name, …}` as `listIndexes` shows it.
    pub spec: RawDocumentBuf,
}

#[derive(Debug)]
pub struct IndexField {
    pub path: Path,
    pub kind: IndexKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    Ascending,
    Descending,
    Hashed,
    /// `$**` or `path.$**`; `path` is what stands before `$**`.
    Wildcard,
}

/// Which fields of the index have met an array: bit n for field n. A bit is set
/// before the entries that need it become visible, and never cleared.
#[derive(Debug, Default)]
pub struct Multikey(AtomicU64);

impl Multikey {
    pub fn new(bits: u64) -> Multikey {
        Multikey(AtomicU64::new(bits))
    }

    pub fn bits(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub fn field(&self, at: usize) -> bool {
        self.bits() & (1 << at) != 0
    }

    pub fn any(&self) -> bool {
        self.bits() != 0
    }

    /// Sets bits; true if any was new.
    pub fn set(&self, bits: u64) -> bool {
        self.0.fetch_or(bits, Ordering::AcqRel) & bits != bits
    }
}
