//! Numbers as bytes: seven bits a byte, the lowest first, the last byte without the
//! eighth bit. Small numbers, which most counts are, take a byte.

/// One piece of code for the many places that write numbers in a row.
#[inline(never)]
pub fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front; `None` if there is none.
pub fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(read_number(&mut rest), Some(number));
            assert!(rest.is_empty());
        }
        assert_eq!(read_number(&mut &[0x80][..]), None);
        assert_eq!(read_number(&mut &[0xFF; 11][..]), None);
    }
}
