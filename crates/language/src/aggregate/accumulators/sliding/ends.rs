//! `$first`, `$last`, `$firstN`, `$lastN` over a moving window.

use super::{Slide, size_of_optional};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::collections::VecDeque;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    First,
    Last,
}

#[derive(Debug)]
pub struct Ends {
    end: End,
    /// `None`: one value and no array.
    n: Option<usize>,
    entered: VecDeque<Option<RawBson>>,
    bytes: usize,
}

impl Ends {
    pub fn new(end: End, n: Option<usize>) -> Ends {
        Ends { end, n, entered: VecDeque::new(), bytes: 0 }
    }
}

impl Slide for Ends {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        self.bytes += size_of_optional(value.as_ref());
        self.entered.push_back(value);
        Ok(())
    }

    fn remove(&mut self) {
        if let Some(value) = self.entered.pop_front() {
            self.bytes -= size_of_optional(value.as_ref());
        }
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let Some(n) = self.n else {
            let value = match self.end {
                End::First => self.entered.front(),
                End::Last => self.entered.back(),
            };
            return Ok(value.cloned().flatten());
        };
        let before = match self.end {
            End::First => 0,
            End::Last => self.entered.len().saturating_sub(n),
        };
        let mut out = RawArrayBuf::new();
        for value in self.entered.iter().skip(before).take(n) {
            out.push(value.as_ref().map_or(RawBsonRef::Null, RawBson::as_raw_bson_ref));
        }
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
