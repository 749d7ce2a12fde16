//! `$rank`, `$denseRank`, `$documentNumber`: places in the order.

use super::{Function, Partition, Specification};
use crate::Needs;
use crate::aggregate::expressions::coerce::int_or_long;
use bson::{RawBson, RawBsonRef};
use error::{Code, Result};
use value::key::Key;

#[derive(Debug)]
struct Rank(&'static str);

pub fn parse(function: Specification<'_>) -> Result<Box<dyn Function>> {
    let name = function.name;
    if function.window.is_some() {
        return Err(other_arguments());
    }
    let empty = matches!(function.operand, RawBsonRef::Document(document) if document.is_empty());
    if !empty {
        return Err(Code::location(5371603)
            .error(format!("{name} must be specified with '{{}}' as the value")));
    }
    if function.sort.is_none_or(|sort| sort.fields().len() != 1) {
        return Err(Code::location(5371602).error(format!(
            "{name} must be specified with a top level sortBy expression with exactly one element"
        )));
    }
    Ok(Box::new(Rank(name)))
}

pub fn other_arguments() -> error::Error {
    Code::location(5371601).error("Rank style window functions take no other arguments")
}

impl Function for Rank {
    fn values(&self, partition: &Partition<'_>) -> Result<Vec<Option<RawBson>>> {
        let mut before: Option<Vec<u8>> = None;
        let (mut rank, mut dense) = (0, 0);
        let mut values = Vec::with_capacity(partition.documents.len());
        for (number, document) in (1..).zip(partition.documents) {
            let mut key = Key::default();
            if let Some(sort) = partition.sort {
                sort.key(document, partition.collator, &mut key)?;
            }
            if before.as_ref() != Some(&key.bytes) {
                rank = number;
                dense += 1;
                before = Some(key.bytes);
            }
            let place = match self.0 {
                "$rank" => rank,
                "$denseRank" => dense,
                _ => number,
            };
            values.push(Some(int_or_long(place)));
        }
        Ok(values)
    }

    fn needs(&self, _: &mut Needs) {}
}
