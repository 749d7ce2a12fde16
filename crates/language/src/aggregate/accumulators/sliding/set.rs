//! `$addToSet` and `$setUnion` over a moving window: each value once, in the order in which
//! they first stand in the window.

use super::{Slide, size};
use crate::aggregate::accumulators::set_union;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use value::Collator;
use value::element::array_elements;
use value::key::{Direction, Key};

/// A value of the set: where it stands in the window, and how it is written there. The
/// first is its place in the order.
type Member = VecDeque<(u64, RawBson)>;

#[derive(Debug, Default)]
pub struct Set {
    /// Whether the values are arrays whose elements are wanted.
    flat: bool,
    collator: Option<Arc<Collator>>,
    members: FxHashMap<Arc<[u8]>, Member>,
    order: BTreeMap<u64, Arc<[u8]>>,
    /// The keys of each document's values.
    entered: VecDeque<Vec<Arc<[u8]>>>,
    next_place: u64,
    bytes: usize,
}

/// What a place of a value takes: in the queue of its document, its own and in the order.
const PLACE_BYTES: usize = 2 * size_of::<Arc<[u8]>>() + 2 * size_of::<u64>();

impl Set {
    pub fn of_values(collator: Option<Arc<Collator>>) -> Set {
        Set { collator, ..Set::default() }
    }

    pub fn of_elements(collator: Option<Arc<Collator>>) -> Set {
        Set { flat: true, ..Set::of_values(collator) }
    }

    fn insert(&mut self, value: RawBsonRef<'_>) -> Arc<[u8]> {
        let mut key = Key::default();
        key.push(value, Direction::Ascending, self.collator.as_deref());
        let place = self.next_place;
        self.next_place += 1;
        let value = value::value::to_owned(value);
        self.bytes += PLACE_BYTES + size(&value);
        if let Some((known, _)) = self.members.get_key_value(key.bytes.as_slice()) {
            let known = known.clone();
            self.members.entry(known.clone()).or_default().push_back((place, value));
            return known;
        }
        let key: Arc<[u8]> = key.bytes.into();
        self.bytes += key.len();
        self.order.insert(place, key.clone());
        self.members.insert(key.clone(), Member::from([(place, value)]));
        key
    }

    fn leave(&mut self, key: &Arc<[u8]>) {
        let Some(member) = self.members.get_mut(key) else { return };
        if let Some((place, value)) = member.pop_front() {
            self.bytes -= PLACE_BYTES + size(&value);
            self.order.remove(&place);
        }
        match member.front() {
            Some((place, _)) => {
                self.order.insert(*place, key.clone());
            }
            None => {
                self.bytes -= key.len();
                self.members.remove(key);
            }
        }
    }
}

impl Slide for Set {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        let value = value.as_ref().map(RawBson::as_raw_bson_ref);
        let keys = match value {
            _ if self.flat => {
                let elements = set_union::elements_of(value)?.into_iter().flat_map(array_elements);
                elements.map(|element| self.insert(element.value())).collect()
            }
            Some(value) => vec![self.insert(value)],
            None => Vec::new(),
        };
        self.entered.push_back(keys);
        Ok(())
    }

    fn remove(&mut self) {
        for key in self.entered.pop_front().into_iter().flatten() {
            self.leave(&key);
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let mut out = RawArrayBuf::new();
        for member in self.order.values().filter_map(|key| self.members.get(key)) {
            if let Some((_, value)) = member.front() {
                out.push(value.as_raw_bson_ref());
            }
        }
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.bytes + self.entered.len() * size_of::<Vec<Arc<[u8]>>>()
    }
}
