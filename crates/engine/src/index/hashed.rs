//! The hash a hashed index stores in place of a value.

use bson::{RawBson, RawBsonRef};
use value::Collator;
use value::key::{Direction, Key};

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A stable 64-bit hash: values that compare equal hash alike, since it is taken
/// over their key bytes. Part of the stored format: it must never change.
pub fn hash(value: RawBsonRef<'_>, collator: Option<&Collator>) -> i64 {
    let mut key = Key::default();
    key.push(value, Direction::Ascending, collator);
    let folded =
        key.bytes.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    scatter(folded) as i64
}

/// The hash as the value that is indexed.
pub fn value(value: RawBsonRef<'_>, collator: Option<&Collator>) -> RawBson {
    RawBson::Int64(hash(value, collator))
}

/// Spreads neighbouring inputs over all bits.
fn scatter(mut bits: u64) -> u64 {
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}
