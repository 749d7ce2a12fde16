//! `$min`, `$max`, `$top`, `$bottom` and the same of n, over a moving window: what is in it
//! is kept in order.

use super::{Slide, size};
use crate::aggregate::expressions::coerce;
use crate::sort::Pattern;
use bson::{RawArrayBuf, RawBson, RawDocument};
use error::Result;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use value::Collator;
use value::key::{Direction, Key};

/// Which of the values are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The least, in order.
    Least,
    /// The greatest, in order.
    Greatest,
    /// The greatest, the greatest of them first.
    GreatestFirst,
}

pub struct Ordered {
    /// What the values are ordered by; `None`: by themselves, and null does not count.
    by: Option<Arc<Pattern>>,
    collator: Option<Arc<Collator>>,
    pick: Pick,
    /// `None`: one value and no array.
    n: Option<usize>,
    /// By key, and by the order of coming.
    values: BTreeMap<(Arc<[u8]>, u64), RawBson>,
    entered: VecDeque<Option<Arc<[u8]>>>,
    /// The number of the oldest.
    oldest: u64,
    bytes: usize,
}

impl Ordered {
    pub fn new(pick: Pick, n: Option<usize>, collator: Option<Arc<Collator>>) -> Ordered {
        Ordered {
            by: None,
            collator,
            pick,
            n,
            values: BTreeMap::new(),
            entered: VecDeque::new(),
            oldest: 0,
            bytes: 0,
        }
    }

    pub fn by(self, pattern: Arc<Pattern>) -> Ordered {
        Ordered { by: Some(pattern), ..self }
    }

    fn key(&self, value: Option<&RawBson>, root: &RawDocument) -> Result<Option<Arc<[u8]>>> {
        let mut key = Key::default();
        let collator = self.collator.as_deref();
        match (&self.by, value.map(RawBson::as_raw_bson_ref)) {
            (Some(pattern), _) => pattern.key(root, collator, &mut key)?,
            (None, Some(value)) if !coerce::is_nullish(Some(value)) => {
                key.push(value, Direction::Ascending, collator);
            }
            _ => return Ok(None),
        }
        Ok(Some(key.bytes.into()))
    }
}

impl Slide for Ordered {
    fn add(&mut self, value: Option<RawBson>, root: &RawDocument) -> Result<()> {
        let key = self.key(value.as_ref(), root)?;
        if let Some(key) = &key {
            let value = value.unwrap_or(RawBson::Null);
            self.bytes += size(&value) + key.len();
            let number = self.oldest + self.entered.len() as u64;
            self.values.insert((key.clone(), number), value);
        }
        self.entered.push_back(key);
        Ok(())
    }

    fn remove(&mut self) {
        if let Some(Some(key)) = self.entered.pop_front() {
            let length = key.len();
            if let Some(value) = self.values.remove(&(key, self.oldest)) {
                self.bytes -= size(&value) + length;
            }
        }
        self.oldest += 1;
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let Some(n) = self.n else {
            let value = match self.pick {
                Pick::Least => self.values.values().next(),
                Pick::Greatest | Pick::GreatestFirst => self.values.values().next_back(),
            };
            return Ok(Some(value.cloned().unwrap_or(RawBson::Null)));
        };
        let mut out = RawArrayBuf::new();
        let values = self.values.values();
        let mut push = |value: &RawBson| out.push(value.as_raw_bson_ref());
        match self.pick {
            Pick::Least => values.take(n).for_each(&mut push),
            Pick::Greatest => {
                let picked: Vec<_> = values.rev().take(n).collect();
                picked.into_iter().rev().for_each(&mut push);
            }
            Pick::GreatestFirst => values.rev().take(n).for_each(&mut push),
        }
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.bytes + self.entered.len() * size_of::<(Arc<[u8]>, u64)>()
    }
}
