//! The values of a shard key: how many there are, which dominates, and whether they only
//! grow.

use super::{Cardinality, Frequent};
use crate::report::shown;
use bson::oid::ObjectId;
use bson::spec::ElementType;
use bson::{Bson, Document, RawBsonRef, RawDocument};
use serde_json::Value;
use std::cmp::Ordering;
use value::Element;
use value::element::get;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Fields of a key that are looked at; further ones only make it finer.
const FIELDS_MAX: usize = 4;
/// Steps without which nothing is said about an order.
const STEPS_MIN: u64 = 20;
/// Documents that later ones are compared with.
const KEPT_MAX: usize = 16;
/// Longer values are not compared.
const COMPARED_BYTES_MAX: usize = 1024;

#[derive(Debug)]
pub struct ShardKey {
    pub fields: Vec<KeyField>,
}

/// A field of the key, and the key up to it.
#[derive(Debug)]
pub struct KeyField {
    pub path: String,
    /// Whether documents are spread by the hash of the value.
    pub hashed: bool,
    /// Of this field and those before it together.
    pub distinct: Cardinality,
    pub frequent: Frequent,
    order: Order,
}

/// Whether a value is the greater, the later its document was made: each is compared with
/// one of a few that were kept of all those before it. Its neighbour alone would not do:
/// values that come in turns grow from one to the next, too.
#[derive(Debug, Default)]
struct Order {
    kept: Vec<Kept>,
    seen: u64,
    up: u64,
    down: u64,
}

#[derive(Debug)]
struct Kept {
    clock: Clock,
    kind: ElementType,
    bytes: Vec<u8>,
}

/// When a document was made, as far as can be told.
#[derive(Debug, Clone, Copy)]
struct Clock {
    id: Option<ObjectId>,
    /// Which one of the scan it is.
    number: u64,
}

impl ShardKey {
    pub fn new(key: &Document) -> ShardKey {
        let field = |(path, kind): (&String, &Bson)| KeyField {
            path: path.clone(),
            hashed: kind.as_str() == Some("hashed"),
            distinct: Cardinality::new(),
            frequent: Frequent::default(),
            order: Order::default(),
        };
        ShardKey { fields: key.iter().take(FIELDS_MAX).map(field).collect() }
    }

    pub fn add(&mut self, document: &RawDocument, id: Option<Element<'_>>, number: u64) {
        let clock = Clock { id: id.and_then(object_id), number };
        let mut hash = 0;
        for at in 0..self.fields.len() {
            let (before, rest) = self.fields.split_at_mut(at);
            let Some(field) = rest.first_mut() else { return };
            let element = find(document, &field.path);
            hash = hash_of(element, hash);
            field.distinct.add(hash);
            field.frequent.add(hash, || {
                let before = before.iter().map(|field| value_at(document, &field.path));
                let mut values: Vec<Value> = before.chain([value_of(element)]).collect();
                if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
            });
            if !field.hashed {
                field.order.add(clock, element);
            }
        }
    }
}

impl KeyField {
    /// The share of steps that go one way, the one most of them go; `None` where nothing
    /// can be said.
    pub fn monotonic_share(&self) -> Option<f64> {
        let Order { up, down, .. } = self.order;
        let steps = up + down;
        (steps >= STEPS_MIN).then(|| up.max(down) as f64 / steps as f64)
    }
}

impl Order {
    fn add(&mut self, clock: Clock, element: Option<Element<'_>>) {
        let Some(element) = element.filter(|it| it.bytes.len() <= COMPARED_BYTES_MAX) else {
            return;
        };
        self.seen += 1;
        let random = xxh3_64(&self.seen.to_le_bytes());
        if let Some(kept) = pick(&mut self.kept, random) {
            match value::compare(kept.value(), element.value()) {
                Ordering::Equal => {}
                step if step == kept.clock.compare(clock) => self.up += 1,
                _ => self.down += 1,
            }
        }
        if self.kept.len() < KEPT_MAX {
            self.kept.push(Kept { clock, kind: element.kind, bytes: element.bytes.to_vec() });
        } else if random % self.seen < KEPT_MAX as u64
            && let Some(kept) = pick(&mut self.kept, random % self.seen)
        {
            // Each of those seen so far stays with the same chance.
            kept.clock = clock;
            kept.kind = element.kind;
            kept.bytes.clear();
            kept.bytes.extend_from_slice(element.bytes);
        }
    }
}

impl Kept {
    fn value(&self) -> RawBsonRef<'_> {
        Element { kind: self.kind, key: "", bytes: &self.bytes }.value()
    }
}

fn pick(kept: &mut [Kept], random: u64) -> Option<&mut Kept> {
    let at = (random >> 32 ^ random) as usize % kept.len().max(1);
    kept.get_mut(at)
}

