//! Cures that several detectors propose.
//!
//! A cure works on the target as it is printed, and leaves every document that is there
//! writable: no bound is below what it is to bound.

mod moving;
mod overflow;
mod usage;

pub use moving::{move_elements, move_field, split_field, split_keys};
use overflow::{Chosen, choose};

use super::census::{ArrayCensus, Tree};
use super::detectors::Subject;
use super::facts::{Collection, Index, literal};
use super::target::Target;
use crate::effect::{self, effect};
use crate::figures::count;
use crate::report::{Cure, Remedy, name, shell};
use bson::{Bson, Document};
use command::Namespace;
use guard::Policy;
use guard::policy::file::File;
use serde_json::{Map, Value, json};

/// Elements that an array keeps in its document, at most and at least.
const HEAD_ELEMENTS_MAX: u64 = 1_000;
const HEAD_ELEMENTS_MIN: u64 = 10;
/// The same where the others are moved by a script and nothing keeps the array from growing.
const MOVED_HEAD_ELEMENTS_MAX: u64 = 100;
/// The share of a document's limit that an array at its bound may take up.
const BINDING_SHARE: f64 = 0.9;

/// A bound that nine of ten arrays keep already: 10, 20, 50, 100 …
pub fn head_elements(array: &ArrayCensus) -> u64 {
    rounded(array.lengths.quantile(0.9))
}

/// How many elements fit into the half of what is a large document.
pub fn head_room(subject: &Subject<'_>, array: &ArrayCensus) -> u64 {
    let room = subject.thresholds.massive_document.warn_bytes as f64 / 2.0;
    (room / array.element_bytes_max().max(1.0)) as u64
}

/// The next of 10, 20, 50, 100 … that a head may keep.
fn rounded(number: u64) -> u64 {
    let number = number.min(HEAD_ELEMENTS_MAX);
    let decades = std::iter::successors(Some(HEAD_ELEMENTS_MIN), |decade| decade.checked_mul(10));
    let mut rounds = decades.flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    rounds.find(|round| *round >= number).unwrap_or(HEAD_ELEMENTS_MAX)
}

/// What keeps the array at a path in bounds, on the target.
pub fn bound_array(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let cure = match subject.target {
        Target::Freeboard => by_policy(subject, path, array),
        Target::MongoDb if is_bound_enough(subject, array) => by_validator(subject, path, array),
        Target::MongoDb | Target::AzureDocumentDb => {
            return moved(subject, path, array);
        }
    };
    let all = count(array.lengths.max());
    match after(subject, path, array, &cure) {
        Some(after) => {
            cure.seen(format!("before: reads show all of up to {all} elements; after: {after}"))
        }
        None => cure,
    }
}

/// A script that moves elements, which the application must then read elsewhere.
fn moved(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let outermost = outermost(subject, path);
    // The elements that are moved are those of the outermost array.
    let moved = subject.census.tree.find(outermost).and_then(|node| node.array.as_deref());
    let room = head_room(subject, moved.unwrap_or(array));
    let head = head_elements(array).min(MOVED_HEAD_ELEMENTS_MAX).min(room);
    let cure = move_elements(subject, outermost, head);
    if outermost != path {
        return cure;
    }
    let (head, all) = (count(head), count(array.lengths.max()));
    cure.seen(format!(
        "before: reads show all of up to {all} elements; after: finds will show {head} of {all} \
         elements in the longest, the first ones"
    ))
}

/// What applications see under a cure.
fn after(subject: &Subject<'_>, path: &str, array: &ArrayCensus, cure: &Cure) -> Option<String> {
    let Remedy::Policy(file) = &cure.remedy else {
        let max = count(rounded_up(array.lengths.max()));
        return Some(format!(
            "reads stay as they are; writes that pass {max} elements are refused"
        ));
    };
    let file = File::parse(&file.to_string()).ok()?;
    let (_, policy) = file.policies.first()?;
    let policy = Policy::parse(&subject.collection.namespace, policy).ok()?;
    let rule = policy.arrays.iter().find(|rule| rule.path.as_str() == path)?;
    let whole = subject.collection.documents.is_some_and(|all| subject.census.documents() >= all);
    let longest = effect::Longest { elements: array.lengths.max(), exact: whole };
    Some(effect(rule, Some(longest)))
}

