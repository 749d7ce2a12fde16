//! The `$sort` of `$push`.

use crate::interrupt;
use bson::RawBsonRef;
use error::{Code, Result};
use std::cmp::Ordering;
use std::sync::Arc;
use value::number::Number;
use value::order::compare_with;
use value::{Collator, Element, Path};

/// How the elements of the array are ordered.
#[derive(Debug)]
pub struct Sort {
    /// Empty: by the whole element.
    fields: Vec<(Path, bool)>,
    descending: bool,
    collator: Option<Arc<Collator>>,
}

impl Sort {
    pub fn parse(clause: Element<'_>, collator: Option<Arc<Collator>>) -> Result<Sort> {
        match clause.value() {
            RawBsonRef::Document(_) => {
                let fields = clause.children().map(parse_field).collect::<Result<Vec<_>>>()?;
                if fields.is_empty() {
                    return Err(Code::BadValue
                        .error("The $sort pattern is empty when it should be a set of fields."));
                }
                Ok(Sort { fields, descending: false, collator })
            }
            value if Number::from_value(value).is_some() => {
                Ok(Sort { fields: Vec::new(), descending: is_descending(value)?, collator })
            }
            _ => Err(Code::BadValue.error(
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to \
                 sort embedded fields",
            )),
        }
    }

    /// Sorts, leaving equal elements in their order.
    pub fn sort(&self, items: &mut Vec<Element<'_>>) -> Result<()> {
        if self.fields.is_empty() {
            let collator = self.collator.as_deref();
            *items = interrupt::sort(std::mem::take(items), |a, b| {
                let order = compare_with(a.value(), b.value(), collator);
                if self.descending { order.reverse() } else { order }
            })?;
            return Ok(());
        }
        let keyed = items.iter().map(|item| (self.key(*item), *item)).collect();
        let sorted = interrupt::sort(keyed, |(a, _), (b, _)| self.compare(a, b))?;
        *items = sorted.into_iter().map(|(_, item)| item).collect();
        Ok(())
    }

    /// What an element takes while it is sorted, beside itself.
    pub fn key_bytes(&self) -> usize {
        match self.fields.len() {
            0 => 0,
            fields => size_of::<Vec<RawBsonRef<'_>>>() + fields * size_of::<RawBsonRef<'_>>(),
        }
    }

    fn key<'a>(&self, item: Element<'a>) -> Vec<RawBsonRef<'a>> {
        let is_document = matches!(item.value(), RawBsonRef::Document(_));
        let field = |path: &Path| {
            let mut found = Some(item).filter(|_| is_document);
            for component in path.components() {
                found = found.and_then(|element| element.children().find_key(component));
            }
            found.map_or(RawBsonRef::Null, |element| element.value())
        };
        self.fields.iter().map(|(path, _)| field(path)).collect()
    }

    fn compare(&self, a: &[RawBsonRef<'_>], b: &[RawBsonRef<'_>]) -> Ordering {
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            let descending = self.fields.get(at).is_some_and(|(_, down)| *down);
            let order = compare_with(*a, *b, self.collator.as_deref());
            if order != Ordering::Equal {
                return if descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}

fn parse_field(field: Element<'_>) -> Result<(Path, bool)> {
    let descending = is_descending(field.value())?;
    if field.key.is_empty() {
        return Err(Code::BadValue.error("The $sort field cannot be empty"));
    }
    if field.key.split('.').any(str::is_empty) {
        return Err(Code::BadValue.error(format!(
            "The $sort field is a dotted field but has an empty part: {}",
            field.key
        )));
    }
    Ok((Path::new(field.key), descending))
}

fn is_descending(value: RawBsonRef<'_>) -> Result<bool> {
    match super::super::operator::integer(value) {
        Some(1) => Ok(false),
        Some(-1) => Ok(true),
        _ => Err(Code::BadValue.error("The $sort element value must be either 1 or -1")),
    }
}
