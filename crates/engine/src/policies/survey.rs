//! A collection's documents looked through, as of one view, for what they lack
//! under a policy. Writers are not disturbed.

use super::pages;
use crate::catalog::{Catalog, Collection};
use crate::plan::{self, Interrupt, Query, Sort};
use crate::storage::{Document, Record, View};
use bson::{RawBsonRef, RawDocument, rawdoc};
use error::Result;
use guard::Policy;
use guard::adopt::{Need, PageSize, looked_at};
use guard::patterns::overflow::page_filter;
use guard::patterns::place;
use guard::policy::{OnLimit, Overflow};
use language::Needs;
use std::ops::ControlFlow;
use std::sync::Arc;
use value::Number;
use value::element::get_value;

/// Documents between two looks at whether to stop.
const DOCUMENTS_PER_CHECK: u64 = 128;

pub struct Survey<'a> {
    pub policy: &'a Policy,
    pub catalog: Arc<Catalog>,
    /// `None` if it is not there; its pages may be.
    pub collection: Option<Arc<Collection>>,
    pub view: View,
    pub interrupt: Interrupt,
    /// Whether it is to be known what settling costs, or only who is over.
    pub costs: bool,
}

impl Survey<'_> {
    /// Visits the documents behind this `_id`, in the order of `_id`s, and says whether it came
    /// to the end.
    pub fn each(
        &self,
        after: Option<RawBsonRef<'_>>,
        visit: &mut dyn FnMut(&RawDocument, Need) -> ControlFlow<()>,
    ) -> Result<bool> {
        let Some(collection) = &self.collection else { return Ok(true) };
        let records = collection.records_after(after, &self.view);
        for (seen, record) in (0_u64..).zip(records) {
            if seen.is_multiple_of(DOCUMENTS_PER_CHECK) {
                self.interrupt.check()?;
            }
            let (document, need) = self.need(&record?)?;
            if visit(&document, need).is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn need(&self, record: &Record) -> Result<(Document, Need)> {
        let (needs, surely_over) = self.looked_at(record);
        let document = record.load(&self.view, &needs)?;
        let pages = &mut |rule: &Overflow, parent: RawBsonRef<'_>| self.page_sizes(rule, parent);
        let mut need = Need::of(self.policy, &document, record.size(), pages)?;
        need.bounds |= surely_over;
        // Where they can be trusted, a value that is not loaded is not missed.
        need.counters &= !self.policy.is_counted();
        Ok((document, need))
    }

    /// Which values must be loaded, and whether the weight of some array tells
    /// already that it is over its bounds.
    fn looked_at(&self, record: &Record) -> (Needs, bool) {
        let all = looked_at(self.policy);
        if record.next_large().is_none() || matches!(all, Needs::All) {
            return (all, false);
        }
        let (mut paths, mut surely_over) = (Vec::new(), false);
        for rule in &self.policy.arrays {
            let Some(large) = record.large_at(&self.view, &rule.path) else { continue };
            let holds = match (large.at_path, large.items) {
                (true, Some(items)) => Some(rule.bounds.hold(items as usize, large.bytes)),
                (true, None) => rule.bounds.hold_bytes(large.bytes),
                (false, _) => None,
            };
            let counted = match &rule.on_limit {
                OnLimit::Overflow(overflow) => {
                    let says = |path: &&value::Path| place::find(record.stored(), path).is_some();
                    overflow.counted || !overflow.counters().iter().any(says)
                }
                _ => true,
            };
            match holds {
                Some(true) if counted => {}
                Some(false) if counted && !self.costs => surely_over = true,
                _ => paths.push(rule.path.clone()),
            }
        }
        (Needs::Paths(paths), surely_over)
    }

    /// The pages of a document's array, without what they hold.
    fn page_sizes(&self, rule: &Overflow, parent: RawBsonRef<'_>) -> Result<Vec<PageSize>> {
        let mut sizes = Vec::new();
        self.each_page(rule, parent, &Needs::none(), &mut |page, bytes| {
            let count = get_value(page, "count").and_then(Number::from_value);
            let count = count.map_or(0, |count| count.to_i64_saturated().max(0) as usize);
            sizes.push(PageSize { count, bytes });
        })?;
        Ok(sizes)
    }

    /// Visits the pages of a document's array in order, with what each weighs.
    pub fn each_page(
        &self,
        rule: &Overflow,
        parent: RawBsonRef<'_>,
        needs: &Needs,
        visit: &mut dyn FnMut(&RawDocument, usize),
    ) -> Result<()> {
        let Some(collection) = self.catalog.get(&rule.into) else { return Ok(()) };
        let mut query = Query::new(page_filter(rule, parent, None)?);
        query.needs = Needs::none();
        query.sort = Sort::parse(&rawdoc! { "page": 1 })?;
        let rows = plan::open(collection, query, self.view.clone(), self.interrupt.clone())?;
        for row in rows {
            if let Some(record) = self.view.record(collection.id, row?.record)? {
                visit(&record.load(&self.view, needs)?, record.size());
            }
        }
        Ok(())
    }

    /// What is missing beside the data: indexes of pages, views.
    pub fn missing(&self) -> Vec<guard::verify::Drift> {
        pages::missing(self.policy, &self.catalog)
    }
}
