//! `$first`, `$last`, `$firstN`, `$lastN` over a moving window.

use super::Slide;
use super::entered::Entered;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;

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
    entered: Entered,
}

impl Ends {
    pub fn new(end: End, n: Option<usize>) -> Ends {
        Ends { end, n, entered: Entered::default() }
    }
}

impl Slide for Ends {
    fn add(&mut self, value: Option<RawBson>, _: &RawDocument) -> Result<()> {
        self.entered.add(value);
        Ok(())
    }

    fn remove(&mut self) {
        self.entered.remove();
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let values = self.entered.values();
        let Some(n) = self.n else {
            let value = match self.end {
                End::First => values.front(),
                End::Last => values.back(),
            };
            return Ok(value.cloned().flatten());
        };
        let before = match self.end {
            End::First => 0,
            End::Last => values.len().saturating_sub(n),
        };
        let mut out = RawArrayBuf::new();
        for value in values.iter().skip(before).take(n) {
            out.push(value.as_ref().map_or(RawBsonRef::Null, RawBson::as_raw_bson_ref));
        }
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.entered.bytes()
    }
}
