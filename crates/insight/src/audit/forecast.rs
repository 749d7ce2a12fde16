//! How fast an array grows, and when its document is full.

use super::census::Longest;

const MILLIS_A_DAY: f64 = 24.0 * 60.0 * 60.0 * 1000.0;
/// Growth over less than this is no growth to go by.
const DAYS_MIN: f64 = 1.0 / 24.0;

/// The growth of one array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    pub elements_per_day: f64,
    pub bytes_per_day: f64,
    /// Until its document reaches the limit.
    pub days: f64,
    /// Whether the elements' own dates tell it, or only the age of the document.
    pub by_elements: bool,
}

/// What becomes of an array of this length, if it goes on as it did.
pub fn forecast(length: u64, array: &Longest, limit_bytes: u64, now: i64) -> Option<Forecast> {
    let by_elements = array.span.days().filter(|days| *days >= DAYS_MIN);
    let by_age = || {
        let days = now.saturating_sub(array.created?) as f64 / MILLIS_A_DAY;
        Some(days).filter(|days| *days >= DAYS_MIN)
    };
    let days = by_elements.or_else(by_age)?;
    let elements_per_day = length as f64 / days;
    let bytes_per_day = array.bytes as f64 / days;
    let left = room(length, array, limit_bytes);
    (bytes_per_day > 0.0).then(|| Forecast {
        elements_per_day,
        bytes_per_day,
        days: left / bytes_per_day,
        by_elements: by_elements.is_some(),
    })
}

/// Bytes that the document may still grow by; none where no further element fits.
pub fn room(length: u64, array: &Longest, limit_bytes: u64) -> f64 {
    let left = limit_bytes.saturating_sub(array.document_bytes) as f64;
    let element = array.bytes as f64 / length.max(1) as f64;
    if left < element { 0.0 } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::census::Span;
    use serde_json::Value;

    #[test]
    fn growth_is_told_by_dates_or_by_age() {
        let day = MILLIS_A_DAY as i64;
        let mut array = Longest {
            id: Value::Null,
            bytes: 100_000,
            document_bytes: 200_000,
            newest_first: false,
            span: Span { from: 0, to: 10 * day },
            created: Some(0),
        };
        let growth = forecast(1_000, &array, 1_200_000, 100 * day).unwrap();
        assert_eq!((growth.elements_per_day, growth.days), (100.0, 100.0));
        assert!(growth.by_elements);
        array.span = Span::NONE;
        let growth = forecast(1_000, &array, 1_200_000, 100 * day).unwrap();
        assert_eq!((growth.elements_per_day, growth.days), (10.0, 1000.0));
        // No further element fits.
        array.document_bytes = 1_199_950;
        assert_eq!(forecast(1_000, &array, 1_200_000, 100 * day).unwrap().days, 0.0);
        array.created = None;
        assert_eq!(forecast(1_000, &array, 1_200_000, 100 * day), None);
    }
}
