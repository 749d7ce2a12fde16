//! `$sort`: keeps only the top where a limit follows; spills to temporary files
//! where the documents do not fit in memory.

use super::sorter::Sorter;
use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::limits::SORT_MEMORY_BYTES_MAX;
use crate::sort::Pattern;
use bson::RawBsonRef;
use error::{Code, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use value::key::Key;
use value::{Collator, Path};

#[derive(Debug)]
pub struct Sort {
    pub pattern: Pattern,
    /// How many of the sorted documents are used.
    pub limit: Option<u64>,
    collator: Option<Arc<Collator>>,
    pub(super) memory_bytes_max: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(pattern) = stage.value else {
        return Err(Code::location(15973).error("the $sort key specification must be an object"));
    };
    one(Sort::new(Pattern::parse(pattern)?, stage.context.collator.clone()))
}

impl Sort {
    pub fn new(pattern: Pattern, collator: Option<Arc<Collator>>) -> Sort {
        Sort { pattern, limit: None, collator, memory_bytes_max: SORT_MEMORY_BYTES_MAX }
    }

    fn sort(&self, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        let sorter = Sorter::new("Sort", self.memory_bytes_max, foreign.clone());
        let mut sorter = sorter.limited(limit);
        for document in input {
            let document = document?;
            let mut key = Key::default();
            self.pattern.key(&document, self.collator.as_deref(), &mut key)?;
            sorter.push(key.bytes, document)?;
        }
        Ok(Box::new(sorter.finish()?.map(|item| Ok(item?.document))))
    }
}

impl Stage for Sort {
    fn name(&self) -> &'static str {
        "$sort"
    }

    fn run(self: Arc<Self>, input: Documents, foreign: &Arc<dyn Foreign>) -> Result<Documents> {
        self.sort(input, foreign)
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.pattern.needs(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(Vec::new())
    }
}
