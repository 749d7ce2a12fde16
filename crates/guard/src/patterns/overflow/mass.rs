//! How much there is of an array.

use crate::patterns::place::EMPTY_ARRAY_BYTES;
use crate::policy::Bounds;
use value::{Element, null_bytes};

/// Elements, and what their values take. Their keys are numbers, so that what an array takes
/// follows from both, whichever pieces it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mass {
    pub count: usize,
    pub bytes: usize,
}

impl Mass {
    pub fn of(items: &[Element<'_>]) -> Mass {
        Mass { count: items.len(), bytes: items.iter().map(|item| item.bytes.len()).sum() }
    }

    /// What the elements of an array of so many bytes have.
    pub fn of_array(count: usize, array_bytes: usize) -> Mass {
        let bytes = array_bytes.saturating_sub(EMPTY_ARRAY_BYTES + null_bytes(count));
        Mass { count, bytes }
    }

    /// What they take as one array.
    pub fn array_bytes(self) -> usize {
        EMPTY_ARRAY_BYTES + null_bytes(self.count) + self.bytes
    }

    pub fn is_within(self, bounds: Bounds) -> bool {
        bounds.hold(self.count, self.array_bytes())
    }

    /// Without an element from the front.
    pub fn without(self, item: &Element<'_>) -> Mass {
        Mass {
            count: self.count.saturating_sub(1),
            bytes: self.bytes.saturating_sub(item.bytes.len()),
        }
    }
}

impl std::ops::Add for Mass {
    type Output = Mass;

    fn add(self, other: Mass) -> Mass {
        Mass { count: self.count + other.count, bytes: self.bytes + other.bytes }
    }
}

impl std::iter::Sum for Mass {
    fn sum<I: Iterator<Item = Mass>>(masses: I) -> Mass {
        masses.fold(Mass::default(), |sum, mass| sum + mass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use value::element::array_elements;

    #[test]
    fn an_array_takes_what_its_elements_and_their_keys_do() {
        for len in [0, 1, 9, 10, 11, 99, 100, 101, 1_000, 1_234] {
            let array: bson::RawArrayBuf = (0..len).map(|at| format!("{at}")).collect();
            let items: Vec<Element<'_>> = array_elements(&array).items().collect();
            let mass = Mass::of(&items);
            assert_eq!(mass.array_bytes(), array.as_bytes().len(), "{len}");
            assert_eq!(Mass::of_array(items.len(), array.as_bytes().len()), mass);
        }
    }
}
