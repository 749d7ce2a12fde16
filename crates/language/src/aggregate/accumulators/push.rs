//! `$push`: all values that are not missing.

use super::sliding::List;
use super::{Accumulation, Accumulator, check_bytes};
use crate::Context;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::Result;

#[derive(Debug, Default)]
struct Push(RawArrayBuf);

pub fn parse(_: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    Ok(Accumulation::unary(value, context, Push::default)?.sliding(List::of_values))
}

impl Accumulator for Push {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        if let Some(value) = value {
            self.0.push(value);
            check_bytes("$push", self.0.as_bytes().len())?;
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(RawBson::Array(self.0.clone())))
    }

    fn held(&self) -> Option<RawBsonRef<'_>> {
        Some(RawBsonRef::Array(&self.0))
    }

    fn bytes(&self) -> usize {
        self.0.as_bytes().len()
    }
}
