//! Sizes as people write them: `500MB`.

use guard::policy::size;
use std::str::FromStr;

/// A number of bytes. Units are powers of 1024, as in policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        match size::parse(text) {
            Some(bytes) => Ok(Size { bytes: bytes as u64 }),
            None => Err("give a number with B, KB, MB, GB or TB, as in 500MB".to_owned()),
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
        assert_eq!(bytes("1.5GB"), Some(3 << 29));
        assert_eq!(bytes("2TB"), Some(2 << 40));
        for wrong in ["", "MB", "-1", "1.5", "1PB", "99999999999TB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