impl Clock {
    /// By their ids where these tell it, else as they were found.
    fn compare(self, other: Clock) -> Ordering {
        let found = self.number.cmp(&other.number);
        let (Some(a), Some(b)) = (self.id, other.id) else { return found };
        let (a, b) = (a.bytes(), b.bytes());
        let (seconds, process, counter) = (0..4, 4..9, 9..12);
        let order = a[seconds.clone()].cmp(&b[seconds]);
        // Two processes of one second: nobody knows.
        let within = if a[process.clone()] == b[process] {
            a[counter.clone()].cmp(&b[counter])
        } else {
            found
        };
        order.then(within)
    }
}

/// The value at a path of field names.
fn find<'a>(document: &'a RawDocument, path: &str) -> Option<Element<'a>> {
    let mut document = document;
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        let element = get(document, key)?;
        if keys.peek().is_none() {
            return Some(element);
        }
        document = element.as_document()?;
    }
    None
}

fn value_at(document: &RawDocument, path: &str) -> Value {
    value_of(find(document, path))
}

fn value_of(element: Option<Element<'_>>) -> Value {
    element.map_or(Value::Null, |element| shown(element.value()))
}

/// Numbers of any type that are equal have one hash.
fn hash_of(element: Option<Element<'_>>, seed: u64) -> u64 {
    let Some(element) = element else { return xxh3_64_with_seed(b"", seed) };
    let whole = match element.value() {
        RawBsonRef::Int32(number) => Some(i64::from(number)),
        RawBsonRef::Int64(number) => Some(number),
        RawBsonRef::Double(number) if number.fract() == 0.0 => Some(number as i64),
        _ => None,
    };
    match whole {
        Some(number) => xxh3_64_with_seed(&number.to_le_bytes(), seed),
        None => xxh3_64_with_seed(element.bytes, seed ^ element.kind as u64),
    }
}

/// The hash that values of one field are counted by.
#[inline]
pub fn hash(element: Element<'_>) -> u64 {
    xxh3_64(element.bytes)
}

fn object_id(id: Element<'_>) -> Option<ObjectId> {
    match id.value() {
        RawBsonRef::ObjectId(id) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::{DateTime, doc, rawdoc};
    use serde_json::json;

    fn counted(key: Document, document: impl Fn(u64) -> bson::RawDocumentBuf) -> ShardKey {
        let mut census = ShardKey::new(&key);
        for number in 0..1_000 {
            let document = document(number);
            census.add(&document, get(&document, "_id"), number);
        }
        census
    }

    #[test]
    fn a_key_is_counted_field_by_field() {
        let key = counted(doc! { "a.country": 1, "n": 1 }, |number| {
            let country = if number % 10 < 6 { "US" } else { "DE" };
            rawdoc! { "_id": number as i64, "a": { "country": country }, "n": (number / 2) as i32 }
        });
        let [country, whole] = &key.fields[..] else { panic!() };
        assert_eq!(country.distinct.distinct(), 2);
        let top = country.frequent.top().unwrap();
        assert_eq!((top.value, top.share), (&json!("US"), 0.6));
        let distinct = whole.distinct.distinct();
        assert!((465..535).contains(&distinct), "{distinct}");
        assert!(whole.frequent.top().is_none_or(|top| top.share < 0.05));
    }

    #[test]
    fn an_order_is_told_by_ids_whatever_the_order_of_the_scan() {
        let id = |second: u64| ObjectId::from_parts(second as u32, [1; 5], [0; 3]);
        // Scattered over a thousand seconds.
        let second = |number: u64| number * 387 % 1_000;
        let key = counted(doc! { "at": 1, "other": 1, "twin": "hashed" }, |number| {
            let at = DateTime::from_millis(second(number) as i64 * 1000);
            let other = (number * 611 % 1_000) as i32;
            rawdoc! { "_id": id(second(number)), "at": at, "other": other, "twin": at }
        });
        let shares: Vec<_> = key.fields.iter().map(KeyField::monotonic_share).collect();
        assert_eq!((shares[0], shares[2]), (Some(1.0), None));
        assert!(shares[1].is_some_and(|share| share < 0.8), "{shares:?}");
    }

    #[test]
    fn values_in_turns_do_not_grow() {
        for turns in [3, 20, 100] {
            let key = counted(doc! { "n": 1 }, |number| {
                rawdoc! { "_id": number as i64, "n": (number % turns) as i32 }
            });
            let share = key.fields[0].monotonic_share().unwrap();
            assert!(share < 0.8, "{turns}: {share}");
        }
    }

    #[test]
    fn numbers_and_missing_fields_count_as_values() {
        let key = counted(doc! { "n": 1 }, |number| match number % 4 {
            0 => rawdoc! { "_id": 1, "n": 5 },
            1 => rawdoc! { "_id": 1, "n": 5_i64 },
            2 => rawdoc! { "_id": 1, "n": 5.0 },
            _ => rawdoc! { "_id": 1 },
        });
        assert_eq!(key.fields[0].distinct.distinct(), 2);
        assert_eq!(key.fields[0].frequent.top().unwrap().share, 0.75);
    }
}
