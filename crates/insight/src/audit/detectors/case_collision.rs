//! String ids that are equal but for case, and queries that ignore case without an index
//! that does.

use super::Subject;
use crate::audit::census::Spellings;
use crate::audit::cure;
use crate::audit::facts::Operation;
use crate::figures::count;
use crate::report::{Cure, Finding, Severity};
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
    if colliding < thresholds.warn_values.max(1) || has_index(subject, path) {
        return None;
    }
    let share = colliding as f64 / values.max(1) as f64;
    let critical = share >= thresholds.critical_share && colliding > thresholds.warn_values;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let example = spellings.collisions.first()?;
    let summary = format!(
        "{} of {} values differ from another in case only, such as '{}' and '{}'.",
        count(colliding),
        count(values),
        example.first,
        example.second,
    );
    let literals: Vec<Value> =
        spellings.collisions.iter().flat_map(|it| [json!(it.first), json!(it.second)]).collect();
    let ids = if path == "_id" { literals.clone() } else { Vec::new() };
    Some(
        Finding::new(severity, &subject.collection.namespace, summary, cure_of(subject, path))
            .path(path)
            .ids(ids)
            .examples(literals)
            .figure("colliding", colliding)
            .figure("values", values),
    )
}

/// Regular expressions that ignore case, field by field.
fn queries(subject: &Subject<'_>) -> Vec<Finding> {
    let mut fields: Vec<(String, u64, String)> = Vec::new();
    for operation in &subject.collection.operations {
        for (path, pattern) in insensitive(operation) {
            match fields.iter_mut().find(|(known, ..)| *known == path) {
                Some((_, count, _)) => *count += operation.count,
                None => fields.push((path, operation.count, pattern)),
            }
        }
    }
    fields.retain(|(path, ..)| !has_index(subject, path));
    let found = |(path, queries, pattern): (String, u64, String)| {
        let summary = format!(
            "{} queries look for it by a regular expression that ignores case, and no index does: \
             each reads every key or document.",
            count(queries),
        );
        Finding::new(Severity::Warn, &subject.collection.namespace, summary, index(subject, &path))
            .path(path)
            .examples([pattern])
            .figure("queries", queries)
    };
    fields.into_iter().map(found).collect()
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
                found.push((key.clone(), format!("/{}/i", regex.pattern.as_str())));
            }
            Bson::Document(operators) => match operators.get("$regex") {
                Some(Bson::RegularExpression(regex)) if regex.options.as_str().contains('i') => {
                    found.push((key.clone(), format!("/{}/i", regex.pattern.as_str())));
                }
                Some(Bson::String(pattern))
                    if operators.get_str("$options").is_ok_and(|it| it.contains('i')) =>
                {
                    found.push((key.clone(), format!("/{pattern}/i")));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether an index on the field ignores case.
fn has_index(subject: &Subject<'_>, path: &str) -> bool {
    subject.collection.indexes.iter().any(|index| {
        let first = index.key.keys().next().is_some_and(|key| key == path);
        let strength = index.collation().and_then(|it| match it.get("strength") {
            Some(Bson::Int32(strength)) => Some(*strength),
            Some(Bson::Int64(strength)) => i32::try_from(*strength).ok(),
            Some(Bson::Double(strength)) => Some(*strength as i32),
            _ => None,
        });
        first && strength.is_some_and(|strength| strength <= IGNORES_CASE)
    })
}

/// The index of `_id` has the collation of its collection for ever, so there a validator
/// keeps one spelling.
fn cure_of(subject: &Subject<'_>, path: &str) -> Cure {
    if path != "_id" {
        return index(subject, path);
    }
    let lower = json!({ "$expr": { "$eq": ["$_id", { "$toLower": "$_id" }] } });
    let other = json!({ "_id": { "$not": { "$type": "string" } } });
    Cure::validator("normalised ids", json!({ "$or": [other, lower] }))
}

fn index(subject: &Subject<'_>, path: &str) -> Cure {
    let collation = doc! { "locale": "en", "strength": IGNORES_CASE };
    let namespace = &subject.collection.namespace;
    let command = cure::create_index(namespace, &[(path.to_owned(), true)], Some(&collation));
    Cure::command("collation index", command)
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
        assert!(matches!(findings[0].cure.remedy, Remedy::Validator(_)));
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
        let index = doc! { "name": "e", "key": { "email": 1 } };
        assert_eq!(emails().indexes([index]).look(look).len(), 1);
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
        let filter = doc! { "city": { "$regex": "^ulm" } };
        fixture.collection.operations = vec![Operation { filter, ..operation }];
        assert!(fixture.look(look).is_empty());
    }
}
