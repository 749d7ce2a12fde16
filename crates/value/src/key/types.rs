//! What a key's bytes lose: entries of where, kind, details.

/// Kinds of entries; each says which type a value had where its bytes do not.
pub const INT64: u8 = 1;
pub const DOUBLE: u8 = 2;
pub const NEGATIVE_ZERO: u8 = 3;
/// A NaN that is not the ordinary one; its 8 bytes follow.
pub const DOUBLE_BITS: u8 = 4;
/// The 16 bytes of the decimal follow: its exponent cannot be told otherwise.
pub const DECIMAL: u8 = 5;
pub const SYMBOL: u8 = 6;

/// One entry, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Int64,
    Double,
    NegativeZero,
    DoubleBits([u8; 8]),
    Decimal([u8; 16]),
    Symbol,
}

/// Appends an entry for the value whose tag is at `at`.
pub fn append(types: &mut Vec<u8>, at: usize, kind: u8, details: &[u8]) {
    let mut at = at;
    while at >= 0x80 {
        types.push(at as u8 | 0x80);
        at >>= 7;
    }
    types.push(at as u8);
    types.push(kind);
    types.extend_from_slice(details);
}

/// Reads the entry at the start of `types`: where, what, and the rest.
pub fn split_first(types: &[u8]) -> Option<(usize, Entry, &[u8])> {
    let mut at = 0usize;
    let mut shift = 0;
    let mut rest = types;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        at |= usize::from(byte & 0x7F).checked_shl(shift)?;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    let (&kind, rest) = rest.split_first()?;
    let (entry, rest) = match kind {
        INT64 => (Entry::Int64, rest),
        DOUBLE => (Entry::Double, rest),
        NEGATIVE_ZERO => (Entry::NegativeZero, rest),
        DOUBLE_BITS => {
            let (bits, rest) = rest.split_first_chunk()?;
            (Entry::DoubleBits(*bits), rest)
        }
        DECIMAL => {
            let (bytes, rest) = rest.split_first_chunk()?;
            (Entry::Decimal(*bytes), rest)
        }
        SYMBOL => (Entry::Symbol, rest),
        _ => return None,
    };
    Some((at, entry, rest))
}
