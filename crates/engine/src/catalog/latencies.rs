//! How long operations took, in the buckets that MongoDB has.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Below 2048 µs each bucket begins at a power of two, up to 2 s there is one halfway, and from
/// there on, up to 12 days, there are powers of two again.
const BUCKETS: usize = 51;
/// The bucket of 2048 µs, and the one of 2 s.
const HALVES_FROM: usize = 11;
const HALVES_TO: usize = 31;

/// Empty, it takes no more than a pointer: idle collections have one, too.
#[derive(Debug, Default)]
pub struct Latencies(OnceLock<Box<[AtomicU64; BUCKETS]>>);

impl Latencies {
    pub fn add(&self, microseconds: u64) {
        let buckets = self.0.get_or_init(|| Box::new([const { AtomicU64::new(0) }; BUCKETS]));
        let after = (0..BUCKETS).find(|at| lower_bound(*at) > microseconds).unwrap_or(BUCKETS);
        if let Some(bucket) = buckets.get(after.saturating_sub(1)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The lower bound in microseconds of each bucket that has any, and how many.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.0.get().into_iter().flat_map(|buckets| buckets.iter());
        counts
            .enumerate()
            .map(|(at, count)| (lower_bound(at), count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
    }
}

fn lower_bound(bucket: usize) -> u64 {
    match bucket {
        0 => 0,
        _ if bucket <= HALVES_FROM => 1 << bucket,
        _ if bucket <= HALVES_TO => {
            let steps = bucket - HALVES_FROM;
            let power = 1 << (HALVES_FROM + steps / 2);
            if steps % 2 == 1 { power + power / 2 } else { power }
        }
        _ => 1 << (bucket - HALVES_TO + HALVES_FROM + (HALVES_TO - HALVES_FROM) / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_begin_where_they_do_in_mongodb() {
        let bounds: Vec<u64> = (0..BUCKETS).map(lower_bound).collect();
        assert_eq!(bounds[..4], [0, 2, 4, 8]);
        assert_eq!(bounds[10..15], [1024, 2048, 3072, 4096, 6144]);
        assert_eq!(bounds[29..34], [1 << 20, (1 << 20) + (1 << 19), 1 << 21, 1 << 22, 1 << 23]);
        assert_eq!(bounds[50], 1 << 40);
        assert!(bounds.is_sorted());
    }

    #[test]
    fn each_falls_into_one() {
        let latencies = Latencies::default();
        [0, 1, 3, 3000, u64::MAX].iter().for_each(|it| latencies.add(*it));
        let buckets: Vec<_> = latencies.buckets().collect();
        assert_eq!(buckets, [(0, 2), (2, 1), (2048, 1), (1 << 40, 1)]);
    }
}
