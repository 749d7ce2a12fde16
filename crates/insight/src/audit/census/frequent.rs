//! The most frequent of many values, in a few counters.
//!
//! Space-saving: a value that has no counter takes over the lowest one, with its count. A
//! value that is more than one in `COUNTERS_MAX` has a counter for certain; what a counter
//! may be too high by is known, and not counted.

use serde_json::Value;

const COUNTERS_MAX: usize = 32;

#[derive(Debug, Clone, Default)]
pub struct Frequent {
    hashes: Vec<u64>,
    counters: Vec<Counter>,
    seen: u64,
}

#[derive(Debug, Clone)]
struct Counter {
    count: u64,
    /// What it took over.
    before: u64,
    /// Told only of a value that came twice: most values of most fields do not.
    value: Option<Value>,
}

/// The value that is there most often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Top<'a> {
    pub value: &'a Value,
    /// Of all values.
    pub share: f64,
}

impl Frequent {
    #[inline]
    pub fn add(&mut self, hash: u64, value: impl FnOnce() -> Value) {
        self.seen += 1;
        if let Some(at) = self.hashes.iter().position(|known| *known == hash) {
            let counter = &mut self.counters[at];
            counter.count += 1;
            counter.value.get_or_insert_with(value);
        } else if self.hashes.len() < COUNTERS_MAX {
            self.hashes.push(hash);
            self.counters.push(Counter { count: 1, before: 0, value: None });
        } else if let Some((at, lowest)) =
            self.counters.iter_mut().enumerate().min_by_key(|(_, counter)| counter.count)
        {
            self.hashes[at] = hash;
            *lowest = Counter { count: lowest.count + 1, before: lowest.count, value: None };
        }
    }

    /// The value that is there most often, of those that are there more than once.
    pub fn top(&self) -> Option<Top<'_>> {
        let certain = |counter: &Counter| counter.count - counter.before;
        let top = self.counters.iter().max_by_key(|counter| certain(counter))?;
        let value = top.value.as_ref()?;
        Some(Top { value, share: certain(top) as f64 / self.seen as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn a_value_that_dominates_is_found_among_many() {
        let mut frequent = Frequent::default();
        assert_eq!(frequent.top(), None);
        for number in 0..10_000_u64 {
            let value = if number % 4 == 0 { 7 } else { 1_000 + number };
            frequent.add(xxh3_64(&value.to_le_bytes()), || json!(value));
        }
        let top = frequent.top().unwrap();
        assert_eq!(top.value, &json!(7));
        assert!((top.share - 0.25).abs() < 0.01, "{}", top.share);
    }

    #[test]
    fn values_that_differ_have_no_top_to_speak_of() {
        let mut frequent = Frequent::default();
        for number in 0..10_000_u64 {
            frequent.add(xxh3_64(&number.to_le_bytes()), || unreachable!("nothing comes twice"));
        }
        assert!(frequent.top().is_none());
    }
}
