//! Spans of time as people write them: `7d`.

use std::str::FromStr;

/// A number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub seconds: u32,
}

const UNITS: [(&str, u32); 4] = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let text = text.trim();
        let unit = UNITS.iter().find_map(|(unit, of)| Some((text.strip_suffix(unit)?, *of)));
        let number = unit.and_then(|(number, of)| Some((number.trim().parse::<u32>().ok()?, of)));
        match number.and_then(|(number, of)| number.checked_mul(of)) {
            Some(seconds) => Ok(Span { seconds }),
            None => Err("give a whole number with s, m, h or d, as in 7d".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.seconds).ok();
        assert_eq!(seconds("0s"), Some(0));
        assert_eq!(seconds("90m"), Some(5_400));
        assert_eq!(seconds(" 36 h "), Some(129_600));
        assert_eq!(seconds("7d"), Some(604_800));
        for wrong in ["", "7", "d", "-1d", "1.5h", "1w", "99999999d"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
