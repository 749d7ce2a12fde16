//! `$addToSet`: different values, each once, in the order they came.

use super::{Accumulation, Accumulator, check_bytes, sliding};
use crate::Context;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use value::Collator;
use value::key::{Direction, Key};

/// Values, each once.
#[derive(Debug, Default)]
pub struct Set {
    collator: Option<Arc<Collator>>,
    keys: FxHashSet<Vec<u8>>,
    values: RawArrayBuf,
    key_bytes: usize,
}

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let mut accumulation = Accumulation::unary(value, context, Set::default)?;
    let collator = context.collator.clone();
    accumulation.start = Box::new(move |_| Ok(Box::new(Set::new(collator.clone()))));
    let collator = context.collator.clone();
    Ok(accumulation.sliding(move || sliding::Set::of_values(collator.clone())))
}

impl Set {
    pub fn new(collator: Option<Arc<Collator>>) -> Set {
        Set { collator, ..Set::default() }
    }

    pub fn insert(&mut self, name: &str, value: RawBsonRef<'_>) -> Result<()> {
        let mut key = Key::default();
        key.push(value, Direction::Ascending, self.collator.as_deref());
        let length = key.bytes.len();
        if self.keys.insert(key.bytes) {
            self.key_bytes += length;
            self.values.push(value);
            check_bytes(name, self.bytes())?;
        }
        Ok(())
    }
}

impl Accumulator for Set {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match value {
            Some(value) => self.insert("$addToSet", value),
            None => Ok(()),
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(RawBson::Array(self.values.clone())))
    }

    fn held(&self) -> Option<RawBsonRef<'_>> {
        Some(RawBsonRef::Array(&self.values))
    }

    fn bytes(&self) -> usize {
        self.values.as_bytes().len() + self.key_bytes
    }
}
