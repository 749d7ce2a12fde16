//! Names and values as the page shows them.

use crate::figures;
use crate::report::shell;
use serde_json::Value;

/// A value longer than this is cut.
const VALUE_CHARS_MAX: usize = 200;

/// `unbounded_array` as `Unbounded array`.
pub fn title(detector: &str) -> String {
    let words = detector.replace('_', " ");
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The name of a figure.
pub fn label(name: &str) -> String {
    name.replace('_', " ")
}

/// A figure, in the unit that its name tells.
pub fn figure(name: &str, value: &Value) -> String {
    let Some(number) = value.as_f64() else { return literal(value) };
    let whole = number.max(0.0).round() as u64;
    if name.ends_with("bytes") || name.ends_with("bytes_per_day") {
        figures::bytes(whole)
    } else if name.starts_with("days") || name.ends_with("days") {
        figures::days(number)
    } else if name.ends_with("share") {
        figures::percent(number)
    } else if value.is_u64() || number >= 1_000.0 {
        figures::count(whole)
    } else {
        number.to_string()
    }
}

/// A literal value of the data.
pub fn literal(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => shell(other),
    };
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// `1 finding`, `2 findings`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", figures::count(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_values_are_readable() {
        assert_eq!(title("unbounded_array"), "Unbounded array");
        assert_eq!(title(""), "");
        assert_eq!(figure("max_bytes", &json!(1536)), "1.5 KB");
        assert_eq!(figure("max", &json!(50_000)), "50,000");
        assert_eq!(figure("days_to_limit", &json!(41.4)), "41 days");
        assert_eq!(figure("hot_share", &json!(0.6)), "60 %");
        assert_eq!(figure("growth_by", &json!("age")), "age");
        assert_eq!(literal(&json!({ "$oid": "00" })), "ObjectId('00')");
        assert_eq!(literal(&json!({ "a": 1 })), "{a: 1}");
        assert_eq!(literal(&json!("é".repeat(500))).chars().count(), VALUE_CHARS_MAX + 1);
        assert_eq!(counted(1, "finding"), "1 finding");
        assert_eq!(counted(1_200, "finding"), "1,200 findings");
    }
}
