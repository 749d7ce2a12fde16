//! An account of a refusal in words: the first rule that is broken, the path to
//! the value that breaks it, and the value. It is read off an account for people
//! (`Extent::Words`), whose values are texts already.

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

/// Where the value that breaks a rule stands.
const VALUES: &[&str] = &[
    "duplicatedValue",
    "consideredValue",
    "consideredValues",
    "additionalItems",
    "expressionResult",
];

/// What the first broken rule of an account is.
pub fn of(details: &RawDocument) -> String {
    let mut found = Broken { rule: details, part: details, path: Vec::new(), inverted: false };
    loop {
        if get(found.part, "operatorName").is_some() {
            found.rule = found.part;
        }
        step(found.part, &mut found.path);
        let deeper = DEEPER.iter().find_map(|name| Some((*name, first(get(found.part, name)?)?)));
        match deeper {
            Some((name, inner)) if !is_error(inner) => {
                found.inverted = match name {
                    "clausesSatisfied" => true,
                    "clausesNotSatisfied" => false,
                    _ if is_negation(found.part) => !found.inverted,
                    _ => found.inverted,
                };
                found.part = inner;
            }
            _ => break,
        }
    }
    found.tell()
}

/// The first rule that is broken, and where.
struct Broken<'a> {
    rule: &'a RawDocument,
    /// What is told of it: the rule itself, or a part inside.
    part: &'a RawDocument,
    path: Vec<String>,
    /// Whether it is broken because it holds.
    inverted: bool,
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

fn is_negation(part: &RawDocument) -> bool {
    words(part, "operatorName").as_deref() == Some("$not")
}

/// The details of an expression that could not be evaluated.
fn is_error(part: &RawDocument) -> bool {
    get(part, "errmsg").is_some()
}

impl Broken<'_> {
    fn tell(&self) -> String {
        let name = words(self.rule, "operatorName").unwrap_or_default();
        let given = get(self.rule, "specifiedAs").and_then(|given| given.as_document());
        let mut path = self.path.join(".");
        // A condition of a filter names the field itself.
        if let Some(field) = given.and_then(|given| elements(given).next())
            && name.starts_with('$')
            && !field.key.starts_with('$')
        {
            field.key.clone_into(&mut path);
        }
        let place = match value::text::short_text(&path) {
            path if path.is_empty() => "the document".to_owned(),
            path => format!("'{path}'"),
        };
        let does = if self.inverted { "may not satisfy" } else { "does not satisfy" };
        format!("{place} {does} {}{}", rule(&name, given), self.why())
    }

    fn why(&self) -> String {
        let part = self.part;
        let mut why = String::new();
        if let Some(field) = words(part, "conditionalProperty") {
            why.push_str(&format!(" of '{field}'"));
        }
        if let Some(pattern) = words(part, "regexMatched") {
            why.push_str(&format!(" '{}'", value::text::short_text(&pattern)));
        }
        for (key, what) in
            [("missingProperties", "missing"), ("additionalProperties", "not allowed")]
        {
            if let Some(names) = list(part, key) {
                why.push_str(&format!("; {what}: {names}"));
            }
        }
        if let Some(reason) = words(part, "reason") {
            why.push_str(&format!(": {reason}"));
        }
        if let Some(error) = get(part, "details").and_then(first).and_then(|it| words(it, "errmsg"))
        {
            why.push_str(&format!(" ({error})"));
        }
        for (key, what) in [("numberOfItems", "items"), ("numberOfProperties", "fields")] {
            if let Some(count) = get(part, key) {
                why.push_str(&format!(", {} {what}", value::text::short(count.value())));
            }
        }
        if let Some(value) = VALUES.iter().find_map(|key| words(part, key)) {
            why.push_str(&format!("; found {value}"));
        }
        why
    }
}

/// A rule as it was given: `maxItems: 2`, `$lt (a: { $lt: 10 })`.
fn rule(name: &str, given: Option<&RawDocument>) -> String {
    let Some(given) = given else { return name.to_owned() };
    let shown: Vec<String> = elements(given).map(value::text::short_element).collect();
    let shown = shown.join(", ");
    match elements(given).next() {
        Some(first) if first.key == name => shown,
        _ => format!("{name} ({shown})"),
    }
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
