//! Arrays of a query's documents that are kept in part in pages. A plan completes documents on
//! their way up (`Stage::Complete`): as late as what looks at whole arrays allows.

use super::Query;
use crate::catalog::{Catalog, Collection};
use error::{Code, Result};
use guard::policy::Overflow;
use guard::read::{Completion, ReadPlan, SEEN_BYTES_MAX, Show};
use language::Needs;
use std::sync::Arc;
use value::{Path, elements};
use write::limits::DOCUMENT_BYTES_MAX;

/// What completes the documents of a query.
#[derive(Debug, Clone)]
pub struct Paged {
    pub arrays: Vec<PagedArray>,
    /// The arrays whose pages count for the filter; empty if the heads decide what matches.
    pub filtered: Vec<Path>,
    /// Whether documents are completed before they are sorted.
    pub sorted: bool,
    /// What a completed document may weigh where it is shown. A filter may see more.
    pub shown_bytes_max: usize,
    /// What is loaded of a document before it is completed.
    pub(super) needs: Needs,
}

/// One array, and where its pages are.
#[derive(Debug, Clone)]
pub struct PagedArray {
    pub rule: Arc<Overflow>,
    /// What a filter sees of it,
    pub seen: Show,
    /// and what is shown of it.
    pub show: Show,
    /// Whether it is looked at once a document has matched: by the sort, the projection or the
    /// caller.
    pub shown: bool,
    /// `None` if the collection of pages is gone.
    pub pages: Option<Arc<Collection>>,
}

/// Who looks at the completed documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A client, who gets them as they are, or projected.
    Client,
    /// The stages of a pipeline.
    Stages,
    /// Only the query itself, to find records: a write reads each again.
    Matching,
}

/// As much of an array as is looked at.
fn part(needs: &Needs, array: &Path) -> Show {
    needs.extent(array).map_or(Show::Whole, Show::Part)
}

impl Query {
    /// Has documents completed as a read plan says. To be called once everything else is set.
    pub fn read_by(&mut self, plan: ReadPlan, catalog: &Catalog, audience: Audience) -> Result<()> {
        let ReadPlan::Completed(mut completion) = plan else { return Ok(()) };
        let mut filter = Needs::none();
        self.filter.depends_on(&mut filter);
        let mut sort = Needs::none();
        self.sort.needs(&mut sort);
        let filtered = completion.reaches(&filter);
        let sorted = completion.reaches(&sort);
        self.check_keys(&completion, filtered || sorted)?;
        let mut needs = match audience {
            Audience::Matching => Needs::none(),
            // A key is shown as the index has it.
            _ if self.return_key => Needs::none(),
            _ => self.shown(),
        };
        if sorted {
            needs.merge(&sort);
        }
        let matched = needs.clone();
        let mut seen = Needs::none();
        if filtered {
            self.filter.needs(&mut seen);
            needs.merge(&seen);
        }
        let merged: Vec<Path> = completion.merged().cloned().collect();
        completion.restrict(&needs);
        if completion.arrays.is_empty() && !filtered {
            return Ok(());
        }
        let shown_whole = audience == Audience::Client && self.projection.is_none();
        let shown_bytes_max = if shown_whole { DOCUMENT_BYTES_MAX } else { SEEN_BYTES_MAX };
        if audience == Audience::Matching {
            needs.merge(&self.shown());
        }
        let needs = completion.needs(needs);
        let arrays = completion.arrays.into_iter().map(|(rule, show)| {
            let pages = catalog.get(&rule.into).cloned();
            let shown = matched.contains(&rule.path);
            let show = match show {
                Show::Whole => part(&matched, &rule.path),
                slice => slice,
            };
            PagedArray { seen: part(&seen, &rule.path), rule, show, shown, pages }
        });
        self.paged = Some(Paged {
            arrays: arrays.collect(),
            filtered: if filtered { merged } else { Vec::new() },
            sorted,
            shown_bytes_max,
            needs,
        });
        Ok(())
    }

    /// Refuses to go by the keys of an index where they have the elements of heads only.
    fn check_keys(&self, completion: &Completion, looks_at_arrays: bool) -> Result<()> {
        let bounds = [&self.min, &self.max].into_iter().flatten();
        let mut needs = Needs::none();
        bounds.flat_map(|bound| elements(bound)).for_each(|it| needs.add(&Path::new(it.key)));
        let option = match (completion.reaches(&needs), self.return_key && looks_at_arrays) {
            (true, _) => "min and max",
            (_, true) => "returnKey",
            _ => return Ok(()),
        };
        Err(Code::BadValue.error(format!(
            "{option} cannot be used with an array whose elements are in part in pages (read: \
             merged): the keys of an index on it are those of the other part"
        )))
    }
}
