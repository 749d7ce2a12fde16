//! Integers of any size without a sign, as far as sums need them.

use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;

/// The least word first; the last one is not zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Big {
    words: Words,
}

/// Those of most sums need no memory apart.
pub type Words = SmallVec<[u64; 4]>;

/// The greatest powers that fit into a word.
const TEN: (u64, u32) = (10u64.pow(19), 19);
const FIVE: (u64, u32) = (5u64.pow(27), 27);

impl From<u128> for Big {
    fn from(value: u128) -> Big {
        Big::new(smallvec![value as u64, (value >> 64) as u64])
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        let by_length = self.words.len().cmp(&other.words.len());
        by_length.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Big {
    pub fn new(words: Words) -> Big {
        let mut big = Big { words };
        big.trim();
        big
    }

    pub fn from_bytes(bytes: &[u8]) -> Big {
        let word =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Big::new(bytes.chunks(8).map(word).collect())
    }

    /// The least byte first, as few as it takes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }

    pub fn to_u128(&self) -> Option<u128> {
        match self.words[..] {
            [] => Some(0),
            [low] => Some(low.into()),
            [low, high] => Some(u128::from(high) << 64 | u128::from(low)),
            _ => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    /// How many bits it takes.
    pub fn bits(&self) -> u32 {
        self.words.last().map_or(0, |last| self.words.len() as u32 * 64 - last.leading_zeros())
    }

    pub fn trailing_zeros(&self) -> u32 {
        let zeros = self.words.iter().take_while(|word| **word == 0).count();
        self.words.get(zeros).map_or(0, |word| zeros as u32 * 64 + word.trailing_zeros())
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn add(&mut self, other: &Big) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut carry = false;
        for (at, word) in self.words.iter_mut().enumerate() {
            let (sum, first) = word.overflowing_add(other.words.get(at).copied().unwrap_or(0));
            let (sum, second) = sum.overflowing_add(carry.into());
            (*word, carry) = (sum, first || second);
        }
        if carry {
            self.words.push(1);
        }
    }

    /// Subtracts what is not greater.
    pub fn subtract(&mut self, other: &Big) {
        let mut borrow = false;
        for (at, word) in self.words.iter_mut().enumerate() {
            let (rest, first) = word.overflowing_sub(other.words.get(at).copied().unwrap_or(0));
            let (rest, second) = rest.overflowing_sub(borrow.into());
            (*word, borrow) = (rest, first || second);
        }
        self.trim();
    }

    pub fn multiply(&mut self, factor: u64) {
        let mut carry = 0;
        for word in &mut self.words {
            let product = u128::from(*word) * u128::from(factor) + carry;
            (*word, carry) = (product as u64, product >> 64);
        }
        if carry > 0 {
            self.words.push(carry as u64);
        }
    }

    pub fn multiply_by_ten(&mut self, times: u32) {
        self.multiply_by_power(10, TEN, times);
    }

    pub fn multiply_by_five(&mut self, times: u32) {
        self.multiply_by_power(5, FIVE, times);
    }

    fn multiply_by_power(&mut self, base: u64, (power, most): (u64, u32), times: u32) {
        (0..times / most).for_each(|_| self.multiply(power));
        self.multiply(base.pow(times % most));
    }

    /// Divides; gives the remainder.
    pub fn divide(&mut self, divisor: u64) -> u64 {
        let mut rest = 0;
        for word in self.words.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*word);
            *word = (dividend / u128::from(divisor)) as u64;
            rest = (dividend % u128::from(divisor)) as u64;
        }
        self.trim();
        rest
    }

    /// Divides by a power of ten; says whether something was left over.
    pub fn divide_by_ten(&mut self, times: u32) -> bool {
        let (power, most) = TEN;
        let mut left_over = self.divide(10u64.pow(times % most)) != 0;
        for _ in 0..times / most {
            left_over |= self.divide(power) != 0;
        }
        left_over
    }

    pub fn shift_left(&mut self, bits: u32) {
        self.multiply(1 << (bits % 64));
        if !self.is_zero() {
            let zeros = std::iter::repeat_n(0, bits as usize / 64);
            self.words.insert_many(0, zeros);
        }
    }

    pub fn shift_right(&mut self, bits: u32) {
        let words = (bits as usize / 64).min(self.words.len());
        self.words.drain(..words);
        let mut above = 0;
        for word in self.words.iter_mut().rev() {
            let whole = u128::from(above) << 64 | u128::from(*word);
            (*word, above) = ((whole >> (bits % 64)) as u64, *word);
        }
        self.trim();
    }

    /// The 64 bits from this one on.
    pub fn bits_from(&self, at: u32) -> u64 {
        let word = |at: usize| u128::from(self.words.get(at).copied().unwrap_or(0));
        let at_word = at as usize / 64;
        ((word(at_word + 1) << 64 | word(at_word)) >> (at % 64)) as u64
    }

    /// Whether a bit is set; the least one is 0.
    pub fn bit(&self, at: u32) -> bool {
        self.words.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}
