//! `$top`, `$topN`, `$bottom`, `$bottomN`: the first or last by an order.

use super::n::check_n;
use super::sliding::{Ordered, Pick};
use super::{Accumulation, Accumulator, check_bytes, size_of_value};
use crate::aggregate::expressions::{Expression, coerce};
use crate::describe;
use crate::sort::Pattern;
use crate::{Context, Needs};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use value::Collator;
use value::element::elements;
use value::key::Key;

struct Ranked {
    name: &'static str,
    pattern: Arc<Pattern>,
    collator: Option<Arc<Collator>>,
    /// Whether the last by the order are kept.
    bottom: bool,
    /// `None`: one value and no array.
    n: Option<usize>,
    kept: BTreeMap<(Vec<u8>, u64), RawBson>,
    seen: u64,
    bytes: usize,
}

pub fn parse(name: &'static str, value: RawBsonRef<'_>, context: &Context) -> Result<Accumulation> {
    let RawBsonRef::Document(document) = value else {
        return Err(Code::location(5788001).error(format!(
            "specification must be an object; found {name}: {}",
            describe::value(value)
        )));
    };
    let several = name.ends_with('N');
    let (mut n, mut output, mut sort) = (None, None, None);
    for element in elements(document) {
        match element.key {
            "n" if several => n = Some(element.value()),
            "output" => output = Some(element.value()),
            "sortBy" => sort = Some(element.value()),
            key => {
                return Err(
                    Code::location(5788002).error(format!("Unknown argument to {name} '{key}'"))
                );
            }
        }
    }
    if several && n.is_none() {
        return Err(Code::location(5788003).error("Missing value for 'n'"));
    }
    let Some(output) = output else {
        return Err(Code::location(5788004).error("Missing value for 'output'"));
    };
    let sort = match sort {
        Some(RawBsonRef::Document(sort)) => sort,
        Some(other) => {
            return Err(Code::location(10065).error(format!(
                "invalid parameter: expected an object (sortBy), found {}",
                coerce::type_name(Some(other))
            )));
        }
        None => return Err(Code::location(5788005).error("Missing value for 'sortBy'")),
    };
    let pattern = Arc::new(Pattern::parse(sort)?);
    let mut reads = Needs::none();
    pattern.needs(&mut reads);
    let n = n.map(|n| Expression::parse(n, context)).transpose()?;
    let bottom = name.starts_with("$bottom");
    let collator = context.collator.clone();
    let (slide_pattern, slide_collator) = (pattern.clone(), context.collator.clone());
    Ok(Accumulation {
        argument: Expression::parse(output, context)?,
        initializer: n,
        start: Box::new(move |n| {
            Ok(Box::new(Ranked {
                name,
                pattern: pattern.clone(),
                collator: collator.clone(),
                bottom,
                n: if several { Some(check_n(n)?) } else { None },
                kept: BTreeMap::new(),
                seen: 0,
                bytes: 0,
            }))
        }),
        slide: Some(Box::new(move |n| {
            let n = if several { Some(check_n(n)?) } else { None };
            let pick = if bottom { Pick::Greatest } else { Pick::Least };
            let ordered = Ordered::new(pick, n, slide_collator.clone());
            Ok(Box::new(ordered.by(slide_pattern.clone())))
        })),
        reads,
    })
}

impl Accumulator for Ranked {
    fn add(&mut self, value: Option<RawBsonRef<'_>>, root: &RawDocument) -> Result<()> {
        let mut key = Key::default();
        self.pattern.key(root, self.collator.as_deref(), &mut key)?;
        self.seen += 1;
        // Of equals the first that was seen stays.
        if self.kept.len() >= self.n.unwrap_or(1) {
            let worst = if self.bottom { self.kept.first_entry() } else { self.kept.last_entry() };
            if let Some(worst) = worst {
                let better = key.bytes.cmp(&worst.key().0);
                let wanted = if self.bottom { Ordering::Greater } else { Ordering::Less };
                if better != wanted {
                    return Ok(());
                }
                let ((key, _), value) = worst.remove_entry();
                self.bytes -= size_of_value(value.as_raw_bson_ref()) + key.len();
            }
        }
        let value = value.map_or(RawBson::Null, RawBson::from);
        self.bytes += size_of_value(value.as_raw_bson_ref()) + key.bytes.len();
        self.kept.insert((key.bytes, self.seen), value);
        check_bytes(self.name, self.bytes)
    }

    fn value(&self) -> Result<Option<RawBson>> {
        if self.n.is_none() {
            return Ok(Some(self.kept.values().next().cloned().unwrap_or(RawBson::Null)));
        }
        let mut out = RawArrayBuf::new();
        self.kept.values().for_each(|value| out.push(value.as_raw_bson_ref()));
        Ok(Some(RawBson::Array(out)))
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
