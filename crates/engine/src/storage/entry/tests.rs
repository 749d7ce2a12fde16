use super::*;
use crate::storage::trees::{Failure, Pairs, Range, Tree, TreeSnapshot};
use bson::{Binary, RawBsonRef, spec::BinarySubtype};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use value::key::Direction;

const INDEX: IndexId = IndexId(7);
/// A string's key has its tag before it and two bytes behind.
const TEXT_OVERHEAD_BYTES: usize = 3;
const WHOLE_TEXT_BYTES_MAX: usize = WHOLE_KEY_BYTES_MAX - TEXT_OVERHEAD_BYTES;

#[derive(Default)]
struct Fixed(BTreeMap<Slice, Slice>);

impl TreeSnapshot for Fixed {
    fn get(&self, _: Tree, key: &[u8]) -> std::result::Result<Option<Slice>, Failure> {
        Ok(self.0.get(key).cloned())
    }

    fn range(&self, _: Tree, range: Range) -> Pairs {
        let pairs = self.0.range(range).map(|(key, value)| Ok((key.clone(), value.clone())));
        Box::new(pairs.collect::<Vec<_>>().into_iter())
    }
}

/// What the tree holds of some keys, and what is to be found in it.
struct World {
    bare: bool,
    tree: Arc<Fixed>,
    model: BTreeMap<(Vec<u8>, u64), Vec<u8>>,
}

impl World {
    /// One record a key; where keys are bare, the first that has a key.
    fn of(keys: &[Key], bare: bool) -> World {
        let (mut tree, mut model) = (Fixed::default(), BTreeMap::new());
        // Entries of other indexes are never met.
        for other in [IndexId(INDEX.0 - 1), IndexId(INDEX.0 + 1)] {
            let key = Key::of(RawBsonRef::Null);
            let place = place(other, &key.bytes, (!bare).then_some(RecordId(1)));
            tree.0.insert(place.into(), value(key, bare.then_some(RecordId(1))).into());
        }
        for (key, record) in keys.iter().cloned().zip(1..) {
            let of = RecordId(record);
            let place = Slice::from(place(INDEX, &key.bytes, (!bare).then_some(of)));
            assert!(place.len() <= usize::from(u16::MAX), "a key of {} bytes", place.len());
            if bare && tree.0.contains_key(&place) {
                continue;
            }
            model.insert((key.bytes.clone(), record), key.types.clone());
            tree.0.insert(place, value(key, bare.then_some(of)).into());
        }
        World { bare, tree: Arc::new(tree), model }
    }

    fn check_key(&self, key: &[u8]) {
        let wanted = self.model.keys().filter(|(other, _)| other == key).map(|(_, record)| *record);
        let entries = Entries::of(self.tree.clone(), INDEX, self.bare, key);
        let found = entries.map(|entry| entry.expect("reads")).map(|entry| {
            assert!(entry.key() == key);
            entry.record.0
        });
        assert_eq!(found.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }

    fn check(&self, low: &[u8], high: Option<&[u8]>) {
        let inside = |key: &[u8]| key >= low && high.is_none_or(|high| key < high);
        let wanted: Vec<_> = self.model.iter().filter(|((key, _), _)| inside(key)).collect();
        let entries = || Entries::between(self.tree.clone(), INDEX, self.bare, low, high);
        let forward: Vec<_> = entries().map(|entry| entry.expect("reads")).collect();
        let mut backward: Vec<_> =
            entries().backward().map(|entry| entry.expect("reads")).collect();
        backward.reverse();
        for found in [forward, backward] {
            assert_eq!(found.len(), wanted.len());
            for (entry, ((key, record), types)) in found.iter().zip(&wanted) {
                assert!(entry.key() == key.as_slice(), "in order, and whole");
                assert_eq!((entry.record.0, entry.types()), (*record, types.as_slice()));
            }
        }
    }
}

fn text(length: usize, last: &str) -> Key {
    let text = "x".repeat(length.saturating_sub(last.len())) + last;
    Key::of(RawBsonRef::String(&text))
}

/// Lengths on both sides of the limit, ends that differ there, behind it or nowhere.
fn key() -> impl Strategy<Value = Key> {
    let around = (0..6_usize).prop_map(|n| WHOLE_TEXT_BYTES_MAX - 3 + n);
    let length = prop_oneof![4 => around, 1 => 1..10_usize, 2 => 66_000..66_010_usize];
    let last = prop_oneof!["[w-z]{0,4}", "[a-z]{600}"];
    let symbol = prop::bool::weighted(0.3);
    let direction = prop_oneof![Just(Direction::Ascending), Just(Direction::Descending)];
    (length, last, symbol, direction).prop_map(|(length, last, symbol, direction)| {
        let text = "x".repeat(length.saturating_sub(last.len())) + &last;
        let value = match symbol {
            true => RawBsonRef::Symbol(&text),
            false => RawBsonRef::String(&text),
        };
        // A second field, so that keys differ behind a long first one.
        let mut key = Key::of(value);
        key.push(RawBsonRef::Int32(length as i32 % 3), direction, None);
        key
    })
}

#[test]
fn short_keys_are_stored_as_they_have_always_been() {
    for length in [0, 5, WHOLE_TEXT_BYTES_MAX] {
        let mut key = text(length, "");
        key.types = vec![9, 8];
        let plain = [&INDEX.0.to_be_bytes()[..], &key.bytes].concat();
        assert_eq!(place(INDEX, &key.bytes, None), plain);
        let record = RecordId(17).0.to_be_bytes();
        assert_eq!(place(INDEX, &key.bytes, Some(RecordId(17))), [&plain[..], &record].concat());
        assert_eq!(value(key.clone(), None), [9, 8]);
        assert_eq!(value(key, Some(RecordId(17))), [&record[..], &[9, 8]].concat());
    }
}

#[test]
fn the_layout_of_a_long_key_stays_as_it_is() {
    let mut key = text(WHOLE_TEXT_BYTES_MAX + 5, "end");
    key.types = vec![9, 8];
    let at = place(INDEX, &key.bytes, Some(RecordId(17)));
    assert_eq!(at.len(), INDEX_BYTES + WHOLE_KEY_BYTES_MAX + HASH_BYTES + RECORD_BYTES);
    let (start, rest) = at.split_at(INDEX_BYTES + WHOLE_KEY_BYTES_MAX);
    assert_eq!(start[INDEX_BYTES..], key.bytes[..WHOLE_KEY_BYTES_MAX]);
    let (hash, record) = rest.split_at(HASH_BYTES);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "b8c7bf42d978f897f159db8a926ea7a190cd8a6bf6e41cb7fff915272389d87d");
    assert_eq!(record, 17_u64.to_be_bytes());
    assert_eq!(value(key, None), [&[0, 0, 0, 2, 9, 8][..], b"end\x00\x01"].concat());
}

