//! The sum of finite doubles as one wide fixed-point number.
//!
//! Every double is a multiple of 2^-1074. The sum is held in limbs of 32 bits of weight, each
//! in 64 bits, so that an addition touches three of them and passes no carry on. Only the limbs
//! between the least and the greatest that were used are there: up to five for most sums, 68 for
//! all that doubles can be.

use super::big::Big;
use super::decimals::Term;
use smallvec::SmallVec;

const LIMB_BITS: u32 = 32;
/// The exponent of the least bit.
const EXPONENT_MIN: i32 = -1074;
/// Each addition changes a limb by less than 2^32; after so many, 2^62 may be reached.
const PENDING_MAX: u32 = 1 << 30;
/// A double's 53 bits, wherever they begin within a limb, reach into so many.
const TOUCHED: usize = 3;
const FRACTION_BITS: u32 = 52;
/// Hundredths and billions take no more, whole numbers beside them included.
const INLINE: usize = 5;

#[derive(Debug, Clone, Default)]
pub struct Doubles {
    limbs: SmallVec<[i64; INLINE]>,
    /// Which limb of the whole number the first one is.
    first: usize,
    /// How many additions there were since carries were passed on.
    pending: u32,
}

impl Doubles {
    /// Adds a finite double.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> FRACTION_BITS) as u32 & 0x7FF;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        // Subnormal numbers have the exponent of the least normal ones, and no leading one.
        let mantissa = fraction | u64::from(exponent > 0) << FRACTION_BITS;
        self.add_at(exponent.saturating_sub(1), mantissa, value.is_sign_negative());
    }

    /// The sum with an integer added.
    pub fn with_integer(&self, integer: i128) -> Doubles {
        let mut sum = self.clone();
        let (mut rest, mut place) = (integer.unsigned_abs(), EXPONENT_MIN.unsigned_abs());
        while rest > 0 {
            let mantissa = rest as u64 & ((1 << FRACTION_BITS) - 1);
            sum.add_at(place, mantissa, integer < 0);
            (rest, place) = (rest >> FRACTION_BITS, place + FRACTION_BITS);
        }
        sum
    }

    pub fn merge(&mut self, other: &Doubles) {
        if other.is_unused() {
            return;
        }
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.make_room(other.first, other.limbs.len());
        let start = other.first - self.first;
        for (limb, change) in self.limbs[start..].iter_mut().zip(other.limbs) {
            *limb += change;
        }
        self.pending += 2;
    }

    /// Whether nothing but zeros was ever added.
    pub fn is_unused(&self) -> bool {
        self.limbs.is_empty()
    }

    #[inline]
    pub fn bytes(&self) -> usize {
        if self.limbs.spilled() { self.limbs.capacity() * size_of::<i64>() } else { 0 }
    }

    /// The sum: its sign, and an integer times a power of two.
    pub fn read(mut self) -> (bool, Big, i32) {
        self.carry();
        let negative = self.limbs.last().is_some_and(|last| *last < 0);
        if negative {
            self.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            self.carry();
        }
        let word =
            |pair: &[i64]| pair.iter().rev().fold(0, |word, limb| word << LIMB_BITS | *limb as u64);
        let magnitude = Big::new(self.limbs.chunks(2).map(word).collect());
        (negative, magnitude, (self.first as u32 * LIMB_BITS) as i32 + EXPONENT_MIN)
    }

    /// The sum as an odd integer times a power of two; `None` for zero.
    pub fn read_odd(&self) -> Option<(bool, Big, i32)> {
        let (negative, mut magnitude, exponent) = self.clone().read();
        let zeros = magnitude.trailing_zeros();
        magnitude.shift_right(zeros);
        (!magnitude.is_zero()).then_some((negative, magnitude, exponent + zeros as i32))
    }

    /// The sum that `read_odd` gave; `None` if there is no such sum of doubles.
    pub fn from_parts(negative: bool, mut magnitude: Big, exponent: i32) -> Option<Doubles> {
        /// As many as 2^63 of the greatest doubles reach.
        const BITS_MAX: u32 = 2098 + 63;
        let place = u32::try_from(exponent.checked_sub(EXPONENT_MIN)?).ok()?;
        if place.checked_add(magnitude.bits())? > BITS_MAX {
            return None;
        }
        magnitude.shift_left(place % LIMB_BITS);
        let halves = |word: &u64| [*word as u32, (*word >> LIMB_BITS) as u32];
        let limbs = magnitude.words().iter().flat_map(halves).map(i64::from);
        let limbs = limbs.map(|limb| if negative { -limb } else { limb }).collect();
        Some(Doubles { limbs, first: (place / LIMB_BITS) as usize, pending: 1 })
    }

    /// The sum for an addition with decimals: 2^-n is 5^n times 10^-n.
    pub fn as_term(&self) -> Option<Term> {
        let (negative, mut magnitude, exponent) = self.read_odd()?;
        match u32::try_from(exponent) {
            Ok(exponent) => magnitude.shift_left(exponent),
            Err(_) => magnitude.multiply_by_five(exponent.unsigned_abs()),
        }
        Some(Term::new(negative, magnitude, exponent.min(0)))
    }

    /// Adds 53 bits at most, the least of which is the one at `place`.
    #[inline]
    fn add_at(&mut self, place: u32, mantissa: u64, negative: bool) {
        if mantissa == 0 {
            return;
        }
        let limb = (place / LIMB_BITS) as usize;
        // A limb before the first one wraps around to a place that is not there.
        let mut start = limb.wrapping_sub(self.first);
        if start.saturating_add(TOUCHED) > self.limbs.len() {
            self.make_room(limb, TOUCHED);
            start = limb - self.first;
        }
        let bits = u128::from(mantissa) << (place % LIMB_BITS);
        let sign = -i64::from(negative);
        for (at, limb) in self.limbs[start..start + TOUCHED].iter_mut().enumerate() {
            let part = i64::from((bits >> (at as u32 * LIMB_BITS)) as u32);
            *limb += (part ^ sign) - sign;
        }
        self.pending += 1;
        if self.pending >= PENDING_MAX {
            self.carry();
        }
    }

    /// Sees to it that so many limbs from this one on are there.
    #[cold]
    fn make_room(&mut self, limb: usize, count: usize) {
        if self.limbs.is_empty() {
            self.first = limb;
        }
        if limb < self.first {
            self.limbs.insert_many(0, std::iter::repeat_n(0, self.first - limb));
            self.first = limb;
        }
        let end = limb + count - self.first;
        if end > self.limbs.len() {
            self.limbs.resize(end, 0);
        }
    }

    /// Passes carries on, so that each limb has 32 bits and only the last one has a sign.
    fn carry(&mut self) {
        let mut carry = 0;
        let last = self.limbs.len().saturating_sub(1);
        for limb in self.limbs.iter_mut().take(last) {
            let sum = *limb + carry;
            carry = sum >> LIMB_BITS;
            *limb = sum - (carry << LIMB_BITS);
        }
        if let Some(limb) = self.limbs.last_mut() {
            *limb += carry;
        }
        while let Some(limb) = self.limbs.last_mut()
            && !matches!(*limb >> LIMB_BITS, -1..=0)
        {
            let carry = *limb >> LIMB_BITS;
            *limb -= carry << LIMB_BITS;
            self.limbs.push(carry);
        }
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_are_passed_on_before_they_are_lost() {
        for sign in [1, -1] {
            let limbs = SmallVec::from_elem(sign * (1 << 62), TOUCHED);
            let mut sum = Doubles { limbs, first: 0, pending: PENDING_MAX - 1 };
            let before = sum.clone().read();
            sum.add(5e-324);
            assert!(sum.pending == 0 && sum.limbs.iter().all(|limb| limb.abs() <= 1 << LIMB_BITS));
            sum.add(-5e-324);
            assert_eq!(sum.read(), before);
        }
    }
}
