//! The difference of two policies, for people.

use bson::RawDocument;
use value::elements;

/// One line a key that differs: `+` new, `-` gone, `~` changed.
pub fn diff(before: Option<&RawDocument>, after: Option<&RawDocument>) -> Vec<String> {
    let (before, after) = (leaves(before), leaves(after));
    let mut lines = Vec::new();
    for (path, old) in &before {
        match after.iter().find(|(other, _)| other == path) {
            None => lines.push(format!("- {path}: {old}")),
            Some((_, new)) if new != old => lines.push(format!("~ {path}: {old} -> {new}")),
            Some(_) => {}
        }
    }
    for (path, new) in &after {
        if !before.iter().any(|(other, _)| other == path) {
            lines.push(format!("+ {path}: {new}"));
        }
    }
    lines.sort_by(|a, b| a.get(2..).cmp(&b.get(2..)));
    lines
}

/// Every value that is not a document, and the path that leads to it.
fn leaves(policy: Option<&RawDocument>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Some(policy) = policy {
        collect(policy, "", &mut found);
    }
    found
}

fn collect(document: &RawDocument, at: &str, found: &mut Vec<(String, String)>) {
    for element in elements(document) {
        let path = match at {
            "" => element.key.to_owned(),
            at => format!("{at}.{}", element.key),
        };
        match element.value().as_document() {
            Some(inner) if !inner.is_empty() => collect(inner, &path, found),
            _ => found.push((path, shown(element.value()))),
        }
    }
}

/// Numbers that are equal look the same, whatever their type.
fn shown(value: bson::RawBsonRef<'_>) -> String {
    match value::Number::from_value(value).and_then(|number| number.to_i64_exact()) {
        Some(number) => number.to_string(),
        None => value::text::value(value),
    }
}

#[cfg(test)]
mod tests {
    use super::diff;
    use bson::rawdoc;

    #[test]
    fn what_differs_is_named_by_its_path() {
        let before = rawdoc! { "arrays": { "a": { "max": 10 }, "b": { "max": 5 } }, "gone": 1 };
        let after = rawdoc! { "arrays": { "a": { "max": 20.0 }, "b": { "max": 5.0 } }, "new": {} };
        let lines = diff(Some(&before), Some(&after));
        assert_eq!(lines, ["~ arrays.a.max: 10 -> 20", "- gone: 1", "+ new: {}"]);
        assert_eq!(diff(None, Some(&before)).len(), 3);
        assert!(diff(Some(&after), Some(&after)).is_empty());
    }
}
