//! What the four bit operators have in common.

use super::{Argument, integer};
use crate::query::Predicate;
use bson::RawBsonRef;
use error::{Code, Result};
use value::element::array_elements;
use value::{Element, Number};

/// Which bits are asked for, and how many of them.
#[derive(Debug, Clone)]
pub struct Bits {
    pub test: Test,
    /// In order, each once.
    pub positions: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    AllClear,
    AllSet,
    AnyClear,
    AnySet,
}

impl Bits {
    pub fn parse(argument: &Argument<'_>, test: Test) -> Result<Predicate> {
        let element = argument.element;
        let mut positions = match element.value() {
            RawBsonRef::Array(array) => {
                array_elements(array).map(position).collect::<Result<Vec<u32>>>()?
            }
            RawBsonRef::Binary(binary) => {
                let len = binary.bytes.len() as u32 * 8;
                (0..len).filter(|at| binary_bit(binary.bytes, *at)).collect()
            }
            value if Number::from_value(value).is_some() => {
                let mask = integer::natural(element)?;
                (0..64).filter(|at| mask >> at & 1 == 1).collect()
            }
            _ => {
                let shown = crate::describe::element(element);
                return Err(Code::BadValue.error(format!(
                    "{} takes an Array, a number, or a BinData but received: {shown}",
                    element.key
                )));
            }
        };
        positions.sort_unstable();
        positions.dedup();
        Ok(Predicate::Bits(Bits { test, positions }))
    }

    /// Integers of any number type, the sign continued to the left; binaries, the
    /// lowest bit of the first byte first, zeros behind.
    pub fn matches(&self, element: Element<'_>) -> bool {
        match element.value() {
            RawBsonRef::Binary(binary) => self.test(|at| binary_bit(binary.bytes, at)),
            value => match Number::from_value(value).and_then(Number::to_i64_exact) {
                Some(number) => self.test(|at| number >> at.min(63) & 1 == 1),
                None => false,
            },
        }
    }

    fn test(&self, is_set: impl Fn(u32) -> bool) -> bool {
        let mut positions = self.positions.iter().copied();
        match self.test {
            Test::AllClear => positions.all(|at| !is_set(at)),
            Test::AllSet => positions.all(is_set),
            Test::AnyClear => positions.any(|at| !is_set(at)),
            Test::AnySet => positions.any(is_set),
        }
    }
}

fn binary_bit(bytes: &[u8], at: u32) -> bool {
    bytes.get(at as usize / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

fn position(item: Element<'_>) -> Result<u32> {
    let position = integer::natural_i32(item).map_err(|error| {
        Code::BadValue.error(format!("Failed to parse bit position. {}", error.message()))
    })?;
    Ok(position.unsigned_abs())
}
