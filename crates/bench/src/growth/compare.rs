//! The two sides of a pair on one target, in turns.

use std::time::Duration;

use super::{Measure, Pair};
use crate::course::{Course, cpu_ratio};
use crate::report::{Comparison, Figures};
use crate::{Error, Target};

/// One turn of one side: so short that both sides of a turn meet the same machine.
const ROUND: Duration = Duration::from_millis(250);
/// Turns that a comparison of CPU times takes at least: they differ by a few hundredths,
/// and a round may differ by as much from the next.
const CPU_TURNS_MIN: u32 = 32;

/// A comparison, and the figures of both sides.
pub async fn compare(
    pair: &'static Pair,
    target: &Target,
    seconds: f64,
) -> Result<(Comparison, [Figures; 2]), Error> {
    let mut wanted = Duration::from_secs_f64(seconds);
    let round = ROUND.min(wanted);
    if pair.measure == Measure::Cpu {
        wanted = wanted.max(round * CPU_TURNS_MIN);
    }
    let sides = [&pair.base, &pair.other];
    let site = &target.site;
    let mut courses = Vec::with_capacity(sides.len());
    for (at, side) in sides.into_iter().enumerate() {
        (pair.switch)(site.clone(), at == 1).await?;
        courses.push(Course::start(side, target).await?);
    }
    let mut turn = 0;
    while courses.iter().any(|course| course.elapsed < wanted) {
        // Whoever comes second finds the caches as the first has left them.
        let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
        for at in order {
            (pair.switch)(site.clone(), at == 1).await?;
            if let Some(course) = courses.get_mut(at) {
                course.round(sides[at], round).await?;
            }
        }
        turn += 1;
    }
    let cpu_ratio = match courses.as_slice() {
        [base, other] => cpu_ratio(base, other),
        _ => None,
    };
    let mut figures = courses.into_iter().zip(sides).map(|(course, side)| course.figures(side));
    let (Some(base), Some(other)) = (figures.next(), figures.next()) else {
        return Err(Error::NoTarget);
    };
    let figures = [base?, other?];
    Ok((comparison(pair, &figures, cpu_ratio)?, figures))
}

fn comparison(
    pair: &'static Pair,
    sides: &[Figures; 2],
    cpu_ratio: Option<f64>,
) -> Result<Comparison, Error> {
    let value = |figures: &Figures| match pair.measure {
        Measure::Cpu => figures.cpu_us_per_op,
        Measure::Latency => Some(figures.p50_us),
        Measure::Rate => Some(figures.ops_per_s),
    };
    let [base, other] = sides;
    let (Some(base_value), Some(other_value)) = (value(base), value(other)) else {
        return Err(Error::NoCpuTime);
    };
    let ratio = match (pair.measure, cpu_ratio) {
        (Measure::Cpu, Some(ratio)) => ratio,
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
        bound: pair.bound.to_string(),
        holds: pair.bound.holds(ratio),
    })
}