/// Pages where the server makes them; a plain bound where they cannot be.
fn by_policy(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let namespace = &subject.collection.namespace;
    if !can_be_declared(path) {
        let longest = subject.census.arrays().into_iter().map(|(_, it)| it.lengths.max()).max();
        let policy = json!({ "undeclared_arrays": { "max": rounded_up(longest.unwrap_or(0)) } });
        return Cure::policy("bound", namespace, policy);
    }
    let unique = subject
        .collection
        .indexes
        .iter()
        .any(|index| index.is_unique() && index.key.keys().any(|key| is_within(key, path)));
    // Elements of a unique index cannot be apart from each other.
    if unique || is_in_array(subject, path) {
        let rule = json!({ "max": rounded_up(array.lengths.max()) });
        return Cure::policy("bound", namespace, json!({ "arrays": { path: rule } }));
    }
    let Chosen { rule, why } = choose(subject, path, array);
    let cure = Cure::policy("outlier", namespace, json!({ "arrays": { path: rule } })).why(why);
    match &cure.remedy {
        // Where pages cannot be.
        Remedy::Policy(file) if File::parse(&file.to_string()).is_err() => {
            let rule = json!({ "max": rounded_up(array.lengths.max()) });
            Cure::policy("bound", namespace, json!({ "arrays": { path: rule } }))
        }
        _ => cure,
    }
}

/// A validator with the least bound that what is there keeps.
fn by_validator(subject: &Subject<'_>, path: &str, array: &ArrayCensus) -> Cure {
    let rule = max_items(&subject.census.tree, path, rounded_up(array.lengths.max()));
    validator("schema validation", subject.collection, &rule, "strict")
}

/// Whether a bound that what is there keeps is one that keeps documents from being full, and
/// none of them is large already.
fn is_bound_enough(subject: &Subject<'_>, array: &ArrayCensus) -> bool {
    let large = subject.thresholds.massive_document.warn_bytes;
    let room = subject.limits.document_bytes as f64 * BINDING_SHARE;
    let bound = rounded_up(array.lengths.max()) as f64;
    bound * array.element_bytes_max() <= room
        && array.longest.iter().all(|(_, it)| it.document_bytes < large)
}

/// The next round number.
pub fn rounded_up(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    number.max(1).next_multiple_of(10_u64.pow(digits.saturating_sub(1).max(2)))
}

/// Whether a policy can name the array: it is found by field names alone.
pub fn can_be_declared(path: &str) -> bool {
    let plain = |key: &str| {
        !key.is_empty()
            && !key.starts_with('$')
            && !key.contains('<')
            && value::path::array_index(key).is_none()
    };
    path.split('.').all(plain) && path.split('.').next() != Some("_id")
}

