//! The stage of a write, which stands above the plan that finds the documents: what it
//! would do to them.

use super::{Run, count, stats};
use crate::plan::Query;
use crate::plan::execute::Stats;
use bson::RawDocument;
use error::Result;
use guard::Lease;
use language::Needs;
use language::query::Filter;
use language::update::Update;
use value::DocumentWriter;

pub struct Above {
    /// What is done to each document; nothing of it deletes.
    pub change: Option<ExplainedUpdate>,
    /// What the filter does not see, where the policy shows heads alone.
    pub hidden: Option<HiddenLook>,
    /// Whether every match is written to, or only the first.
    pub multi: bool,
    /// Whether the command answers with the document: `findAndModify`.
    pub returns: bool,
}

/// How the documents are found that the write refuses, since the filter sees no more of an array
/// than its head.
pub struct HiddenLook {
    pub query: Query,
    pub roles: Lease,
}

pub struct ExplainedUpdate {
    pub update: Update,
    pub upsert: bool,
}

impl ExplainedUpdate {
    /// What it looks at in a document that the filter has found.
    pub fn needs(&self, filter: &Filter) -> Needs {
        if self.update.is_replacement() {
            return Needs::All;
        }
        let mut needs = Needs::none();
        self.update.needs(&mut needs);
        if self.update.needs_match() {
            filter.needs(&mut needs);
        }
        needs
    }
}

impl Above {
    /// Whether a document that matches would come out different.
    pub fn modifies(&self, filter: &Filter, document: &RawDocument) -> Result<bool> {
        let Some(change) = &self.change else { return Ok(false) };
        let matched = match change.update.needs_match() {
            true => filter.matches_at(document)?.unwrap_or_default(),
            false => Default::default(),
        };
        Ok(change.update.apply(document, matched)?.is_some())
    }

    /// How many documents come out above.
    pub(super) fn returned(&self, run: &Run) -> u64 {
        if self.returns { run.rows } else { 0 }
    }

    /// Writes the stage around what is below it; `done` is what the plan's topmost stage did.
    pub(super) fn around(
        &self,
        done: Option<(&Run, &Stats)>,
        out: &mut DocumentWriter,
        below: impl FnOnce(&mut DocumentWriter),
    ) {
        out.append_str("stage", if self.change.is_some() { "UPDATE" } else { "DELETE" });
        if let Some((run, plan)) = done {
            self.figures(run, plan, out);
        }
        out.begin_document("inputStage");
        below(out);
        out.end();
    }

    fn figures(&self, run: &Run, plan: &Stats, out: &mut DocumentWriter) {
        let advanced = self.returned(run);
        // A write that has its one document looks no further, and then tells its end.
        let works = plan.works + u64::from(!plan.done);
        let pending = works.saturating_sub(advanced + 1);
        let own =
            Stats { works, advanced, pending, done: true, time: plan.time, ..Stats::default() };
        stats::common(&own, out);
        match &self.change {
            None => count(out, "nWouldDelete", run.rows),
            Some(change) => {
                count(out, "nMatched", run.rows);
                count(out, "nWouldModify", run.modified);
                count(out, "nWouldUpsert", u64::from(change.upsert && run.rows == 0));
            }
        }
    }
}
