//! String ids that are equal but for case, and queries that ignore case without an index
//! that does.

use super::Subject;
use crate::audit::census::Spellings;
use crate::audit::cure;
use crate::audit::facts::{Operation, keeps_lower_case, literal};
use crate::audit::target::Target;
use crate::figures::count;
use crate::report::{Cure, Finding, Severity, name, shell};
use bson::{Bson, Document, doc};
use serde_json::{Value, json};

/// Collations of this strength and below ignore case.
const IGNORES_CASE: i32 = 2;

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let fields = subject.census.tree.nodes().filter_map(|(id, node)| {
        collisions(subject, &subject.census.tree.path(id), node.spellings.as_deref()?)
    });
    let mut findings: Vec<Finding> = fields.collect();
    findings.extend(queries(subject));
    findings
}

fn collisions(subject: &Subject<'_>, path: &str, spellings: &Spellings) -> Option<Finding> {
    let thresholds = &subject.thresholds.case_collision;
    let (colliding, values) = (spellings.colliding(), spellings.values());
    let kept = has_index(subject, path) || keeps_lower_case(subject.collection, path);
    if colliding < thresholds.warn_values.max(1) || kept {
        return None;
    }
    let share = colliding as f64 / values.max(1) as f64;
    let critical = share >= thresholds.critical_share && colliding > thresholds.warn_values;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let example = spellings.collisions.first()?;
    let summary = format!(
        "{} of {} values {} from another in case only, such as '{}' and '{}'.",
        count(colliding),
        count(values),
        if colliding == 1 { "differs" } else { "differ" },
        example.first,
        example.second,
    );
    let literals: Vec<Value> =
        spellings.collisions.iter().flat_map(|it| [json!(it.first), json!(it.second)]).collect();
    let ids = if path == "_id" { literals.clone() } else { Vec::new() };
    Some(
        Finding::new(severity, &subject.collection.namespace, summary, cure_of(subject, path))
            .path(path)
            .cause(format!("case {path}"))
            .ids(ids)
            .examples(literals)
            .figure("colliding", colliding)
            .figure("values", values),
    )
}

/// Regular expressions that ignore case, field by field: those with a beginning, which an
/// index can serve if the query asks otherwise.
fn queries(subject: &Subject<'_>) -> Vec<Finding> {
    let mut fields: Vec<(String, u64, String)> = Vec::new();
    for operation in &subject.collection.operations {
        let patterns = insensitive(operation).into_iter();
        for (path, pattern) in patterns.filter(|(_, pattern)| pattern.starts_with('^')) {
            match fields.iter_mut().find(|(known, ..)| *known == path) {
                Some((_, count, known)) => {
                    *count += operation.count;
                    // What serves a beginning serves the whole.
                    if is_whole(known) {
                        *known = pattern;
                    }
                }
                None => fields.push((path, operation.count, pattern)),
            }
        }
    }
    fields.retain(|(path, ..)| !has_index(subject, path));
    let found = |(path, queries, pattern): (String, u64, String)| {
        let summary = format!(
            "{} for it by a regular expression that ignores case, and no index does: each reads \
             every key or document.",
            match queries {
                1 => "1 query looks".to_owned(),
                queries => format!("{} queries look", count(queries)),
            },
        );
        let cure = match is_whole(&pattern) {
            true => index(subject, &path),
            false => lower_case(subject, &path),
        };
        Finding::new(Severity::Warn, &subject.collection.namespace, summary, cure)
            .cause(format!("case {path}"))
            .path(path)
            .examples([format!("/{pattern}/i")])
            .figure("queries", queries)
    };
    fields.into_iter().map(found).collect()
}

/// Whether a pattern is one text from its beginning to its end.
fn is_whole(pattern: &str) -> bool {
    let text = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    text.is_some_and(|text| !text.contains(['.', '*', '+', '?', '|', '[', '(', '{']))
}

