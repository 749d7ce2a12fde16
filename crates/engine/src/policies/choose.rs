//! Documents to write to, chosen by arrays that are shown whole: their pages count for
//! the filter and for the order.

use super::read::{Place, Shown};
use crate::plan::{self, Query, SORT_BYTES_MAX, Sort};
use crate::storage::RecordId;
use bson::RawDocumentBuf;
use error::{Code, Result};
use guard::Guarded;
use guard::policy::Overflow;
use guard::read::Shape;
use language::query::Filter;
use language::sort::Pattern;
use language::{Needs, interrupt};
use std::sync::Arc;
use value::Path;
use value::key::Key;

/// Arrays that a query looks at and that are shown whole.
pub struct Merged {
    shape: Shape,
    needs: Needs,
    rules: Vec<Arc<Overflow>>,
}

impl Merged {
    /// `None` if documents can be told by their heads.
    pub fn of(guarded: &Guarded, query: &Query) -> Result<Option<Merged>> {
        let Guarded::Policy(policy) = guarded else { return Ok(None) };
        if !policy.merges() {
            return Ok(None);
        }
        let mut needs = Needs::none();
        query.filter.needs(&mut needs);
        query.sort.needs(&mut needs);
        let shape = Shape::new(policy, None)?.filter(|shape| shape.merges(&needs));
        Ok(shape.map(|mut shape| {
            shape.restrict(&needs);
            Merged { shape, needs, rules: policy.merged().cloned().collect() }
        }))
    }

    /// What the planner is asked for: the rest of the filter, and no order by whole arrays.
    pub fn below(&self, mut query: Query) -> Query {
        let hidden: Vec<&Path> = self.rules.iter().map(|rule| &rule.path).collect();
        query.filter = Arc::new(query.filter.relaxed(&hidden));
        if query.sort.pattern().is_some() {
            query.sort = Sort::None;
        }
        query
    }

    /// Documents are looked for by the rest of the filter, and then by all of it.
    pub fn open(self, query: Query, place: Place) -> Result<Chosen> {
        let (filter, order) = (query.filter.clone(), query.sort.pattern());
        let mut query = self.below(query);
        let Merged { shape, needs, .. } = self;
        query.needs = shape.needs(needs);
        let (view, interrupt) = (place.view.clone(), place.interrupt.clone());
        let rows = plan::open(&place.collection, query, view, interrupt)?;
        let shown = Shown::seen(rows, shape, place);
        Ok(Chosen { shown, filter, order, sorted: None })
    }
}

impl Merged {
    /// The documents that match, with all of their fields, as they come.
    pub fn documents(
        mut self,
        query: Query,
        place: Place,
    ) -> Result<impl Iterator<Item = Result<RawDocumentBuf>>> {
        self.needs.all();
        let mut chosen = self.open(query, place)?;
        let next = move || chosen.next_matching().transpose();
        Ok(std::iter::from_fn(next).map(|found| found.map(|(_, document)| document)))
    }
}

/// The records that match, in order.
pub struct Chosen {
    pub shown: Shown,
    filter: Arc<Filter>,
    /// `None`: as they come.
    order: Option<Pattern>,
    sorted: Option<std::vec::IntoIter<(Vec<u8>, RecordId)>>,
}

impl Chosen {
    fn next_matching(&mut self) -> Result<Option<(RecordId, RawDocumentBuf)>> {
        while let Some((record, document)) = self.shown.next_record()? {
            if self.filter.matches(&document)? {
                return Ok(Some((record, document)));
            }
        }
        Ok(None)
    }

    /// All of them by their keys; those with equal keys as they come.
    fn sort(&mut self, order: &Pattern) -> Result<Vec<(Vec<u8>, RecordId)>> {
        let mut all = Vec::new();
        let mut bytes = 0;
        let collator = self.filter.collator().cloned();
        while let Some((record, document)) = self.next_matching()? {
            let mut key = Key::default();
            order.key(&document, collator.as_deref(), &mut key)?;
            let key = key.bytes;
            bytes += (key.len() + size_of::<(Vec<u8>, RecordId)>()) as u64;
            if bytes > SORT_BYTES_MAX {
                return Err(Code::QueryExceededMemoryLimitNoDiskUseAllowed.error(format!(
                    "Sort exceeded memory limit of {SORT_BYTES_MAX} bytes, but did not opt in to \
                     external sorting."
                )));
            }
            all.push((key, record));
        }
        interrupt::sort(all, |(a, _), (b, _)| a.cmp(b))
    }

    pub fn next_record(&mut self) -> Result<Option<RecordId>> {
        if self.sorted.is_none()
            && let Some(order) = self.order.take()
        {
            self.sorted = Some(self.sort(&order)?.into_iter());
        }
        match &mut self.sorted {
            Some(sorted) => Ok(sorted.next().map(|(_, record)| record)),
            None => Ok(self.next_matching()?.map(|(record, _)| record)),
        }
    }
}
