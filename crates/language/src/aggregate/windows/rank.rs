//! `$rank`, `$denseRank`, `$documentNumber`: places in the order.

use super::{Function, Run, Specification};
use crate::Needs;
use crate::aggregate::expressions::coerce::int_or_long;
use crate::sort::Pattern;
use bson::{RawBson, RawBsonRef, RawDocument};
use error::{Code, Result};
use std::sync::Arc;
use value::Collator;
use value::key::Key;

#[derive(Debug)]
struct Rank {
    name: &'static str,
    sort: Pattern,
    collator: Option<Arc<Collator>>,
}

pub fn parse(function: Specification<'_>) -> Result<Arc<dyn Function>> {
    let name = function.name;
    if function.window.is_some() {
        return Err(other_arguments());
    }
    let empty = matches!(function.operand, RawBsonRef::Document(document) if document.is_empty());
    if !empty {
        return Err(Code::location(5371603)
            .error(format!("{name} must be specified with '{{}}' as the value")));
    }
    let Some(sort) = function.sort.filter(|sort| sort.fields().len() == 1) else {
        return Err(Code::location(5371602).error(format!(
            "{name} must be specified with a top level sortBy expression with exactly one element"
        )));
    };
    let collator = function.context.collator.clone();
    Ok(Arc::new(Rank { name, sort: sort.clone(), collator }))
}

pub fn other_arguments() -> error::Error {
    Code::location(5371601).error("Rank style window functions take no other arguments")
}

impl Function for Rank {
    fn start(self: Arc<Self>) -> Result<Box<dyn Run>> {
        Ok(Box::new(Ranking {
            function: self,
            before: None,
            number: 0,
            rank: 0,
            dense: 0,
            value: RawBson::Null,
        }))
    }

    fn needs(&self, _: &mut Needs) {}
}

struct Ranking {
    function: Arc<Rank>,
    /// The key of the document before.
    before: Option<Vec<u8>>,
    number: i64,
    rank: i64,
    dense: i64,
    value: RawBson,
}

impl Run for Ranking {
    fn take(&mut self, document: &RawDocument) -> Result<()> {
        let mut key = Key::default();
        self.function.sort.key(document, self.function.collator.as_deref(), &mut key)?;
        self.number += 1;
        if self.before.as_ref() != Some(&key.bytes) {
            self.rank = self.number;
            self.dense += 1;
            self.before = Some(key.bytes);
        }
        self.value = int_or_long(match self.function.name {
            "$rank" => self.rank,
            "$denseRank" => self.dense,
            _ => self.number,
        });
        Ok(())
    }

    fn advance(&mut self, _: bool) -> Result<bool> {
        Ok(true)
    }

    fn value(&self) -> Option<RawBsonRef<'_>> {
        Some(self.value.as_raw_bson_ref())
    }
}
