//! `$min` and `$max`: the least and the greatest value; null does not count.

use super::sliding::{Ordered, Pick};
use super::{Accumulation, Accumulator, size_of_value};
use crate::Context;
use crate::aggregate::expressions::coerce;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::Result;
use std::cmp::Ordering;
use std::sync::Arc;
use value::Collator;

pub struct Extreme {
    wanted: Ordering,
    collator: Option<Arc<Collator>>,
    value: Option<RawBson>,
}

pub fn parse(name: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let wanted = if name == "$min" { Ordering::Less } else { Ordering::Greater };
    let mut accumulation = Accumulation::unary(value, context, super::count::Count::default)?;
    let collator = context.collator.clone();
    accumulation.start = Box::new(move |_| Ok(Box::new(Extreme::new(wanted, collator.clone()))));
    let pick = if name == "$min" { Pick::Least } else { Pick::Greatest };
    let collator = context.collator.clone();
    Ok(accumulation.sliding(move || Ordered::new(pick, None, collator.clone())))
}

impl Extreme {
    pub fn new(wanted: Ordering, collator: Option<Arc<Collator>>) -> Extreme {
        Extreme { wanted, collator, value: None }
    }
}

impl Accumulator for Extreme {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        let Some(value) = value.filter(|value| !coerce::is_nullish(Some(*value))) else {
            return Ok(());
        };
        let better = self.value.as_ref().is_none_or(|best| {
            let best = best.as_raw_bson_ref();
            value::order::compare_with(value, best, self.collator.as_deref()) == self.wanted
        });
        if better {
            self.value = Some(value.into());
        }
        Ok(())
    }

    fn value(&self) -> Result<Option<RawBson>> {
        Ok(Some(self.value.clone().unwrap_or(RawBson::Null)))
    }

    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, |value| size_of_value(value.as_raw_bson_ref()))
    }
}
