//! The two sides of a pair on one target, in turns.

use std::time::Duration;

use super::{Measure, Pair};
use crate::course::{Course, cpu_ratios, prepare};
use crate::median::Median;
use crate::report::{Comparison, Figures};
use crate::workloads::Workload;
use crate::{Error, Target};

/// One turn of one side: so short that both sides of a turn meet the same machine.
const ROUND: Duration = Duration::from_millis(250);
/// The same where CPU times are compared. They differ by a few hundredths and a turn may
/// differ by a fifth from the next, so what counts is that there are many.
const CPU_ROUND: Duration = Duration::from_millis(25);
/// How much longer than others a comparison of CPU times takes.
const CPU_TIMES: u32 = 4;
/// How often both sides of a comparison of CPU times get their data anew, now the one
/// first and now the other: where data happens to lie costs a few hundredths too.
const CPU_LEGS: u32 = 6;

/// A comparison, and the figures of both sides.
pub async fn compare(
    pair: &'static Pair,
    target: &Target,
    seconds: f64,
) -> Result<(Comparison, [Figures; 2]), Error> {
    let seconds = Duration::from_secs_f64(seconds);
    let (wanted, round, legs) = match pair.measure {
        Measure::Cpu => (seconds * CPU_TIMES, CPU_ROUND, CPU_LEGS),
        _ => (seconds, ROUND.min(seconds), 1),
    };
    let mut sides = Sides::start(pair, target).await?;
    for leg in 0..legs {
        if leg > 0 {
            sides.prepare_anew(order(leg)).await?;
        }
        sides.take_turns(wanted * (leg + 1) / legs, round).await?;
    }
    let [base, other] = sides.courses;
    let cpu_ratios = cpu_ratios(&base, &other);
    let figures = [base.figures(&pair.base)?, other.figures(&pair.other)?];
    Ok((comparison(pair, &figures, cpu_ratios)?, figures))
}

/// Who comes first: whoever is second finds things as the first has left them.
fn order(turn: u32) -> [usize; 2] {
    if turn.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

struct Sides<'a> {
    pair: &'static Pair,
    target: &'a Target,
    courses: [Course; 2],
}

impl Sides<'_> {
    async fn start<'a>(pair: &'static Pair, target: &'a Target) -> Result<Sides<'a>, Error> {
        (pair.switch)(target.site.clone(), false).await?;
        let base = Course::start(&pair.base, target).await?;
        (pair.switch)(target.site.clone(), true).await?;
        let other = Course::start(&pair.other, target).await?;
        Ok(Sides { pair, target, courses: [base, other] })
    }

    fn workload(&self, at: usize) -> &'static Workload {
        if at == 0 { &self.pair.base } else { &self.pair.other }
    }

    async fn switch(&self, at: usize) -> Result<(), Error> {
        (self.pair.switch)(self.target.site.clone(), at == 1).await
    }

    async fn prepare_anew(&mut self, order: [usize; 2]) -> Result<(), Error> {
        for at in order {
            self.target.site.collection(self.workload(at).name).drop().await?;
        }
        for at in order {
            self.switch(at).await?;
            prepare(self.workload(at), self.target).await?;
        }
        Ok(())
    }

    /// Goes on until both have run for so long in all.
    async fn take_turns(&mut self, wanted: Duration, round: Duration) -> Result<(), Error> {
        let mut turn = 0;
        while self.courses.iter().any(|course| course.elapsed < wanted) {
            for at in order(turn) {
                self.switch(at).await?;
                let workload = self.workload(at);
                self.courses[at].round(workload, round).await?;
            }
            turn += 1;
        }
        Ok(())
    }
}

fn comparison(
    pair: &'static Pair,
    sides: &[Figures; 2],
    cpu_ratios: Vec<f64>,
) -> Result<Comparison, Error> {
    let [base, other] = sides;
    let value = |figures: &Figures| match pair.measure {
        Measure::Cpu => figures.cpu_us_per_op,
        Measure::Latency => Some(figures.p50_us),
        Measure::Rate => Some(figures.ops_per_s),
    };
    let (base_value, other_value) = value(base).zip(value(other)).ok_or(Error::NoCpuTime)?;
    // Of CPU times the ratios of single turns count; the others have one ratio in all.
    let cpu = Median::of(cpu_ratios).filter(|_| pair.measure == Measure::Cpu);
    let ratio = match &cpu {
        Some(cpu) => cpu.value,
        _ if base_value > 0.0 => other_value / base_value,
        _ => 0.0,
    };
    Ok(Comparison {
        name: pair.name,
        measure: pair.measure.name(),
        base: base.name,
        other: other.name,
        base_value,
        other_value,
        ratio,
        error: cpu.map(|cpu| cpu.error),
        bound: pair.bound.to_string(),
        holds: pair.bound.holds(ratio),
    })
}
