//! Sizes as people write them: `500MB`.

use std::str::FromStr;

/// A number of bytes. Units are powers of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
}

const UNITS: [(&str, u32); 5] = [("KB", 10), ("MB", 20), ("GB", 30), ("TB", 40), ("B", 0)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let upper = text.trim().to_ascii_uppercase();
        let unit = UNITS.iter().find_map(|(unit, power)| Some((upper.strip_suffix(unit)?, *power)));
        let (number, power) = unit.unwrap_or((&upper, 0));
        let number: Option<u64> = number.trim().parse().ok();
        match number.and_then(|number| number.checked_mul(1 << power)) {
            Some(bytes) => Ok(Size { bytes }),
            None => Err("give a whole number with B, KB, MB, GB or TB, as in 500MB".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let bytes = |text: &str| text.parse::<Size>().map(|size| size.bytes).ok();
        assert_eq!(bytes("0"), Some(0));
        assert_eq!(bytes("17b"), Some(17));
        assert_eq!(bytes("500MB"), Some(500 << 20));
        assert_eq!(bytes(" 2 gb "), Some(2 << 30));
        for wrong in ["", "MB", "-1", "1.5GB", "1PB", "99999999999TB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
