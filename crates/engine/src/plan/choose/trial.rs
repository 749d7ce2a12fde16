//! Several plans, run side by side for a short while. The one that has produced
//! most for the work it did goes on, with the rows it already has.

use super::choose;
use crate::catalog::Collection;
use crate::plan::execute::StatsTree;
use crate::plan::{Execution, Interrupt, Plan, Query, Stage};
use crate::storage::View;
use error::Result;
use std::sync::Arc;

/// A trial ends when one plan has this many rows.
const ROWS_MAX: usize = 101;
/// Or rows of this weight, which are kept until the client asks for them.
const ROWS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Or when each has done this much work.
const WORKS_MAX: u64 = 10_000;

/// The plan that won, and the others as far as they ran.
pub struct Chosen {
    pub winner: Execution,
    pub rejected: Vec<Execution>,
    /// Each plan's score, the winner's first; empty if there was no trial.
    pub scores: Vec<f64>,
    /// What each had done when the trial ended, in the same order.
    pub trials: Vec<StatsTree>,
}

/// Plans a query on a collection and starts it. The view must not be younger than
/// the plan: take it before.
pub fn open(
    collection: &Arc<Collection>,
    query: Query,
    view: View,
    interrupt: Interrupt,
) -> Result<Execution> {
    let mut plans = choose(Some(collection), &Arc::new(query))?;
    if plans.len() == 1 {
        let plan = Arc::new(plans.remove(0));
        plan.count_use();
        return Ok(Execution::open(plan, view, interrupt));
    }
    let winner = run(plans, &view, &interrupt, false)?.winner;
    winner.plan().count_use();
    Ok(winner)
}

impl Chosen {
    /// As `open`; keeps the other candidates and measures time, for `explain`.
    pub fn observed(
        collection: Option<&Arc<Collection>>,
        query: &Arc<Query>,
        view: &View,
        interrupt: &Interrupt,
    ) -> Result<Chosen> {
        run(choose(collection, query)?, view, interrupt, true)
    }
}

fn run(plans: Vec<Plan>, view: &View, interrupt: &Interrupt, timed: bool) -> Result<Chosen> {
    let mut executions: Vec<Execution> = plans
        .into_iter()
        .map(|plan| Execution::with_timing(Arc::new(plan), view.clone(), interrupt.clone(), timed))
        .collect();
    if executions.len() == 1 {
        let winner = executions.remove(0);
        return Ok(Chosen { winner, rejected: Vec::new(), scores: Vec::new(), trials: Vec::new() });
    }
    let finished = race(&mut executions)?;
    let scores: Vec<f64> = executions
        .iter()
        .zip(&finished)
        .map(|(execution, finished)| score(execution, *finished))
        .collect();
    // Of equal scores the first wins, which is the best by rule.
    let best = (0..scores.len()).reduce(|a, b| if scores[b] > scores[a] { b } else { a });
    let best = best.unwrap_or(0);
    let mut order: Vec<usize> = vec![best];
    order.extend((0..scores.len()).filter(|at| *at != best));
    let trials = order.iter().map(|at| executions[*at].stats()).collect();
    let scores = order.iter().map(|at| scores[*at]).collect();
    let winner = executions.remove(best);
    Ok(Chosen { winner, rejected: executions, scores, trials })
}

/// Gives each plan a turn until one is done or has rows enough. A plan that fails,
/// such as a sort beyond its memory, is out unless all fail.
fn race(executions: &mut [Execution]) -> Result<Vec<bool>> {
    let mut finished = vec![false; executions.len()];
    let mut failed = vec![false; executions.len()];
    for _ in 0..WORKS_MAX {
        for (at, execution) in executions.iter_mut().enumerate() {
            if failed[at] {
                continue;
            }
            match execution.advance() {
                Ok(done) => finished[at] = done,
                Err(error) => {
                    failed[at] = true;
                    if failed.iter().all(|failed| *failed) {
                        return Err(error);
                    }
                }
            }
        }
        let has_enough = |(rows, bytes)| rows >= ROWS_MAX || bytes >= ROWS_BYTES_MAX;
        let enough = executions.iter().map(Execution::early).any(has_enough);
        if enough || finished.iter().any(|finished| *finished) {
            break;
        }
    }
    for (at, failed) in failed.iter().enumerate() {
        if *failed {
            executions[at].fail();
        }
    }
    Ok(finished)
}

/// Rows for work, a bonus for being done, and small ones that decide between
/// equals: no fetch, no sort in memory.
fn score(execution: &Execution, finished: bool) -> f64 {
    if execution.has_failed() {
        return 0.0;
    }
    let stats = execution.stats().stats;
    let works = stats.works.max(1) as f64;
    let productivity = (stats.advanced + stats.counted) as f64 / works;
    let tie = f64::min(1.0 / (10.0 * works), 1e-4);
    let root = &execution.plan().root;
    let fetches = root.any(&|stage| matches!(stage, Stage::Fetch { .. }));
    let sorts = root.any(&|stage| matches!(stage, Stage::Sort { .. }));
    let bonus = tie * f64::from(u8::from(!fetches) + u8::from(!sorts));
    1.0 + productivity + bonus + f64::from(u8::from(finished))
}
