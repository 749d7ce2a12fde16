//! How long a policy's arrays are before a write and after it.

use smallvec::SmallVec;

/// The lengths that patterns have measured on the way: nobody need do so again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    pub arrays: ArrayLengths,
    /// Whether all other arrays that the policy names stay as they are.
    pub complete: bool,
}

impl Measured {
    /// Those of a policy with so many rules.
    pub(super) fn of_rules(self, rules: usize) -> Measured {
        let complete = self.complete || self.arrays.len() == rules;
        Measured { complete, ..self }
    }
}

/// Mostly one or two.
pub type ArrayLengths = SmallVec<[ArrayLength; 2]>;

/// One array of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayLength {
    /// Which rule of the policy it is under.
    pub rule: usize,
    /// `None` where there is no array.
    pub before: Option<Length>,
    pub after: Option<Length>,
}

/// How long an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    pub elements: usize,
    /// The pages that hold what the document does not.
    pub pages: usize,
}
