//! How numbers are spread.

use crate::bytes::{read_number, write_number};
use crate::scale;

/// How many numbers there are in each step of the scale. Only steps that hold some
/// take room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Steps in order, and how many numbers each holds.
    counts: Vec<(u16, u64)>,
}

/// How many numbers there are from one power of two up to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub from: u64,
    /// The first number that is not in it.
    pub to: u64,
    pub count: u64,
}

impl Histogram {
    pub fn add(&mut self, number: u32) {
        let step = scale::step(number);
        match self.counts.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(at) => self.counts[at].1 += 1,
            Err(at) => self.counts.insert(at, (step, 1)),
        }
    }

    /// Takes a number out that was put in.
    pub fn remove(&mut self, number: u32) {
        let step = scale::step(number);
        if let Ok(at) = self.counts.binary_search_by_key(&step, |(step, _)| *step) {
            self.counts[at].1 -= 1;
            if self.counts[at].1 == 0 {
                self.counts.remove(at);
            }
        }
    }

    /// One number becomes another.
    pub fn exchange(&mut self, before: u32, after: u32) {
        if scale::step(before) != scale::step(after) {
            self.remove(before);
            self.add(after);
        }
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// The number that so many of a thousand do not pass. It is exact among the
    /// `largest`, which are known, the first of them the largest of all; below them it may
    /// be off by a sixteenth, the width of a step. `None` if there are no numbers.
    pub fn quantile(&self, thousandths: u64, largest: &[u32]) -> Option<u32> {
        let all = self.count();
        let rank = (all * thousandths).div_ceil(1_000).max(1);
        let above = all.checked_sub(rank)?;
        if let Some(known) = usize::try_from(above).ok().and_then(|above| largest.get(above)) {
            return Some(*known);
        }
        let mut below = 0;
        for (step, count) in &self.counts {
            if below + count >= rank {
                let (first, width) = scale::bounds(*step);
                // Numbers are taken to be spread evenly within a step.
                let within = (rank - below) as f64 - 0.5;
                let offset = f64::from(width) * within / *count as f64;
                let estimate = first + offset as u32;
                return Some(largest.last().map_or(estimate, |least| estimate.min(*least)));
            }
            below += count;
        }
        None
    }

    /// The numbers by powers of two, ranges without any left out.
    pub fn ranges(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for (step, count) in &self.counts {
            let first = u64::from(scale::bounds(*step).0);
            let (from, to) = match first.checked_ilog2() {
                Some(power) => (1 << power, 2 << power),
                None => (0, 1),
            };
            match ranges.last_mut() {
                Some(last) if last.from == from => last.count += count,
                _ => ranges.push(Range { from, to, count: *count }),
            }
        }
        ranges
    }

    /// The steps that hold numbers: how many, then for each the distance from the
    /// one before it and the count.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_number(self.counts.len() as u64, out);
        let mut last = 0;
        for (step, count) in &self.counts {
            write_number(u64::from(step - last), out);
            write_number(*count, out);
            last = *step;
        }
    }

    /// Takes a histogram off the front; `None` if there is none.
    pub fn read(bytes: &mut &[u8]) -> Option<Histogram> {
        let mut counts = Vec::new();
        let mut last = 0u16;
        for at in 0..read_number(bytes)? {
            let distance = u16::try_from(read_number(bytes)?).ok()?;
            if at > 0 && distance == 0 {
                return None;
            }
            last = last.checked_add(distance)?;
            counts.push((last, read_number(bytes)?));
        }
        Some(Histogram { counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = u32>) -> Histogram {
        let mut histogram = Histogram::default();
        numbers.into_iter().for_each(|number| histogram.add(number));
        histogram
    }

    #[test]
    fn ranges_go_by_powers_of_two() {
        let shown: Vec<_> = of([0, 1, 3, 2, 5, 1_000, 700, 1_024])
            .ranges()
            .iter()
            .map(|range| (range.from, range.to, range.count))
            .collect();
        let expected =
            [(0, 1, 1), (1, 2, 1), (2, 4, 2), (4, 8, 1), (512, 1_024, 2), (1_024, 2_048, 1)];
        assert_eq!(shown, expected);
        assert_eq!(of([u32::MAX]).ranges()[0].to, 1 << 32);
    }

    #[test]
    fn small_numbers_have_exact_quantiles() {
        let ten = of(1..=10);
        let quantiles = [500, 900, 990, 1_000].map(|thousandths| ten.quantile(thousandths, &[10]));
        assert_eq!(quantiles, [Some(5), Some(9), Some(10), Some(10)]);
        assert_eq!(Histogram::default().quantile(500, &[]), None);
        assert_eq!(of([7]).quantile(500, &[7]), Some(7));
    }

    #[test]
    fn quantiles_among_the_largest_are_exact() {
        let numbers: Vec<u32> = (0..200).map(|at| 1_000 + at).collect();
        let largest: Vec<u32> = numbers.iter().rev().take(64).copied().collect();
        let spread = of(numbers);
        assert_eq!(spread.quantile(900, &largest), Some(1_179));
        assert_eq!(spread.quantile(990, &largest), Some(1_197));
        let median = spread.quantile(500, &largest).unwrap();
        assert!((1_050..1_136).contains(&median), "{median}");
    }

    #[test]
    fn damaged_bytes_are_no_histogram() {
        assert_eq!(Histogram::read(&mut &[][..]), None);
        assert_eq!(Histogram::read(&mut &[2, 1, 1, 0, 1][..]), None);
        assert_eq!(Histogram::read(&mut &[1, 1][..]), None);
    }
}