fn is_within(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether the array lies in another one.
fn is_in_array(subject: &Subject<'_>, path: &str) -> bool {
    outermost(subject, path) != path
}

/// The first array on the way of a path, or the path itself.
fn outermost<'a>(subject: &Subject<'_>, path: &'a str) -> &'a str {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let mut prefixes = ends.map(|end| &path[..end]);
    let is_array =
        |prefix: &&str| subject.census.tree.find(prefix).is_some_and(|node| node.array.is_some());
    prefixes.find(is_array).unwrap_or(path)
}

/// A `$jsonSchema` that bounds the array at a path, through documents, arrays of them and
/// fields named by data.
fn max_items(tree: &Tree, path: &str, max: u64) -> Value {
    let keys: Vec<&str> = path.split('.').collect();
    let mut schema = json!({ "maxItems": max });
    for (at, key) in keys.iter().enumerate().rev() {
        schema = match *key {
            "$[]" => json!({ "items": schema }),
            key if key.contains('<') => json!({ "additionalProperties": schema }),
            key => json!({ "properties": { key: schema } }),
        };
        let above = keys.get(..at).unwrap_or_default().join(".");
        let in_array = tree.find(&above).is_some_and(|node| node.array.is_some());
        if in_array && *key != "$[]" {
            schema = json!({ "items": schema });
        }
    }
    json!({ "$jsonSchema": schema })
}

/// The command that adds a rule to the validator of a collection, and has it enforced. A
/// validator that was off or only warned is kept, and enforced with it: documents that it finds
/// wrong already stay writable.
pub fn validator(pattern: &str, collection: &Collection, rule: &Value, level: &str) -> Cure {
    let known = collection.declared_validator().filter(|known| !known.is_empty());
    let joined = match known {
        Some(known) => json!({ "$and": [literal(known), rule] }),
        None => rule.clone(),
    };
    let level = match known {
        Some(_) if !collection.is_validated() => "moderate",
        _ => level,
    };
    let name = Value::from(&*collection.namespace.collection);
    let command = format!(
        "db.runCommand({{collMod: {name}, validator: {}, validationLevel: \"{level}\", \
         validationAction: \"error\"}})",
        shell(&joined)
    );
    Cure::command(pattern, command)
}

/// The command that drops an index.
pub fn drop_index(namespace: &Namespace, name: &str) -> Cure {
    let (collection, name) = (Value::from(&*namespace.collection), Value::from(name));
    Cure::command("fewer indexes", format!("db.getCollection({collection}).dropIndex({name})"))
}

/// The command that makes an index, its keys up or down, under a name that no other has; or
/// that shows one which is hidden.
pub fn create_index(
    collection: &Collection,
    key: &[(String, bool)],
    collation: Option<&Document>,
) -> String {
    let of = format!("db.getCollection({})", Value::from(&*collection.namespace.collection));
    let direction = |up: bool| if up { "1" } else { "-1" };
    let fields: Vec<(&str, bool)> = key.iter().map(|(path, up)| (&**path, *up)).collect();
    let same = |index: &&Index| index.fields() == fields && index.collation() == collation;
    let hidden = |index: &&Index| index.spec.get("hidden") == Some(&Bson::Boolean(true));
    if let Some(index) = collection.indexes.iter().filter(same).find(hidden) {
        return format!("{of}.unhideIndex({})", Value::from(&*index.name));
    }
    let mut options = Map::new();
    let parts = fields.iter().map(|(path, up)| format!("{path}_{}", direction(*up)));
    let usual = parts.collect::<Vec<_>>().join("_");
    let is_taken = |name: &str| collection.indexes.iter().any(|index| index.name == name);
    if is_taken(&usual) {
        let free = (2..).map(|number| format!("{usual}_{number}")).find(|name| !is_taken(name));
        options.insert("name".to_owned(), Value::from(free));
    }
    if let Some(collation) = collation {
        options.insert("collation".to_owned(), literal(collation));
    }
    let keys: Vec<String> =
        fields.iter().map(|(path, up)| format!("{}: {}", name(path), direction(*up))).collect();
    let options = match options.is_empty() {
        true => String::new(),
        false => format!(", {}", shell(&Value::Object(options))),
    };
    format!("{of}.createIndex({{{}}}{options})", keys.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::facts::Kind;
    use crate::report::Remedy;

    #[test]
    fn bounds_are_round_and_never_below_what_is_there() {
        for (number, bound) in [(0, 100), (300, 300), (301, 400), (1_500, 1_500), (12_345, 13_000)]
        {
            assert_eq!(rounded_up(number), bound);
        }
    }

    #[test]
    fn a_validator_that_only_warns_is_kept_beside_the_rule() {
        let rule = json!({ "a": { "$lt": 5 } });
        let namespace = || Namespace::new("d", "c").unwrap();
        let command = |options| {
            let collection = Collection::new(namespace(), Kind::Ordinary, options);
            match validator("bound", &collection, &rule, "strict").remedy {
                Remedy::Command(command) => command,
                Remedy::Policy(_) => panic!(),
            }
        };
        for unenforced in [
            bson::doc! { "validator": { "b": 1 }, "validationLevel": "off" },
            bson::doc! { "validator": { "b": 1 }, "validationAction": "warn" },
        ] {
            let command = command(unenforced);
            assert!(command.contains("$and: [{b: 1}"), "{command}");
            assert!(command.contains("validationLevel: \"moderate\""), "{command}");
        }
        let command = command(bson::doc! { "validator": { "b": 1 } });
        assert!(command.contains("$and: [{b: 1}"), "{command}");
        assert!(command.contains("validationLevel: \"strict\""), "{command}");
    }
}
