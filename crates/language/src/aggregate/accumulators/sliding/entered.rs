//! The values of a window in the order in which they entered.

use super::size;
use bson::RawBson;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub struct Entered {
    /// `None` is missing.
    values: VecDeque<Option<RawBson>>,
    bytes: usize,
}

impl Entered {
    pub fn add(&mut self, value: Option<RawBson>) {
        self.bytes += size_of_optional(value.as_ref());
        self.values.push_back(value);
    }

    /// Lets the oldest go.
    pub fn remove(&mut self) {
        if let Some(value) = self.values.pop_front() {
            self.bytes -= size_of_optional(value.as_ref());
        }
    }

    pub fn values(&self) -> &VecDeque<Option<RawBson>> {
        &self.values
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

fn size_of_optional(value: Option<&RawBson>) -> usize {
    value.map_or(size_of::<RawBson>(), size)
}
