//! `top`: how much each collection is used.

use std::sync::atomic::{AtomicU64, Ordering};

/// Use since the start.
#[derive(Debug, Default)]
pub struct Usage {
    expired: AtomicU64,
}

impl Usage {
    /// Counts documents that TTL indexes have deleted.
    pub fn expired(&self, documents: u64) {
        self.expired.fetch_add(documents, Ordering::Relaxed);
    }

    pub fn expired_documents(&self) -> u64 {
        self.expired.load(Ordering::Relaxed)
    }
}
