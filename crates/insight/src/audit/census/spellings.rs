//! Values that are equal but for case.
//!
//! Every value is remembered by its lower-case form. Once there are too many, those whose
//! hash is odd in one more bit are let go: two spellings of one value have the same hash,
//! so a pair is kept or let go as a pair, and what is found stands for all in proportion.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Values remembered at once.
const VALUES_MAX: usize = 100_000;
const VALUES_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longer values are no ids.
const VALUE_BYTES_MAX: usize = 200;
const COLLISIONS_MAX: usize = 5;

#[derive(Debug, Default)]
pub struct Spellings {
    /// By the hash of the lower-case form, the first spelling.
    first: FxHashMap<u64, Box<str>>,
    /// What these weigh.
    bytes: usize,
    /// How many low bits of a hash must be zero for it to be remembered.
    bits: u32,
    /// Hashes of values found in more than one spelling.
    colliding: FxHashMap<u64, ()>,
    pub collisions: Vec<Collision>,
}

/// Two spellings of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    pub first: String,
    pub second: String,
}

impl Spellings {
    pub fn add(&mut self, value: &str) {
        if value.len() > VALUE_BYTES_MAX || !value.bytes().any(is_letter) {
            return;
        }
        let hash = hash_of_lower(value);
        if !self.is_kept(hash) {
            return;
        }
        match self.first.get(&hash) {
            None => {
                self.first.insert(hash, value.into());
                self.bytes += value.len();
                if self.first.len() > VALUES_MAX || self.bytes > VALUES_BYTES_MAX {
                    self.thin();
                }
            }
            Some(first) if **first != *value && first.to_lowercase() == value.to_lowercase() => {
                let new = self.colliding.insert(hash, ()).is_none();
                if new && self.collisions.len() < COLLISIONS_MAX {
                    let (first, second) = (first.to_string(), value.to_owned());
                    self.collisions.push(Collision { first, second });
                }
            }
            Some(_) => {}
        }
    }

    /// How many values have more than one spelling, about.
    pub fn colliding(&self) -> u64 {
        (self.colliding.len() as u64) << self.bits
    }

    /// How many different values there are but for case, about.
    pub fn values(&self) -> u64 {
        (self.first.len() as u64) << self.bits
    }

    fn is_kept(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.bits
    }

    fn thin(&mut self) {
        self.bits += 1;
        let bits = self.bits;
        self.first.retain(|hash, _| hash.trailing_zeros() >= bits);
        self.bytes = self.first.values().map(|value| value.len()).sum();
        self.colliding.retain(|hash, ()| hash.trailing_zeros() >= bits);
    }
}

/// Letters beyond ASCII count as letters.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

fn hash_of_lower(value: &str) -> u64 {
    let mut hasher = FxHasher::default();
    if value.is_ascii() {
        value.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else {
        value.to_lowercase().bytes().for_each(|byte| hasher.write_u8(byte));
    }
    // The low bits are looked at one by one: they must depend on everything.
    let mut mixed = FxHasher::default();
    (hasher.finish() ^ (hasher.finish() >> 32)).hash(&mut mixed);
    mixed.finish().rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_collide() {
        let mut spellings = Spellings::default();
        for value in ["User123", "user124", "12", "user123", "USER123", "User123", "Émile"] {
            spellings.add(value);
        }
        assert_eq!(spellings.colliding(), 1);
        let collision = Collision { first: "User123".to_owned(), second: "user123".to_owned() };
        assert_eq!(spellings.collisions, [collision]);
        spellings.add("émile");
        assert_eq!(spellings.colliding(), 2);
    }

    #[test]
    fn many_values_are_thinned_in_pairs() {
        let mut spellings = Spellings::default();
        let count: u64 = 300_000;
        for number in 0..count {
            spellings.add(&format!("user{number}"));
            if number % 10 == 0 {
                spellings.add(&format!("User{number}"));
            }
        }
        assert!(spellings.first.len() <= VALUES_MAX);
        let close = |value: u64, exact: u64| (value as f64 / exact as f64 - 1.0).abs() < 0.1;
        assert!(close(spellings.values(), count), "{}", spellings.values());
        assert!(close(spellings.colliding(), count / 10), "{}", spellings.colliding());
    }
}