fn insensitive(operation: &Operation) -> Vec<(String, String)> {
    let mut found = Vec::new();
    in_filter(&operation.filter, &mut found);
    for stage in &operation.pipeline {
        if let Ok(filter) = stage.get_document("$match") {
            in_filter(filter, &mut found);
        }
    }
    found
}

fn in_filter(filter: &Document, found: &mut Vec<(String, String)>) {
    for (key, value) in filter {
        match value {
            Bson::Array(parts) if key.starts_with('$') => {
                let parts = parts.iter().filter_map(Bson::as_document);
                parts.for_each(|part| in_filter(part, found));
            }
            Bson::RegularExpression(regex) if regex.options.as_str().contains('i') => {
                found.push((key.clone(), regex.pattern.as_str().to_owned()));
            }
            Bson::Document(operators) => match operators.get("$regex") {
                Some(Bson::RegularExpression(regex)) if regex.options.as_str().contains('i') => {
                    found.push((key.clone(), regex.pattern.as_str().to_owned()));
                }
                Some(Bson::String(pattern))
                    if operators.get_str("$options").is_ok_and(|it| it.contains('i')) =>
                {
                    found.push((key.clone(), pattern.clone()));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether an index on the field ignores case, or one on its copy in lower case does.
fn has_index(subject: &Subject<'_>, path: &str) -> bool {
    let copy = copy_of(path);
    subject.collection.indexes.iter().any(|index| {
        let strength = index.collation().and_then(|it| match it.get("strength") {
            Some(Bson::Int32(strength)) => Some(*strength),
            Some(Bson::Int64(strength)) => i32::try_from(*strength).ok(),
            Some(Bson::Double(strength)) => Some(*strength as i32),
            _ => None,
        });
        let ignores = strength.is_some_and(|strength| strength <= IGNORES_CASE);
        let first = index.key.keys().next();
        first.is_some_and(|key| (key == path && ignores) || *key == copy)
    })
}

/// The field with the same text in lower case.
fn copy_of(path: &str) -> String {
    if path == "_id" { "id_lower".to_owned() } else { format!("{path}_lower") }
}

/// Of `_id`s, which stay as they are, a validator keeps new ones in one spelling.
fn cure_of(subject: &Subject<'_>, path: &str) -> Cure {
    if path != "_id" || !subject.limits.validators_enforced {
        return index(subject, path);
    }
    let lower = json!({ "$expr": { "$eq": ["$_id", { "$toLower": "$_id" }] } });
    let other = json!({ "_id": { "$not": { "$type": "string" } } });
    let rule = json!({ "$or": [other, lower] });
    // Documents that are there stay writable.
    cure::validator("normalised ids", subject.collection, &rule, "moderate")
}

/// An index that ignores case, for queries that do; where there is none, the one of `_id`
/// among them, a copy in lower case.
fn index(subject: &Subject<'_>, path: &str) -> Cure {
    if path == "_id" || subject.target == Target::AzureDocumentDb {
        return lower_case(subject, path);
    }
    let collation = doc! { "locale": "en", "strength": IGNORES_CASE };
    let key = [(path.to_owned(), true)];
    let command = cure::create_index(subject.collection, &key, Some(&collation));
    let collection = Value::from(&*subject.collection.namespace.collection);
    let command = format!(
        "{command}\n// and queries ask for the whole text, with the collation:\n\
         // db.getCollection({collection}).find({{{}: \"…\"}}).collation({})",
        name(path),
        shell(&literal(&collation)),
    );
    Cure::command("collation index", command)
}

/// A copy in lower case, with an index.
fn lower_case(subject: &Subject<'_>, path: &str) -> Cure {
    let collection = Value::from(&*subject.collection.namespace.collection);
    let (copy, value) = (copy_of(path), Value::from(format!("${path}")));
    let index = cure::create_index(subject.collection, &[(copy.clone(), true)], None);
    let (field, copy) = (name(path), name(&copy));
    let command = format!(
        "db.getCollection({collection}).updateMany({{{field}: {{$type: \"string\"}}}}, \
         [{{$set: {{{copy}: {{$toLower: {value}}}}}}}])\n{index}\n\
         // and whatever writes {field} writes {copy}, and queries ask in lower case: \
         {{{copy}: /^…/}}"
    );
    Cure::command("lower-case copy", command)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::report::Remedy;
    use bson::rawdoc;

    #[test]
    fn ids_that_differ_in_case_are_found() {
        let documents = ["User123", "user124", "user123", "bob"].map(|id| rawdoc! { "_id": id });
        let findings = Fixture::new(documents).look(look);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path.as_deref(), Some("_id"));
        assert_eq!(findings[0].evidence.examples, [json!("User123"), json!("user123")]);
        assert_eq!(findings[0].evidence.ids, findings[0].evidence.examples);
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(command.contains("validationLevel: \"moderate\""), "{command}");
    }

    #[test]
    fn ids_that_nearly_collide_are_not() {
        let documents = ["User123", "user124", "User_123", "bob"].map(|id| rawdoc! { "_id": id });
        assert!(Fixture::new(documents).look(look).is_empty());
        // Names are no ids, and are spelt as people like.
        let names = ["Ann", "ann"].iter().enumerate();
        let documents = names.map(|(id, name)| rawdoc! { "_id": id as i32, "name": *name });
        assert!(Fixture::new(documents).look(look).is_empty());
    }

    fn emails() -> Fixture {
        let emails = ["A@x.org", "a@x.org"].iter().enumerate();
        Fixture::new(emails.map(|(id, email)| rawdoc! { "_id": id as i32, "email": *email }))
    }

    #[test]
    fn an_index_that_ignores_case_is_the_cure() {
        let findings = emails().look(look);
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(
            command
                .contains(r#"createIndex({email: 1}, {collation: {locale: "en", strength: 2}})"#),
            "{command}"
        );
        let collation = doc! { "locale": "en", "strength": 2 };
        let index = doc! { "name": "e", "key": { "email": 1 }, "collation": collation };
        assert!(emails().indexes([index]).look(look).is_empty());
        // An index of the same name does not stand in its way.
        let index = doc! { "name": "email_1", "key": { "email": 1 } };
        let findings = emails().indexes([index]).look(look);
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(command.contains(r#"{name: "email_1_2", collation: "#), "{command}");
    }

    #[test]
    fn a_pattern_with_a_beginning_is_asked_of_a_copy() {
        for (pattern, copied) in [("^ulm$", false), ("^ulm", true), ("^u.m$", true)] {
            let filter = doc! { "city": { "$regex": pattern, "$options": "i" } };
            let mut fixture = Fixture::new([rawdoc! { "_id": 1, "city": "Ulm" }]);
            let operation = Operation { filter, count: 9, ..Operation::default() };
            fixture.collection.operations = vec![operation];
            let findings = fixture.look(look);
            let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
            assert_eq!(command.contains("createIndex({city_lower: 1})"), copied, "{command}");
        }
    }

    #[test]
    fn queries_that_ignore_case_are_found() {
        let mut fixture = Fixture::new([rawdoc! { "_id": 1, "city": "Ulm" }]);
        let filter = doc! { "$and": [{ "city": { "$regex": "^ulm", "$options": "i" } }] };
        let operation = Operation { filter, count: 9, ..Operation::default() };
        fixture.collection.operations.push(operation.clone());
        let findings = fixture.look(look);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].evidence.examples, [json!("/^ulm/i")]);
        // It heeds case; no index serves it.
        for filter in [
            doc! { "city": { "$regex": "^ulm" } },
            doc! { "city": { "$regex": "ulm", "$options": "i" } },
        ] {
            fixture.collection.operations = vec![Operation { filter, ..operation.clone() }];
            assert!(fixture.look(look).is_empty());
        }
    }
}
