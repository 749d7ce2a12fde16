//! How the memory of the process is divided.

/// The least that the process can work with: the share of requests has to hold a few of the
/// largest messages.
pub const MEMORY_BYTES_MIN: u64 = 256 * MEGABYTE;

const MEGABYTE: u64 = 1024 * 1024;

/// The block cache takes a quarter.
const CACHE_SHARE: u64 = 4;
const CACHE_BYTES_MAX: u64 = 4 * 1024 * MEGABYTE;
/// The block cache of a process that knows no budget.
const CACHE_BYTES_UNLIMITED: u64 = 256 * MEGABYTE;
/// One memtable. There are three trees, and what waits to be flushed takes as much again as
/// the fourth.
const MEMTABLE_SHARE: u64 = 32;
const MEMTABLE_BYTES_MIN: u64 = 8 * MEGABYTE;
const MEMTABLE_BYTES_MAX: u64 = 64 * MEGABYTE;
/// Requests share a half. What is left is for code, stacks, the catalog and what the allocator
/// cannot use.
const REQUESTS_SHARE: u64 = 2;

/// The memory of the process by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Blocks and blobs of the store, as they are used.
    pub cache_bytes: u64,
    /// One memtable of the store.
    pub memtable_bytes: u64,
    /// What requests may hold together.
    pub requests_bytes: u64,
}

impl Shares {
    /// `u64::MAX` is no limit.
    pub fn of(memory_bytes: u64) -> Shares {
        if memory_bytes == u64::MAX {
            return Shares {
                cache_bytes: CACHE_BYTES_UNLIMITED,
                memtable_bytes: MEMTABLE_BYTES_MAX,
                requests_bytes: u64::MAX,
            };
        }
        Shares {
            cache_bytes: (memory_bytes / CACHE_SHARE).min(CACHE_BYTES_MAX),
            memtable_bytes: (memory_bytes / MEMTABLE_SHARE)
                .clamp(MEMTABLE_BYTES_MIN, MEMTABLE_BYTES_MAX),
            requests_bytes: memory_bytes / REQUESTS_SHARE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_leave_an_eighth() {
        for memory_bytes in [MEMORY_BYTES_MIN, 1 << 30, 4 << 30, 64 << 30] {
            let shares = Shares::of(memory_bytes);
            let taken = shares.cache_bytes + 4 * shares.memtable_bytes + shares.requests_bytes;
            assert!(taken <= memory_bytes / 8 * 7, "{memory_bytes}: {shares:?}");
        }
    }
}
