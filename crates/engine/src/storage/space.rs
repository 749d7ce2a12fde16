//! The reserve of free space: below it, writes that take room are refused, so that
//! the disk does not get full in the middle of something.

use super::trees::Trees;
use error::{Code, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default reserve: room for what is in memory to be written out, and for
/// deletions.
pub const RESERVE_BYTES: u64 = 500 * 1024 * 1024;
/// For how long a look at the file system holds.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

pub struct Space {
    trees: Arc<dyn Trees>,
    reserve_bytes: AtomicU64,
    low: AtomicBool,
    free_bytes: AtomicU64,
    looked: Mutex<Option<Instant>>,
}

impl Space {
    pub fn new(trees: Arc<dyn Trees>) -> Space {
        Space {
            trees,
            reserve_bytes: AtomicU64::new(0),
            low: AtomicBool::new(false),
            free_bytes: AtomicU64::new(u64::MAX),
            looked: Mutex::new(None),
        }
    }

    /// Keeps so much free; 0 for nothing.
    pub fn set_reserve(&self, bytes: u64) {
        self.reserve_bytes.store(bytes, Ordering::Relaxed);
        *self.looked.lock() = None;
    }

    pub fn reserve_bytes(&self) -> u64 {
        self.reserve_bytes.load(Ordering::Relaxed)
    }

    /// Whether a write that takes room may go on.
    pub fn check(&self) -> Result<()> {
        if !self.is_low() {
            return Ok(());
        }
        Err(Code::OutOfDiskSpace.error(format!(
            "the disk has {} bytes free, less than the reserve of {}: until there is more, only \
             deletes and drops are taken; make room, or lower --reserve",
            self.free_bytes(),
            self.reserve_bytes()
        )))
    }

    /// What was free at the last look.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    /// Whether there is less than the reserve.
    pub fn is_low(&self) -> bool {
        let reserve_bytes = self.reserve_bytes();
        if reserve_bytes == 0 {
            return false;
        }
        // Whoever finds another at it relies on the look before.
        if let Some(mut looked) = self.looked.try_lock()
            && looked.is_none_or(|looked| looked.elapsed() >= LOOK_INTERVAL)
        {
            *looked = Some(Instant::now());
            self.look(reserve_bytes);
        }
        self.low.load(Ordering::Relaxed)
    }

    fn look(&self, reserve_bytes: u64) {
        let Some(file_system) = self.trees.file_system() else { return };
        let free_bytes = file_system.free_bytes;
        self.free_bytes.store(free_bytes, Ordering::Relaxed);
        let low = free_bytes < reserve_bytes;
        if low == self.low.swap(low, Ordering::Relaxed) {
            return;
        }
        if low {
            tracing::warn!(
                free_bytes,
                reserve_bytes,
                "free space is below the reserve: writes are refused"
            );
        } else {
            tracing::info!(free_bytes, reserve_bytes, "there is room again: writes are taken");
        }
    }
}
