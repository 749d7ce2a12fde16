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

/// `5 hours`, `41 days`, `3 years`.
pub fn days(days: f64) -> String {
    match days {
        days if days < 2.0 => format!("{:.0} hours", (days * 24.0).max(1.0)),
        days if days < 730.0 => format!("{days:.0} days"),
        days if days < 365_000.0 => format!("{} years", count((days / 365.0) as u64)),
        _ => "more than a thousand years".to_owned(),
    }
}

/// `12 %`, `0.5 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
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
        assert_eq!(days(41.4), "41 days");
        assert_eq!(days(3_650.0), "10 years");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.005), "0.5 %");
    }
}
