//! File descriptors: connections leave some for the files of the store, which takes no more
//! writes once it cannot make a file.

use crate::limits::{CONNECTIONS_MAX, DESCRIPTORS_RESERVED};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::os::fd::{AsFd, AsRawFd};

/// What a connection takes of the memory that the budget does not count, roughly.
const CONNECTION_BYTES: u64 = 64 * 1024;

/// Takes all the descriptors that the system gives.
pub fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it is refused, what was there before holds.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// How many connections descriptors and a budget of memory allow.
pub fn connections_max(memory_bytes: u64) -> usize {
    let by_memory = memory_bytes / CONNECTION_BYTES;
    let by_files = getrlimit(Resource::Nofile).current.map_or(u64::MAX, for_connections);
    CONNECTIONS_MAX.min(usize::try_from(by_memory.min(by_files)).unwrap_or(CONNECTIONS_MAX))
}

/// Whether a new client leaves enough descriptors for the store. The system gives the lowest
/// that is free, so its number shows how many are taken.
pub(crate) fn admit_client(stream: &impl AsFd) -> bool {
    is_below(stream, for_connections)
}

/// As `admit_client`, for HTTP: it is asked how the server is when descriptors are short, so
/// its few connections may take half of what is reserved.
pub(crate) fn admit_http(stream: &impl AsFd) -> bool {
    is_below(stream, |limit| limit.midpoint(for_connections(limit)))
}

fn is_below(stream: &impl AsFd, most: impl FnOnce(u64) -> u64) -> bool {
    let number = stream.as_fd().as_raw_fd().unsigned_abs();
    let limit = getrlimit(Resource::Nofile).current;
    limit.is_none_or(|limit| u64::from(number) < most(limit))
}

/// The descriptors that are not reserved.
fn for_connections(limit: u64) -> u64 {
    limit.saturating_sub(DESCRIPTORS_RESERVED).max(limit / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_descriptors_are_left() {
        assert_eq!(for_connections(20_000), 19_000);
        assert_eq!(for_connections(1_024), 512);
        assert!(connections_max(u64::MAX) <= CONNECTIONS_MAX);
        assert_eq!(connections_max(1 << 20), 16);
    }
}
