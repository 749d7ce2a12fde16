//! An account of a refusal in words: the first rule that is broken, the path to
//! the value that breaks it, and the value, cut where it is long.

use bson::{RawBsonRef, RawDocument};
use value::Element;
use value::element::{array_elements, elements, get};

/// Below which names an account goes on, in the order in which they are tried.
const DEEPER: &[&str] = &[
    "schemaRulesNotSatisfied",
    "propertiesNotSatisfied",
    "schemasNotSatisfied",
    "clausesNotSatisfied",
    "clausesSatisfied",
    "failingDependencies",
    "details",
];

/// What the first broken rule of `errInfo` is.
pub fn sentence(info: &RawDocument) -> String {
    let mut path = Vec::new();
    let mut at = match get(info, "details").and_then(|details| details.as_document()) {
        Some(details) => details,
        None => return words(info, "note").or_else(|| words(info, "reason")).unwrap_or_default(),
    };
    let mut rule = at;
    loop {
        if get(at, "operatorName").is_some() {
            rule = at;
        }
        step(at, &mut path);
        match DEEPER.iter().find_map(|name| first(get(at, name)?)) {
            Some(inner) if !is_error(inner) => at = inner,
            _ => break,
        }
    }
    tell(rule, at, &path)
}

/// Adds what a part of an account says of the path.
fn step(part: &RawDocument, path: &mut Vec<String>) {
    for name in ["propertyName", "failingProperty"] {
        path.extend(words(part, name));
    }
    if let Some(RawBsonRef::Int32(index)) = get(part, "itemIndex").map(|index| index.value()) {
        path.push(index.to_string());
    }
}

fn first(element: Element<'_>) -> Option<&RawDocument> {
    match element.value() {
        RawBsonRef::Document(document) => Some(document),
        RawBsonRef::Array(array) => array_elements(array).next()?.as_document(),
        _ => None,
    }
}

/// The details of an expression that could not be evaluated.
fn is_error(part: &RawDocument) -> bool {
    get(part, "errmsg").is_some()
}

fn tell(rule: &RawDocument, part: &RawDocument, path: &[String]) -> String {
    let name = words(rule, "operatorName").unwrap_or_default();
    let specified = get(rule, "specifiedAs").and_then(|given| elements(given.as_document()?).next());
    let mut path = path.join(".");
    // A condition of a filter names the field itself.
    if let Some(given) = specified
        && name.starts_with('$')
        && !given.key.starts_with('$')
    {
        given.key.clone_into(&mut path);
    }
    let place = if path.is_empty() { "the document".to_owned() } else { format!("'{path}'") };
    let rule_given = match specified {
        Some(given) if given.key == name => value::text::short_element(given),
        Some(given) => format!("{name} ({})", value::text::short_element(given)),
        None => name,
    };
    let mut told = format!("{place} does not satisfy {rule_given}");
    for (key, before) in [("missingProperties", "missing"), ("additionalProperties", "not allowed")] {
        if let Some(names) = list(part, key) {
            told.push_str(&format!("; {before}: {names}"));
        }
    }
    if let Some(reason) = words(part, "reason") {
        told.push_str(&format!(": {reason}"));
    }
    if let Some(error) = get(part, "details").and_then(first).and_then(|it| words(it, "errmsg")) {
        told.push_str(&format!(" ({error})"));
    }
    for (key, what) in [("numberOfItems", "items"), ("numberOfProperties", "fields")] {
        if let Some(count) = get(part, key) {
            told.push_str(&format!(", {} {what}", value::text::short(count.value())));
        }
    }
    for key in ["consideredValue", "consideredValues", "additionalItems", "expressionResult"] {
        if let Some(found) = get(part, key) {
            told.push_str(&format!("; found {}", value::text::short(found.value())));
        }
    }
    told
}

fn words(part: &RawDocument, name: &str) -> Option<String> {
    get(part, name)?.value().as_str().map(str::to_owned)
}

/// The names in an array, cut where there are many.
fn list(part: &RawDocument, name: &str) -> Option<String> {
    match get(part, name)?.value() {
        RawBsonRef::Array(array) => Some(value::text::short(RawBsonRef::Array(array))),
        _ => None,
    }
}
