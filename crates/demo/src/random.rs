//! Random numbers that are the same on every machine, in every version.
//!
//! ChaCha8 has a specified stream. What is made of it here uses whole numbers and those
//! operations on doubles that IEEE 754 rounds in one way; a library's distributions may
//! change with its version, and a logarithm differs between machines.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use xxhash_rust::xxh3::xxh3_64;

pub struct Random(ChaCha8Rng);

impl Random {
    /// The numbers of one document: of a seed, a place (its collection) and its number there.
    pub fn new(seed: u64, place: &str, number: u64) -> Random {
        let mut key = [0; 32];
        let (first, second) = key.split_at_mut(8);
        first.copy_from_slice(&seed.to_le_bytes());
        second[..8].copy_from_slice(&xxh3_64(place.as_bytes()).to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(number);
        Random(generator)
    }

    /// From 0 to below `bound`, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// From `low` (above 0) to `high`; most are near `low`, half of them below twice that.
    pub fn skewed(&mut self, low: u64, high: u64) -> u64 {
        let (low_number, high_number) = (low as f64, high as f64);
        let value = low_number / (1.0 - self.unit() * (1.0 - low_number / high_number));
        (value as u64).clamp(low, high)
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Around `middle`, at most `spread` away, mostly much nearer.
    pub fn near(&mut self, middle: f64, spread: f64) -> f64 {
        let mean = (self.unit() + self.unit() + self.unit() + self.unit()) / 4.0;
        middle + (mean * 2.0 - 1.0) * spread
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these; there is at least one.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }

    /// One of these, each as often as its weight says.
    pub fn weighted<'a, T: ?Sized>(&mut self, from: &[(u64, &'a T)]) -> &'a T {
        let mut left = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in from {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return item,
            }
        }
        from[0].1
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// A sum of money, in whole cents.
    pub fn money(&mut self, low: u64, high: u64) -> f64 {
        self.between(low * 100, high * 100) as f64 / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream itself: a new version of the library that changes it fails here.
    #[test]
    fn the_stream_is_pinned() {
        let mut random = Random::new(1, "users", 42);
        assert_eq!(random.bytes(8), [164, 196, 183, 48, 205, 48, 85, 7]);
    }

    #[test]
    fn numbers_stay_in_their_bounds() {
        let mut random = Random::new(7, "bounds", 0);
        for _ in 0..10_000 {
            assert!(random.below(3) < 3);
            assert!((5..=7).contains(&random.between(5, 7)));
            assert!((50..=500).contains(&random.skewed(50, 500)));
            assert!((0.0..1.0).contains(&random.unit()));
            assert!((18.0..=26.0).contains(&random.near(22.0, 4.0)));
        }
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn the_skewed_are_mostly_small() {
        let mut random = Random::new(7, "skewed", 0);
        let small = (0..10_000).filter(|_| random.skewed(50, 5_000) < 100).count();
        assert!((4_500..5_700).contains(&small), "{small}");
    }

    #[test]
    fn weights_are_kept() {
        let mut random = Random::new(7, "weights", 0);
        let us = (0..10_000).filter(|_| random.weighted(&[(60, "US"), (40, "DE")]) == "US").count();
        assert!((5_700..6_300).contains(&us), "{us}");
    }
}
