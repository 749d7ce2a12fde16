//! Figures as people read them.

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `17 bytes`, `1.5 KB`, `16 MB`, by 1,024.
pub fn bytes(number: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    let mut value = number as f64;
    let mut unit = None;
    for name in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = Some(name);
    }
    match unit {
        None => format!("{number} bytes"),
        Some(unit) if value >= 10.0 => format!("{value:.0} {unit}"),
        Some(unit) => format!("{value:.1} {unit}"),
    }
}

/// `1 document`, `2 documents`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// `5 hours`, `41 days`, `3 years`.
pub fn days(days: f64) -> String {
    let whole = |number: f64, noun: &str| counted(number.round() as u64, noun);
    match days {
        days if days < 1.0 / 24.0 => "less than an hour".to_owned(),
        days if days < 2.0 => whole(days * 24.0, "hour"),
        days if days < 730.0 => whole(days, "day"),
        days if days < 365_000.0 => counted((days / 365.0) as u64, "year"),
        _ => "more than a thousand years".to_owned(),
    }
}

/// What becomes of a document that has so many days left.
pub fn full(left: f64) -> String {
    if left <= 0.0 { "full".to_owned() } else { format!("full in {}", days(left)) }
}

/// `12 %`, `0.5 %`; what is not all is never `100 %`, and what is something never `0.0 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "less than 0.1 %".to_owned(),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent if (99.0..100.0).contains(&percent) => "99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(17), "17 bytes");
        assert_eq!(bytes(1536), "1.5 KB");
        assert_eq!(bytes(16 << 20), "16 MB");
        assert_eq!(days(0.5), "12 hours");
        assert_eq!(days(0.04), "less than an hour");
        assert_eq!(days(0.05), "1 hour");
        assert_eq!((full(0.0), full(2.0)), ("full".to_owned(), "full in 2 days".to_owned()));
        assert_eq!(
            (counted(1, "index"), counted(0, "hour")),
            ("1 index".to_owned(), "0 hours".to_owned())
        );
        assert_eq!(days(41.4), "41 days");
        assert_eq!(days(3_650.0), "10 years");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.005), "0.5 %");
        assert_eq!(percent(0.000_01), "less than 0.1 %");
        assert_eq!((percent(0.9999), percent(1.0)), ("99 %".to_owned(), "100 %".to_owned()));
    }
}