#[test]
fn damage_of_a_long_entry_is_an_error() {
    let key = text(WHOLE_TEXT_BYTES_MAX + 1, "");
    let at = place(INDEX, &key.bytes, None);
    let whole = value(key, Some(RecordId(1)));
    for cut in [0, 7, 8, 11] {
        assert!(Entry::read(at.clone().into(), whole[..cut].into(), true).is_err());
    }
    let longer = [&at[..], &[0]].concat();
    assert!(Entry::read(longer.into(), whole.into(), true).is_err());
}

#[test]
fn a_run_that_does_not_fit_in_memory_is_in_order_too() {
    const MEGABYTE: usize = 1024 * 1024;
    let bytes = |n: u32| {
        let mut bytes = vec![1; MEGABYTE];
        bytes[MEGABYTE - 4..].copy_from_slice(&n.wrapping_mul(2_654_435_761).to_be_bytes());
        Binary { subtype: BinarySubtype::Generic, bytes }
    };
    let binaries: Vec<_> = (0..80).map(bytes).collect();
    let key = |binary: &Binary| Key::of(RawBsonRef::Binary(binary.as_raw_binary()));
    let keys: Vec<_> = binaries.iter().chain(&binaries[..9]).map(key).collect();
    for bare in [true, false] {
        let world = World::of(&keys, bare);
        world.check(&[], None);
        world.check(&keys[3].bytes, None);
        world.check(&[], Some(&keys[4].bytes));
    }
}

#[test]
fn keys_of_fifteen_megabytes_are_found() {
    let lengths = [1, WHOLE_TEXT_BYTES_MAX, WHOLE_TEXT_BYTES_MAX + 1, 1 << 20, 15 << 20];
    let keys: Vec<_> =
        lengths.iter().flat_map(|length| [text(*length, "a"), text(*length, "b")]).collect();
    let world = World::of(&keys, true);
    world.check(&[], None);
    for key in &keys {
        world.check(&key.bytes, None);
        world.check(&[], Some(&key.bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn entries_are_those_of_a_sorted_map_of_whole_keys(
        keys in prop::collection::vec(key(), 0..24),
        bounds in prop::collection::vec((key(), key(), 0..70_000_usize), 1..6),
        bare in any::<bool>(),
    ) {
        let world = World::of(&keys, bare);
        world.check(&[], None);
        for (low, high, cut) in &bounds {
            world.check(&low.bytes, Some(&high.bytes));
            world.check(&low.bytes, None);
            world.check(&low.bytes[..low.bytes.len().min(*cut)], Some(&high.bytes));
            world.check(&[], Some(&high.bytes[..high.bytes.len().min(*cut)]));
        }
        for key in keys.iter().chain(bounds.iter().map(|(key, ..)| key)) {
            world.check_key(&key.bytes);
        }
        for key in keys.iter().take(4) {
            world.check(&key.bytes, None);
            world.check(&[], Some(&key.bytes));
        }
    }
}
