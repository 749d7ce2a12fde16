//! Sizes as people write them: `32KB`, `1.5MB`.

/// The units, longest name first; they go by 1,024.
const UNITS: &[(&str, f64)] =
    &[("KB", 1024.0), ("MB", 1024.0 * 1024.0), ("GB", 1024.0 * 1024.0 * 1024.0), ("B", 1.0)];

/// The number of bytes, if the text is a size.
pub fn parse(text: &str) -> Option<usize> {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| upper.strip_suffix(name).map(|digits| (digits, *unit)))
        .unwrap_or((&upper, 1.0));
    let digits = digits.trim_end();
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let bytes = digits.parse::<f64>().ok().filter(|_| plain)? * unit;
    (bytes.fract() == 0.0 && bytes < 2f64.powi(52)).then_some(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("32KB", Some(32_768)),
            ("8MB", Some(8 << 20)),
            ("1.5 mb", Some(3 << 19)),
            ("1GB", Some(1 << 30)),
            ("17B", Some(17)),
            ("17", Some(17)),
            ("0.3B", None),
            ("KB", None),
            ("-1KB", None),
            ("1e3", None),
            ("32 KiB", None),
            ("", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
        }
    }
}
