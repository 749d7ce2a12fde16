//! Sizes as people write them: `32KB`, `1.5MB`.

/// The units, longest name first, as powers of two: they go by 1,024.
const UNITS: &[(&str, u32)] = &[("KB", 10), ("MB", 20), ("GB", 30), ("TB", 40), ("B", 0)];

/// The number of bytes, if the text is a size. Of a unit there may be a part, which is rounded
/// to whole bytes.
pub fn parse(text: &str) -> Option<usize> {
    let upper = text.trim().to_ascii_uppercase();
    let (digits, power) = UNITS
        .iter()
        .find_map(|(name, power)| upper.strip_suffix(name).map(|digits| (digits, *power)))
        .unwrap_or((&upper, 0));
    let digits = digits.trim_end();
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole: usize = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: f64 = format!("0.{part}0").parse().ok()?;
    if part > 0.0 && power == 0 {
        return None;
    }
    let unit = 1_usize << power;
    let bytes = whole.checked_mul(unit)?.checked_add((part * unit as f64).round() as usize)?;
    // More than any number of BSON is no size of anything.
    i64::try_from(bytes).ok().map(|_| bytes)
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
            ("2TB", Some(2 << 40)),
            ("1.1MB", Some(1_153_434)),
            (".5KB", Some(512)),
            ("1.KB", Some(1_024)),
            ("17.0", Some(17)),
            ("1.2.3KB", None),
            (".", None),
            ("99999999999TB", None),
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
