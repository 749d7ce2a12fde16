//! A plan at work, as an iterator of rows.

use super::{Running, Shared, Stats, StatsTree, Work, id_read, open};
use crate::plan::{IdRead, Interrupt, Plan, Purpose, Stage};
use crate::storage::{CollectionId, Document, RecordId, View};
use bson::RawDocumentBuf;
use budget::Kind;
use error::Result;
use language::Needs;
use std::collections::VecDeque;
use std::sync::Arc;

/// How much is done between two looks at the clock.
const WORKS_BETWEEN_CHECKS: u64 = 128;

#[derive(Debug, Clone)]
pub struct ResultRow {
    pub record: RecordId,
    /// Empty if the query's purpose is to count.
    pub document: Document,
}

/// Yields the rows of a plan. It holds its view of the store, and may be kept
/// between batches.
pub struct Execution {
    plan: Arc<Plan>,
    shared: Shared,
    source: Source,
    /// Rows produced while the plan was on trial.
    early: VecDeque<ResultRow>,
    early_bytes: usize,
    /// What these take of the budget.
    memory: budget::Held,
    finished: bool,
    failed: bool,
}

enum Source {
    Id { plan: Arc<IdRead>, stats: Stats },
    Tree(Running),
}

impl Execution {
    pub fn open(plan: Arc<Plan>, view: View, interrupt: Interrupt) -> Execution {
        Execution::with_timing(plan, view, interrupt, false)
    }

    /// As `open`; with `timed` every stage measures the time it takes.
    pub fn with_timing(
        plan: Arc<Plan>,
        view: View,
        interrupt: Interrupt,
        timed: bool,
    ) -> Execution {
        let source = match &plan.root {
            Stage::IdRead(read) => Source::Id { plan: Arc::clone(read), stats: Stats::default() },
            root => Source::Tree(open::stage(root)),
        };
        let collection = plan.collection.as_ref().map_or(CollectionId(0), |of| of.id);
        let query = Arc::clone(&plan.query);
        let shared = Shared { view, collection, needs: query.all_needs(), query, interrupt, timed };
        Execution {
            plan,
            shared,
            source,
            early: VecDeque::new(),
            early_bytes: 0,
            memory: budget::Held::new(Kind::Work),
            finished: false,
            failed: false,
        }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn view(&self) -> &View {
        &self.shared.view
    }

    /// Whether the next row is sure to be near, so that it may be looked for
    /// without making room for other tasks.
    pub fn is_light(&self) -> bool {
        !self.early.is_empty() || self.finished || self.plan.root.is_light()
    }

    /// What its stages have done so far.
    pub fn stats(&self) -> StatsTree {
        match &self.source {
            Source::Id { stats, .. } => StatsTree { stats: *stats, inputs: Vec::new() },
            Source::Tree(root) => root.report(),
        }
    }

    /// Runs to the end and says how many rows there were.
    pub fn count(mut self) -> Result<u64> {
        let mut rows = 0;
        for row in self.by_ref() {
            row?;
            rows += 1;
        }
        Ok(rows + self.counted())
    }

    /// What a counting plan has counted so far.
    pub fn counted(&self) -> u64 {
        self.stats().stats.counted
    }

    /// One unit of work for a plan on trial; true once it has no more rows.
    pub(in crate::plan) fn advance(&mut self) -> Result<bool> {
        if !self.finished {
            match self.work()? {
                Progress::Row(ResultRow { record, document }) => {
                    let row = ResultRow { record, document: document.uncounted() };
                    self.early_bytes += row.document.as_bytes().len();
                    self.memory.resize(self.early_bytes)?;
                    self.early.push_back(row);
                }
                Progress::Pending => {}
                Progress::Done => self.finished = true,
            }
        }
        Ok(self.finished)
    }

    /// Marks a plan that failed on trial: it is never to be chosen.
    pub(in crate::plan) fn fail(&mut self) {
        self.failed = true;
    }

    pub(in crate::plan) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Rows produced on trial and not yet taken, and what they weigh.
    pub(in crate::plan) fn early(&self) -> (usize, usize) {
        (self.early.len(), self.early_bytes)
    }

    fn work(&mut self) -> Result<Progress> {
        match &mut self.source {
            Source::Id { plan, stats } => {
                if stats.works > 0 {
                    return Ok(Progress::Done);
                }
                let row = id_read::read(plan, &self.shared, stats)?;
                Ok(row.map_or(Progress::Done, Progress::Row))
            }
            Source::Tree(root) => {
                if root.stats.works % WORKS_BETWEEN_CHECKS == 0 {
                    self.shared.interrupt.check()?;
                }
                Ok(match root.work(&self.shared)? {
                    Work::Advanced(member) => Progress::Row(ResultRow {
                        record: member.record,
                        document: member
                            .document
                            .unwrap_or_else(|| Document::Built(RawDocumentBuf::new())),
                    }),
                    Work::Pending => Progress::Pending,
                    Work::Done => Progress::Done,
                })
            }
        }
    }
}

enum Progress {
    Row(ResultRow),
    Pending,
    Done,
}

impl Iterator for Execution {
    type Item = Result<ResultRow>;

    fn next(&mut self) -> Option<Result<ResultRow>> {
        if let Some(row) = self.early.pop_front() {
            self.early_bytes = self.early_bytes.saturating_sub(row.document.as_bytes().len());
            self.memory.force(self.early_bytes);
            return Some(Ok(row));
        }
        while !self.finished {
            match self.work() {
                Ok(Progress::Row(row)) => return Some(Ok(row)),
                Ok(Progress::Pending) => {}
                Ok(Progress::Done) => self.finished = true,
                Err(error) => {
                    self.finished = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl crate::plan::Query {
    /// Everything the sort, the projection and the caller look at; before completion, where
    /// documents are completed.
    fn all_needs(&self) -> Needs {
        let (mut needs, is_sorted_above) = match &self.paged {
            Some(paged) => (paged.needs.clone(), paged.sorted),
            None => (self.shown(), false),
        };
        if self.purpose == Purpose::Documents && !is_sorted_above {
            self.sort.needs(&mut needs);
        }
        needs
    }

    /// Whether the caller looks at nothing but which records there are.
    pub(in crate::plan) fn wants_nothing(&self) -> bool {
        self.projection.is_none()
            && !self.show_record_id
            && !self.metadata.any()
            && matches!(&self.needs, Needs::Paths(paths) if paths.is_empty())
    }

    /// What the projection and the caller look at.
    pub(in crate::plan) fn shown(&self) -> Needs {
        match &self.purpose {
            Purpose::Documents => {}
            Purpose::Count => return Needs::none(),
            Purpose::Distinct(path) => return Needs::Paths(vec![path.clone()]),
        }
        match &self.projection {
            None => self.needs.clone(),
            Some(projection) => {
                let mut needs = Needs::none();
                projection.needs(&mut needs);
                if projection.needs_match() {
                    self.filter.needs(&mut needs);
                }
                needs
            }
        }
    }
}
