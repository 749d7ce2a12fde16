//! From pages to the documents they belong to, each once.

use super::seen::SeenRecords;
use super::{Member, Operator, Running, Shared, Stats, Work, open};
use crate::plan::{Parents, Stage};
use crate::storage::{CollectionId, Entry};
use error::Result;
use std::sync::Arc;
use value::element::get_value;
use value::key::{Direction, Key, skip};

pub struct ParentsOperation {
    plan: Arc<Parents>,
    pages: Running,
    /// What the stages of the pages can reach, once the first is asked for.
    reach: Option<Shared>,
    seen: SeenRecords,
}

impl ParentsOperation {
    pub fn new(plan: Arc<Parents>) -> ParentsOperation {
        let pages = open::stage(&plan.pages.root);
        ParentsOperation { plan, pages, reach: None, seen: SeenRecords::new() }
    }

    /// One unit of work of the pages' plan, in their own collection.
    fn page(&mut self, shared: &Shared) -> Result<Work> {
        let plan = &self.plan.pages;
        let reach = self.reach.get_or_insert_with(|| Shared {
            view: shared.view.clone(),
            collection: plan.collection.as_ref().map_or(CollectionId(0), |of| of.id),
            query: Arc::clone(&plan.query),
            interrupt: shared.interrupt.clone(),
            needs: plan.query.needs.clone(),
            timed: shared.timed,
        });
        self.pages.work(reach)
    }
}

impl ParentsOperation {
    /// What the index of `_id`s has of a page's document.
    fn parent(&self, shared: &Shared, page: &Member) -> Result<Option<Entry>> {
        let Parents { rule, index, covered, .. } = &*self.plan;
        if *covered {
            let key = page.entry.as_ref().and_then(|entry| self.last_of(entry.key()));
            return key.map_or(Ok(None), |key| shared.view.unique(index.id, key));
        }
        let document = page.document.as_deref();
        let Some(id) = document.and_then(|page| get_value(page, &rule.parent_key)) else {
            return Ok(None);
        };
        let mut key = Key::default();
        key.push(id, Direction::Ascending, index.collator.as_ref());
        shared.view.unique(index.id, &key.bytes)
    }

    /// The last value of a key that found a page: the parent, as keys of `_id`s have it.
    fn last_of<'k>(&self, mut key: &'k [u8]) -> Option<&'k [u8]> {
        let Stage::IndexScan(scan) = &self.plan.pages.root else { return None };
        let (_, before) = scan.index.fields.split_last()?;
        for field in before {
            key = key.get(skip(key, field.direction())?..)?;
        }
        Some(key)
    }
}

impl Operator for ParentsOperation {
    fn work(&mut self, shared: &Shared, stats: &mut Stats) -> Result<Work> {
        let page = match self.page(shared)? {
            Work::Advanced(page) => page,
            other => return Ok(other),
        };
        // A page without a parent is drift, and nobody's.
        let Some(parent) = self.parent(shared, &page)? else { return Ok(Work::Pending) };
        stats.keys_examined += 1;
        stats.repeats_tested += 1;
        if !self.seen.insert(parent.record)? {
            stats.repeats_dropped += 1;
            return Ok(Work::Pending);
        }
        Ok(Work::Advanced(Member { record: parent.record, entry: page.entry, document: None }))
    }

    fn inputs(&self) -> Vec<&Running> {
        vec![&self.pages]
    }
}
