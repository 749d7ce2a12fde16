//! `$sort`: keeps only the top where a limit follows; spills to temporary files
//! where the documents do not fit in memory.

use super::sorter::Sorter;
use super::{Documents, Foreign, Specification, Stage, one};
use crate::Needs;
use crate::aggregate::limits::SORT_MEMORY_BYTES_MAX;
use crate::metadata::{self, Asked, Metadatum};
use crate::sort::Pattern;
use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
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
    /// The metadata that the pipeline asks for, a sort key perhaps.
    asked: Arc<Asked>,
    pub(super) memory_bytes_max: usize,
}

pub fn parse(stage: Specification<'_>) -> Result<Vec<Box<dyn Stage>>> {
    let RawBsonRef::Document(pattern) = stage.value else {
        return Err(Code::location(15973).error("the $sort key specification must be an object"));
    };
    let mut sort = Sort::new(Pattern::parse(pattern)?, stage.context.collator.clone());
    sort.asked = stage.context.asked.clone();
    one(sort)
}

impl Sort {
    pub fn new(pattern: Pattern, collator: Option<Arc<Collator>>) -> Sort {
        let asked = Arc::default();
        Sort { pattern, limit: None, collator, asked, memory_bytes_max: SORT_MEMORY_BYTES_MAX }
    }

    /// The document with the key that it was sorted by, in place of any other.
    fn keyed(&self, document: &RawDocument) -> RawDocumentBuf {
        let key = self.pattern.values(document, self.collator.as_deref());
        let others = metadata::without(document, Metadatum::SortKey);
        metadata::attach(&others, [(Metadatum::SortKey, RawBsonRef::Array(&key))])
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
        let sorted = self.sort(input, foreign)?;
        match self.asked.wanted().has(Metadatum::SortKey) {
            true => Ok(Box::new(sorted.map(move |document| Ok(self.keyed(&document?))))),
            false => Ok(sorted),
        }
    }

    fn needs(&self, needs: &mut Needs) -> ControlFlow<()> {
        self.pattern.needs(needs);
        ControlFlow::Continue(())
    }

    fn changes(&self) -> Option<Vec<Path>> {
        Some(Vec::new())
    }
}
