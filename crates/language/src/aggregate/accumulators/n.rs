//! `$firstN`, `$lastN`, `$minN`, `$maxN`: up to n values of a group.

use super::sliding::{End, Ends, Ordered, Pick};
use super::{Accumulation, Accumulator, check_bytes, size_of_value};
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use crate::{Context, Needs};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use value::Collator;
use value::element::elements;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Last,
    Least,
    Greatest,
}

struct Several {
    name: &'static str,
    which: Which,
    n: usize,
    collator: Option<Arc<Collator>>,
    values: VecDeque<RawBson>,
    bytes: usize,
}

pub fn parse(name: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let RawBsonRef::Document(document) = value else {
        let code = if name.starts_with("$m") { 5787900 } else { 5787801 };
        return Err(Code::location(code).error(format!(
            "specification must be an object; found {name}: {}",
            describe::value(value)
        )));
    };
    let (mut n, mut input) = (None, None);
    for element in elements(document) {
        match element.key {
            "n" => n = Some(element.value()),
            "input" => input = Some(element.value()),
            key => {
                return Err(Code::location(5787901)
                    .error(format!("Unknown argument for '{name}' operator: {key}")));
            }
        }
    }
    let Some(n) = n else {
        return Err(Code::location(5787906).error("Missing value for 'n'"));
    };
    let Some(input) = input else {
        return Err(Code::location(5787907).error("Missing value for 'input'"));
    };
    let which = match name {
        "$firstN" => Which::First,
        "$lastN" => Which::Last,
        "$minN" => Which::Least,
        _ => Which::Greatest,
    };
    let n = Expression::parse(n, context)?;
    let collator = context.collator.clone();
    let slide_collator = context.collator.clone();
    Ok(Accumulation {
        argument: Expression::parse(input, context)?,
        initializer: Some(n),
        start: Box::new(move |n| {
            Ok(Box::new(Several {
                name,
                which,
                n: check_n(n)?,
                collator: collator.clone(),
                values: VecDeque::new(),
                bytes: 0,
            }))
        }),
        slide: Some(Box::new(move |n| {
            let n = Some(check_n(n)?);
            let ordered = |pick| Ordered::new(pick, n, slide_collator.clone());
            Ok(match which {
                Which::First => Box::new(Ends::new(End::First, n)),
                Which::Last => Box::new(Ends::new(End::Last, n)),
                Which::Least => Box::new(ordered(Pick::Least)),
                Which::Greatest => Box::new(ordered(Pick::GreatestFirst)),
            })
        })),
        reads: Needs::none(),
    })
}

/// `n`, which must be a positive integer.
pub fn check_n(value: Option<RawBsonRef<'_>>) -> Result<usize> {
    if !coerce::is_numeric(value) {
        return Err(Code::location(5787902).error(format!(
            "Value for 'n' must be of integral type, but found {}",
            value.map_or_else(|| "missing".to_owned(), describe::value)
        )));
    }
    let Some(n) = coerce::integral64(value) else {
        return Err(Code::location(5787903).error("Value for 'n' must be of integral type"));
    };
    match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(Code::location(5787908).error(format!("'n' must be greater than 0, found {n}"))),
    }
}

impl Several {
    fn keep(&mut self, value: RawBson) {
        self.bytes += size_of_value(value.as_raw_bson_ref());
        self.values.push_back(value);
    }

    /// Puts a value in its place among the n best; the best first.
    fn rank(&mut self, value: RawBsonRef<'_>) {
        let wanted = if self.which == Which::Least { Ordering::Less } else { Ordering::Greater };
        let at = self.values.partition_point(|other| {
            let order = value::order::compare_with(
                other.as_raw_bson_ref(),
                value,
                self.collator.as_deref(),
            );
            order == wanted || order.is_eq()
        });
        if at >= self.n {
            return;
        }
        self.bytes += size_of_value(value);
        self.values.insert(at, value.into());
        if self.values.len() > self.n
            && let Some(dropped) = self.values.pop_back()
        {
            self.bytes -= size_of_value(dropped.as_raw_bson_ref());
        }
    }
}

impl Accumulator for Several {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, _: &RawDocument) -> Result<()> {
        match self.which {
            Which::First => {
                if self.values.len() < self.n {
                    self.keep(value.map_or(RawBson::Null, RawBson::from));
                }
            }
            Which::Last => {
                if self.values.len() == self.n
                    && let Some(dropped) = self.values.pop_front()
                {
                    self.bytes -= size_of_value(dropped.as_raw_bson_ref());
                }
                self.keep(value.map_or(RawBson::Null, RawBson::from));
            }
            Which::Least | Which::Greatest => {
                if let Some(value) = value.filter(|value| !coerce::is_nullish(Some(*value))) {
                    self.rank(value);
                }
            }
        }
        check_bytes(self.name, self.bytes)
    }

    fn value(&self) -> Result<Option<RawBson>> {
        let mut out = RawArrayBuf::new();
        self.values.iter().for_each(|value| out.push(value.as_raw_bson_ref()));
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
