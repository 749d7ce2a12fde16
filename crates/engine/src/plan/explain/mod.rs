//! `explain`: the chosen plan, the rejected ones, and what each stage has done.

mod above;
mod refused;
pub mod room;
mod scan;
mod shape;
mod stage;
mod stats;

pub use above::{Above, ExplainedUpdate, HiddenLook};

use super::execute::StatsTree;
use super::{Chosen, Execution, Interrupt, Query};
use crate::catalog::Collection;
use crate::storage::View;
use bson::RawBsonRef;
use command::Namespace;
use command::views::Verbosity;
use error::{Error, Result};
use refused::Refused;
use std::sync::Arc;
use std::time::{Duration, Instant};
use value::DocumentWriter;

/// What is to be explained.
pub struct Explained<'a> {
    pub namespace: &'a Namespace,
    /// `None` if there is no such collection.
    pub collection: Option<&'a Arc<Collection>>,
    pub query: Query,
    /// What is done to the documents, if it is a write.
    pub above: Option<Above>,
    pub verbosity: Verbosity,
}

/// A query that has been planned and, if asked for, run.
struct Explanation {
    query: Arc<Query>,
    above: Option<Above>,
    winner: Execution,
    rejected: Vec<Execution>,
    scores: Vec<f64>,
    trials: Vec<StatsTree>,
    planning: Duration,
    run: Option<Run>,
}

/// What came of running the winning plan.
struct Run {
    rows: u64,
    /// Rows that the stage above would change.
    modified: u64,
    time: Duration,
    failure: Option<Error>,
}

/// Plans, runs and describes a query: `explainVersion`, `queryPlanner`,
/// `executionStats`. What comes after them is the same for every command.
pub fn explain(
    explained: Explained<'_>,
    view: &View,
    interrupt: &Interrupt,
    out: &mut DocumentWriter,
) -> Result<()> {
    let Explained { namespace, collection, query, above, verbosity } = explained;
    let query = Arc::new(query);
    let started = Instant::now();
    let Chosen { winner, rejected, scores, trials } =
        Chosen::observed(collection, &query, view, interrupt)?;
    let planning = started.elapsed();
    let mut explanation =
        Explanation { query, above, winner, rejected, scores, trials, planning, run: None };
    if verbosity >= Verbosity::ExecutionStats {
        let hidden = explanation.above.as_mut().and_then(|above| above.hidden.take());
        let refused = hidden
            .zip(collection)
            .map(|(look, collection)| Refused::new(look, collection, view, interrupt))
            .transpose()?;
        explanation.run = Some(explanation.run(refused));
    }
    out.append_str("explainVersion", "1");
    explanation.planner(namespace, out);
    if let Some(run) = &explanation.run {
        explanation.execution(run, verbosity, out);
    }
    Ok(())
}

impl Explanation {
    fn run(&mut self, mut refused: Option<Refused<'_>>) -> Run {
        let started = Instant::now();
        let mut run = Run { rows: 0, modified: 0, time: Duration::ZERO, failure: None };
        let single = self.above.as_ref().is_some_and(|above| !above.multi);
        for row in &mut self.winner {
            let modified = row.and_then(|row| {
                refused.as_ref().map_or(Ok(()), |refused| refused.check(row.record))?;
                match &self.above {
                    Some(above) => above.modifies(&self.query.filter, &row.document),
                    None => Ok(false),
                }
            });
            match modified {
                Ok(modified) => {
                    run.rows += 1;
                    run.modified += u64::from(modified);
                }
                Err(error) => run.failure = Some(error),
            }
            if single || run.failure.is_some() {
                break;
            }
        }
        let is_through = run.failure.is_some() || single && run.rows > 0;
        if let Some(refused) = refused.as_mut().filter(|_| !is_through) {
            run.failure = refused.look().err();
        }
        run.time = self.planning + started.elapsed();
        run
    }

