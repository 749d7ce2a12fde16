//! The sum of finite decimals, one for each exponent that is in use.
//!
//! Exponents are kept apart because the sum has the least of them that is in use: 1.10 and 2.20
//! are 3.30. Most sums have one or two.

use super::big::Big;
use smallvec::smallvec;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decimals {
    by_exponent: BTreeMap<i32, Coefficients>,
    count: i64,
}

/// The coefficients of the decimals of one exponent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Coefficients {
    pub count: i64,
    /// Their sum, of 192 bits with a sign: as many coefficients as can be counted fit.
    low: u128,
    high: i64,
}

/// An integer times a power of ten.
#[derive(Debug)]
pub struct Term {
    pub negative: bool,
    pub magnitude: Big,
    pub exponent: i32,
}

impl Decimals {
    /// Counts a decimal and changes the sum by its coefficient.
    pub fn add(&mut self, exponent: i32, coefficient: u128, raises: bool, count: i64) {
        let mut change = Coefficients { count, ..Coefficients::default() };
        change.change(coefficient, raises);
        self.put(exponent, change);
    }

    pub fn merge(&mut self, other: &Decimals) {
        for (exponent, change) in &other.by_exponent {
            self.put(*exponent, *change);
        }
    }

    /// Adds a whole sum of coefficients.
    pub fn put(&mut self, exponent: i32, change: Coefficients) {
        let sum = self.by_exponent.entry(exponent).or_default();
        sum.count += change.count;
        sum.high += change.high;
        sum.change(change.low, true);
        if *sum == Coefficients::default() {
            self.by_exponent.remove(&exponent);
        }
        self.count += change.count;
    }

    pub fn count(&self) -> i64 {
        self.count
    }

    pub fn bytes(&self) -> usize {
        self.by_exponent.len() * 2 * size_of::<Coefficients>()
    }

    /// The least exponent first.
    pub fn iter(&self) -> impl Iterator<Item = (i32, Coefficients)> {
        self.by_exponent.iter().map(|(exponent, sum)| (*exponent, *sum))
    }

    pub fn terms(&self) -> impl Iterator<Item = Term> {
        self.iter().map(|(exponent, sum)| {
            let (negative, magnitude) = sum.parts();
            Term::new(negative, magnitude, exponent)
        })
    }
}

impl Coefficients {
    /// The sum that `parts` gave; `None` if so many coefficients cannot reach it.
    pub fn new(count: i64, negative: bool, magnitude: &Big) -> Option<Coefficients> {
        /// The bits of a coefficient, and of a count.
        const BITS_MAX: u32 = 113 + 63;
        if magnitude.bits() > BITS_MAX {
            return None;
        }
        let word = |at| magnitude.words().get(at).copied().unwrap_or(0);
        let low = u128::from(word(1)) << 64 | u128::from(word(0));
        let sum = Coefficients { count, low, high: word(2) as i64 };
        Some(if negative { sum.negated() } else { sum })
    }

    /// The sign and the magnitude of the sum.
    pub fn parts(self) -> (bool, Big) {
        let negative = self.high < 0;
        let Coefficients { low, high, .. } = if negative { self.negated() } else { self };
        (negative, Big::new(smallvec![low as u64, (low >> 64) as u64, high as u64]))
    }

    fn change(&mut self, coefficient: u128, raises: bool) {
        let carry;
        (self.low, carry) = match raises {
            true => self.low.overflowing_add(coefficient),
            false => self.low.overflowing_sub(coefficient),
        };
        let carry = i64::from(carry);
        self.high += if raises { carry } else { -carry };
    }

    fn negated(self) -> Coefficients {
        let (low, borrow) = 0u128.overflowing_sub(self.low);
        Coefficients { count: self.count, low, high: -self.high - i64::from(borrow) }
    }
}

impl Term {
    pub fn new(negative: bool, magnitude: Big, exponent: i32) -> Term {
        Term { negative, magnitude, exponent }
    }
}

/// The exact sum of terms, with the least of their exponents.
pub fn total(mut terms: Vec<Term>) -> Term {
    terms.sort_by_key(|term| std::cmp::Reverse(term.exponent));
    let (mut above, mut below) = (Big::default(), Big::default());
    let mut exponent = terms.first().map_or(0, |term| term.exponent);
    for term in terms {
        let lower = exponent.abs_diff(term.exponent);
        above.multiply_by_ten(lower);
        below.multiply_by_ten(lower);
        exponent = term.exponent;
        if term.negative { below.add(&term.magnitude) } else { above.add(&term.magnitude) }
    }
    if above >= below {
        above.subtract(&below);
        Term::new(false, above, exponent)
    } else {
        below.subtract(&above);
        Term::new(true, below, exponent)
    }
}
