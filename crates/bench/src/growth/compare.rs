//! The two sides of a pair on one target, in turns.

use std::time::Duration;

use super::{Measure, Pair};
use crate::course::Course;
use crate::report::{Comparison, Figures};
use crate::run::ROUND;
use crate::{Error, Target};

/// A comparison, and the figures of both sides.
pub async fn compare(
    pair: &'static Pair,
    target: &Target,
    seconds: f64,
) -> Result<(Comparison, [Figures; 2]), Error> {
    let wanted = Duration::from_secs_f64(seconds);
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
                course.round(sides[at], ROUND.min(wanted)).await?;
            }
        }
        turn += 1;
    }
    let mut figures = courses.into_iter().zip(sides).map(|(course, side)| course.figures(side));
    let (Some(base), Some(other)) = (figures.next(), figures.next()) else {
        return Err(Error::NoTarget);
    };
    let figures = [base?, other?];
    Ok((comparison(pair, &figures)?, figures))
}

fn comparison(pair: &'static Pair, sides: &[Figures; 2]) -> Result<Comparison, Error> {
    let value = |figures: &Figures| match pair.measure {
        Measure::Cpu => figures.cpu_us_per_op,
        Measure::Latency => Some(figures.p50_us),
        Measure::Rate => Some(figures.ops_per_s),
    };
    let [base, other] = sides;
    let (Some(base_value), Some(other_value)) = (value(base), value(other)) else {
        return Err(Error::NoCpuTime);
    };
    let ratio = if base_value > 0.0 { other_value / base_value } else { 0.0 };
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