    fn planner(&self, namespace: &Namespace, out: &mut DocumentWriter) {
        let hash = shape::hash(&self.query);
        out.begin_document("queryPlanner");
        out.append_str("namespace", &namespace.to_string());
        room::append("parsedQuery", &self.query.filter.to_document(), out);
        out.append_bool("indexFilterSet", false);
        out.append_str("queryHash", &hash);
        out.append_str("planCacheShapeHash", &hash);
        out.append_str("planCacheKey", &shape::with_indexes(&self.query, self.winner.plan()));
        count(out, "optimizationTimeMillis", self.planning.as_millis() as u64);
        out.append_bool("maxIndexedOrSolutionsReached", false);
        out.append_bool("maxIndexedAndSolutionsReached", false);
        out.append_bool("maxScansToExplodeReached", false);
        out.append_bool("prunedSimilarIndexes", false);
        out.begin_document("winningPlan");
        self.plan(&self.winner, out);
        out.end();
        out.begin_array("rejectedPlans");
        for rejected in &self.rejected {
            out.begin_next_document();
            self.plan(rejected, out);
            out.end();
        }
        out.end();
        out.end();
    }

    fn plan(&self, execution: &Execution, out: &mut DocumentWriter) {
        out.append_bool("isCached", false);
        self.stages(execution, None, out);
    }

    /// The stages of a plan, that of a write above them.
    fn stages(
        &self,
        execution: &Execution,
        done: Option<(&Run, &StatsTree)>,
        out: &mut DocumentWriter,
    ) {
        let describe = |out: &mut DocumentWriter| {
            let stats = done.map(|(_, stats)| stats);
            stage::describe(&execution.plan().root, &self.query, stats, out);
        };
        match &self.above {
            Some(above) => above.around(done.map(|(run, tree)| (run, &tree.stats)), out, describe),
            None => describe(out),
        }
    }

    fn execution(&self, run: &Run, verbosity: Verbosity, out: &mut DocumentWriter) {
        let stats = self.winner.stats();
        out.begin_document("executionStats");
        out.append_bool("executionSuccess", run.failure.is_none());
        if let Some(failure) = &run.failure {
            out.append_str("errorMessage", failure.message());
            out.append_i32("errorCode", failure.code().number());
        }
        let returned = self.above.as_ref().map_or(run.rows, |above| above.returned(run));
        count(out, "nReturned", returned);
        count(out, "executionTimeMillis", run.time.as_millis() as u64);
        count(out, "totalKeysExamined", stats.keys_examined());
        count(out, "totalDocsExamined", stats.documents_examined());
        out.begin_document("executionStages");
        out.append_bool("isCached", false);
        self.stages(&self.winner, Some((run, &stats)), out);
        out.end();
        if verbosity == Verbosity::AllPlansExecution {
            self.trials(out);
        }
        out.end();
    }

    /// What each candidate had done when the choice was made, the winner first.
    fn trials(&self, out: &mut DocumentWriter) {
        out.begin_array("allPlansExecution");
        let executions = std::iter::once(&self.winner).chain(&self.rejected);
        for ((execution, stats), score) in executions.zip(&self.trials).zip(&self.scores) {
            out.begin_next_document();
            count(out, "nReturned", stats.stats.advanced);
            count(out, "executionTimeMillisEstimate", stats.stats.time.as_millis() as u64);
            count(out, "totalKeysExamined", stats.keys_examined());
            count(out, "totalDocsExamined", stats.documents_examined());
            out.append_f64("score", *score);
            out.begin_document("executionStages");
            stage::describe(&execution.plan().root, &self.query, Some(stats), out);
            out.end();
            out.end();
        }
        out.end();
    }
}

/// A count as MongoDB writes it: int32 while it fits.
fn count(out: &mut DocumentWriter, name: &str, count: u64) {
    match i32::try_from(count) {
        Ok(count) => out.append_i32(name, count),
        Err(_) => out.append(name, RawBsonRef::Int64(i64::try_from(count).unwrap_or(i64::MAX))),
    }
}
