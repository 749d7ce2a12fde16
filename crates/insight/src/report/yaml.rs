//! A policy as the YAML people write: maps by indentation, small maps on one line.

use serde_json::Value;

/// A map of plain values that is no longer stays on one line.
const LINE_CHARS_MAX: usize = 72;

/// The lines of a value.
pub fn lines(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    block(value, 0, &mut lines);
    lines
}

fn block(value: &Value, indent: usize, lines: &mut Vec<String>) {
    let Value::Object(map) = value else {
        lines.push(format!("{:indent$}{}", "", flow(value)));
        return;
    };
    for (key, value) in map {
        let key = text(key);
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let line = format!("{:indent$}{key}: {}", "", flow(value));
                let nested = inner.values().any(Value::is_object);
                if !nested && line.chars().count() <= LINE_CHARS_MAX {
                    lines.push(line);
                } else {
                    lines.push(format!("{:indent$}{key}:", ""));
                    block(value, indent + 2, lines);
                }
            }
            _ => lines.push(format!("{:indent$}{key}: {}", "", flow(value))),
        }
    }
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", text(key), flow(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(string) => text(string),
        other => other.to_string(),
    }
}

/// A text, in quotes unless it is a plain word that YAML reads as one.
fn text(string: &str) -> String {
    let plain = string.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let starts = string.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let size = guard_size(string);
    let word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| string.eq_ignore_ascii_case(word));
    if size || (plain && starts && !word) {
        string.to_owned()
    } else {
        Value::from(string).to_string()
    }
}

/// `512KB` needs no quotes: no YAML reads it as a number.
fn guard_size(string: &str) -> bool {
    let digits = string.trim_end_matches(|unit: char| unit.is_ascii_uppercase());
    digits.len() < string.len()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && matches!(&string[digits.len()..], "KB" | "MB" | "GB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_policy_reads_back_as_it_was() {
        let policy = json!({
            "version": 1,
            "database": "no",
            "collections": { "user list": {
                "document": { "warn_bytes": "1MB", "max_bytes": 8_388_608 },
                "arrays": { "a.b": { "max": 1000, "on_limit": "overflow" }, "1e5": { "max": 2 } },
            } },
        });
        let text = lines(&policy).join("\n");
        assert!(text.contains("    document: { warn_bytes: 1MB, max_bytes: 8388608 }"), "{text}");
        assert!(text.contains("\"no\"") && text.contains("\"user list\":"), "{text}");
        let back: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(back, policy);
        guard::policy::file::File::parse(&text).unwrap();
    }
}
