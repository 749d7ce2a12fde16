//! The middle of many figures, and how far it can be trusted.

/// As many standard deviations as a normal variable stays within in 95 of 100 cases.
const CONFIDENCE: f64 = 1.96;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    pub value: f64,
    /// How far off it may be, in 95 of 100 runs: half the distance between those two of the
    /// figures that, counted from the middle, enclose the true median so often.
    pub error: f64,
}

impl Median {
    /// `None` of no figures.
    pub fn of(mut figures: Vec<f64>) -> Option<Median> {
        figures.sort_by(f64::total_cmp);
        let last = figures.len().checked_sub(1)?;
        let between = |lower: usize, upper: usize| Some((figures.get(lower)?, figures.get(upper)?));
        let (lower, upper) = between(last / 2, figures.len() / 2)?;
        let value = (lower + upper) / 2.0;
        // Whether a figure is above the true median is the toss of a coin.
        let away = (CONFIDENCE * (figures.len() as f64).sqrt() / 2.0).ceil() as usize;
        let (lower, upper) =
            between((last / 2).saturating_sub(away), (figures.len() / 2 + away).min(last))?;
        Some(Median { value, error: (upper - lower) / 2.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::Median;

    #[test]
    fn the_median_is_the_middle() {
        let middle = |figures: &[f64]| Median::of(figures.to_vec()).map(|it| it.value);
        assert_eq!(middle(&[3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(middle(&[4.0, 1.0, 9.0, 3.0]), Some(3.5));
        assert_eq!(middle(&[]), None);
    }

    #[test]
    fn many_figures_tell_it_more_closely() {
        let error = |count: u32| {
            let figures = (0..count).map(|at| f64::from(at) / f64::from(count)).collect();
            Median::of(figures).unwrap().error
        };
        assert_eq!(error(1), 0.0);
        assert!((error(100) - 0.1).abs() < 0.02, "{}", error(100));
        assert!((error(10_000) - 0.01).abs() < 0.002, "{}", error(10_000));
    }
}
