//! An account of a refusal in words: the first rule that is broken, the path to
//! the value that breaks it, and the value; of rules of which one would do, each. It is read
//! off an account for people (`Extent::Words`), whose values are texts already.

use bson::{RawBsonRef, RawDocument};
use value::Element;
use value::element::{array_elements, elements, get};

/// How many rules are told of which one would do.
const ALTERNATIVES_MAX: usize = 4;

/// Where no further one of them is begun.
const ALTERNATIVES_BYTES_MAX: usize = 1024;

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

/// Which lists are broken only by all that stands in them.
const JOINT: &[(&str, &str)] = &[
    ("anyOf", "schemasNotSatisfied"),
    ("oneOf", "schemasNotSatisfied"),
    ("$or", "clausesNotSatisfied"),
    ("$nor", "clausesNotSatisfied"),
    ("$and", "clausesSatisfied"),
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
    Broken::find(details, Vec::new(), false).tell(ALTERNATIVES_BYTES_MAX)
}

/// The first rule that is broken, and where.
struct Broken<'a> {
    rule: &'a RawDocument,
    /// What is told of it: the rule itself, or a part inside.
    part: &'a RawDocument,
    path: Vec<String>,
    /// Whether it is broken because it holds.
    inverted: bool,
    /// The parts of a rule that only all of them break.
    joint: Vec<&'a RawDocument>,
}

impl<'a> Broken<'a> {
    fn find(account: &'a RawDocument, path: Vec<String>, inverted: bool) -> Broken<'a> {
        let mut found = Broken { rule: account, part: account, path, inverted, joint: Vec::new() };
        loop {
            if get(found.part, "operatorName").is_some() {
                found.rule = found.part;
            }
            step(found.part, &mut found.path);
            let deeper = |name: &&'static str| Some((*name, parts(get(found.part, name)?)));
            let Some((name, inner)) = DEEPER.iter().filter_map(deeper).find(|it| is_told(&it.1))
            else {
                return found;
            };
            found.inverted = match name {
                "clausesSatisfied" => true,
                "clausesNotSatisfied" => false,
                _ if operator(found.part) == "$not" => !found.inverted,
                _ => found.inverted,
            };
            match inner.as_slice() {
                [first, _, ..] if !JOINT.contains(&(operator(found.part), name)) => {
                    found.part = first;
                }
                [only] => found.part = only,
                _ => {
                    found.joint = inner;
                    return found;
                }
            }
        }
    }

    /// In words; where it is longer than `room`, no further alternative is begun.
    fn tell(&self, room: usize) -> String {
        let place = match self.place() {
            Some(path) => format!("'{}'", value::text::short_text(&path)),
            None => "the document".to_owned(),
        };
        if !self.joint.is_empty() {
            return self.tell_joint(&place, room);
        }
        let name = operator(self.rule);
        if self.inverted && name == "$and" {
            return format!("{place} may not satisfy {{}}, which all documents do");
        }
        let does = if self.inverted { "may not satisfy" } else { "does not satisfy" };
        format!("{place} {does} {}{}", rule(name, self.given()), self.why())
    }

    /// Each of the rules of which one would do or, where none may hold with the others, each
    /// of these.
    fn tell_joint(&self, place: &str, room: usize) -> String {
        let does = if self.inverted { "may not satisfy all" } else { "satisfies none" };
        let mut told = format!("{place} {does} of {}", operator(self.rule));
        for (at, part) in self.joint.iter().enumerate() {
            let room = room.saturating_sub(told.len());
            if at == ALTERNATIVES_MAX || room == 0 {
                told.push_str(&format!(", and {} more", self.joint.len() - at));
                break;
            }
            let inner = Broken::find(part, self.path.clone(), self.inverted).tell(room);
            let separator = if at == 0 { ':' } else { ',' };
            told.push_str(&format!("{separator} ({}) {inner}", at + 1));
        }
        told
    }

    /// The path to the value; `None` is the document.
    fn place(&self) -> Option<String> {
        // A condition of a filter names the field itself.
        if let Some(field) = self.given().and_then(|given| elements(given).next())
            && operator(self.rule).starts_with('$')
            && !field.key.starts_with('$')
        {
            return Some(field.key.to_owned());
        }
        (!self.path.is_empty()).then(|| self.path.join("."))
    }

    /// The rule as it was given, where it is repeated.
    fn given(&self) -> Option<&'a RawDocument> {
        get(self.rule, "specifiedAs").and_then(|given| given.as_document())
    }

    fn why(&self) -> String {
        let part = self.part;
        let mut why = String::new();
        if let Some(field) = words(part, "conditionalProperty") {
            why.push_str(&format!(" of '{field}'"));
        }
        if let Some(pattern) = words(part, "regexMatched") {
            why.push_str(&format!(" '{}'", value::text::short_text(pattern)));
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
        if let Some(indexes) = list(part, "matchingSchemaIndexes") {
            why.push_str(&format!(", {indexes}"));
        }
        if let Some(error) = get(part, "details")
            .and_then(|details| details.as_document())
            .and_then(|details| words(details, "errmsg"))
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
        if let Some(kind) = words(part, "consideredType") {
            why.push_str(&format!(" of type {kind}"));
        }
        if let Some(kinds) = list(part, "consideredTypes") {
            why.push_str(&format!(" of types {kinds}"));
        }
        why
    }
}

/// Adds what a part of an account says of the path.
fn step(part: &RawDocument, path: &mut Vec<String>) {
    for name in ["propertyName", "failingProperty"] {
        path.extend(words(part, name).map(str::to_owned));
    }
    if let Some(RawBsonRef::Int32(index)) = get(part, "itemIndex").map(|index| index.value()) {
        path.push(index.to_string());
    }
}

/// The parts of an account that stand in an element of it.
fn parts(element: Element<'_>) -> Vec<&RawDocument> {
    match element.value() {
        RawBsonRef::Document(document) => vec![document],
        RawBsonRef::Array(array) => {
            array_elements(array).filter_map(|part| part.as_document()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether there is anything, and not the details of what could not be evaluated.
fn is_told(parts: &[&RawDocument]) -> bool {
    parts.first().is_some_and(|first| get(first, "errmsg").is_none())
}

fn operator(part: &RawDocument) -> &str {
    words(part, "operatorName").unwrap_or_default()
}

/// A rule as it was given: `maxItems: 2`, `$lt (a: { $lt: 10 })`.
fn rule(name: &str, given: Option<&RawDocument>) -> String {
    let Some(given) = given else { return name.to_owned() };
    let shown = elements(given).map(|element| match element.key {
        "" => value::text::short_field("''", element.value()),
        key => value::text::short_field(key, element.value()),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match elements(given).next() {
        Some(first) if first.key == name => shown,
        _ => format!("{name} ({shown})"),
    }
}

fn words<'a>(part: &'a RawDocument, name: &str) -> Option<&'a str> {
    match get(part, name)?.value() {
        RawBsonRef::String(text) => Some(text),
        _ => None,
    }
}

/// What stands in an array, cut where it is much.
fn list(part: &RawDocument, name: &str) -> Option<String> {
    match get(part, name)?.value() {
        RawBsonRef::Array(array) => Some(value::text::short(RawBsonRef::Array(array))),
        _ => None,
    }
}
