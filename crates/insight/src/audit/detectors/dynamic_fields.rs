//! Keys that are data: dates, ids and numbers in the place of field names.

use super::Subject;
use crate::audit::census::{Family, KeyClass};
use crate::figures::count;
use crate::report::{Cure, Finding, Severity};
use serde_json::{Value, json};

pub fn look(subject: &Subject<'_>) -> Vec<Finding> {
    let families = subject.census.tree.families();
    families.filter_map(|family| judge(subject, family)).collect()
}

fn judge(subject: &Subject<'_>, family: &Family) -> Option<Finding> {
    let thresholds = &subject.thresholds.dynamic_fields;
    let distinct = family.distinct();
    let from = match family.class {
        KeyClass::Date | KeyClass::Id => thresholds.warn_keys,
        KeyClass::Number | KeyClass::Numbered => thresholds.warn_numbered_keys,
        KeyClass::Name => thresholds.warn_names,
    };
    if distinct < from {
        return None;
    }
    let critical = distinct >= thresholds.critical_keys;
    let severity = if critical { Severity::Critical } else { Severity::Warn };
    let parent = subject.census.tree.path(family.parent);
    let place = if parent.is_empty() { "documents".to_owned() } else { format!("'{parent}'") };
    let at_least = if family.is_cut() { "at least " } else { "" };
    let summary = format!(
        "Keys of {place} are {}: {at_least}{} different ones in {} documents, up to {} in one; \
         no index can serve them.",
        family.class.noun(),
        count(distinct),
        count(family.documents),
        count(family.in_document_max),
    );
    let path = match parent.is_empty() {
        true => family.template.clone(),
        false => format!("{parent}.{}", family.template),
    };
    Some(
        Finding::new(
            severity,
            &subject.collection.namespace,
            summary,
            cure(subject, family, &parent),
        )
        .path(path)
        .examples(family.examples.iter().map(|key| Value::from(key.as_str())))
        .figure("keys", distinct)
        .figure("documents", family.documents)
        .figure("keys_per_document_max", family.in_document_max)
        .figure("paths", subject.census.tree.paths()),
    )
}

/// The keys become values of an array, where an index reaches them.
fn cure(subject: &Subject<'_>, family: &Family, parent: &str) -> Cure {
    let collection = Value::from(&*subject.collection.namespace.collection);
    let node = subject.census.tree.node(family.parent);
    if node.in_array || node.array.is_some() {
        return Cure::validator("attribute", wants_array(parent));
    }
    let entry = json!({ name(family.class): "$$this.k", "value": "$$this.v" });
    let (filter, stage) = if parent.is_empty() {
        let like = json!({ "$regexMatch": { "input": "$$this.k", "regex": regex(family) } });
        let parts = |cond: Value| json!({ "$filter": { "input": { "$objectToArray": "$$ROOT" }, "cond": cond } });
        let rest = json!({ "$arrayToObject": parts(json!({ "$not": like })) });
        let entries = json!({ "$map": { "input": parts(like), "in": entry } });
        (json!({}), json!({ "$replaceWith": { "$mergeObjects": [rest, { "entries": entries }] } }))
    } else {
        let input = json!({ "$objectToArray": format!("${parent}") });
        let entries = json!({ "$map": { "input": input, "in": entry } });
        (json!({ parent: { "$type": "object" } }), json!({ "$set": { parent: entries } }))
    };
    let command = format!("db.getCollection({collection}).updateMany({filter}, [{stage}])");
    Cure::command("attribute", command)
}

/// A validator that wants an array where the keys are, for documents inside an array.
fn wants_array(path: &str) -> Value {
    let mut keys = path.split('.').rev();
    let last = keys.next().unwrap_or(path);
    let mut schema = json!({ "properties": { last: { "bsonType": "array" } } });
    for key in keys {
        // Above it lie documents and arrays of documents: whichever it is, it is meant.
        let items = json!({ "items": schema, "properties": schema["properties"] });
        schema = json!({ "properties": { key: items } });
    }
    json!({ "$jsonSchema": schema })
}

fn name(class: KeyClass) -> &'static str {
    match class {
        KeyClass::Date => "date",
        KeyClass::Id => "id",
        KeyClass::Number | KeyClass::Numbered | KeyClass::Name => "key",
    }
}

/// What the keys of a family match.
fn regex(family: &Family) -> String {
    match family.class {
        KeyClass::Date => "^[0-9]{4}([-_/:. ]?[WQwq]?[0-9]{1,2})*".to_owned(),
        KeyClass::Id => "^[0-9a-fA-F-]{16,}$".to_owned(),
        KeyClass::Number => "^[0-9]+$".to_owned(),
        KeyClass::Name => "^".to_owned(),
        KeyClass::Numbered => {
            let word = family.template.trim_end_matches("<number>");
            let word: String = word
                .chars()
                .map(|it| {
                    if it.is_alphanumeric() || it == '_' {
                        it.to_string()
                    } else {
                        format!("[{it}]")
                    }
                })
                .collect();
            format!("^{word}[0-9]+$")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::report::Remedy;
    use bson::raw::CString;
    use bson::{RawDocumentBuf, rawdoc};

    /// A document whose `counts` have these keys.
    fn counts<'a>(id: i32, keys: impl IntoIterator<Item = &'a str>) -> RawDocumentBuf {
        let mut counts = RawDocumentBuf::new();
        for key in keys {
            counts.append(CString::try_from(key).unwrap(), 1);
        }
        rawdoc! { "_id": id, "counts": counts }
    }

    #[test]
    fn dates_as_keys_are_found() {
        let months: Vec<String> = (1..=12).map(|month| format!("2024-{month:02}")).collect();
        let documents = (0..3).map(|id| counts(id, months.iter().map(String::as_str)));
        let findings = Fixture::new(documents).look(look);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(
            (finding.severity, finding.path.as_deref()),
            (Severity::Warn, Some("counts.<date>"))
        );
        assert_eq!(finding.evidence.examples[0], json!("2024-01"));
        assert_eq!(finding.evidence.figures["keys"], json!(12));
        assert_eq!(finding.evidence.figures["keys_per_document_max"], json!(12));
        let Remedy::Command(command) = &finding.cure.remedy else { panic!() };
        assert!(command.contains(r#"{"$objectToArray":"$counts"}"#), "{command}");
    }

    #[test]
    fn names_with_a_few_numbers_are_not() {
        let keys = ["line1", "line2", "line3", "jan", "feb", "2024-01", "2024-02", "md5", "h264"];
        assert!(Fixture::new((0..100).map(|id| counts(id, keys))).look(look).is_empty());
    }

    #[test]
    fn numbered_keys_on_top_are_found_from_many_on() {
        let document = |id: i32| {
            let mut document = rawdoc! { "_id": id, "name": "x" };
            document.append(CString::try_from(format!("user_{id}")).unwrap(), 1);
            document
        };
        assert!(Fixture::new((0..19).map(document)).look(look).is_empty());
        let findings = Fixture::new((0..1_500).map(document)).look(look);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, Severity::Critical);
        assert_eq!(findings[0].path.as_deref(), Some("user_<number>"));
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(command.contains("^user_[0-9]+$"), "{command}");
    }

    #[test]
    fn names_without_end_are_found() {
        let letters = |number: i32| {
            format!("{number:04}").bytes().map(|it| char::from(it + 49)).collect::<String>()
        };
        let few = (0..300).map(|id| counts(id, [&*letters(id % 90)]));
        assert!(Fixture::new(few).look(look).is_empty());
        let many = (0..900).map(|id| counts(id, [&*letters(id)]));
        let findings = Fixture::new(many).look(look);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path.as_deref(), Some("counts.<name>"));
    }

    #[test]
    fn keys_inside_arrays_are_cured_by_a_validator() {
        let documents = (0..30).map(|id| {
            let mut inner = RawDocumentBuf::new();
            inner.append(CString::try_from(format!("2024-01-{:02}", id + 1)).unwrap(), 1);
            rawdoc! { "_id": id, "items": [{ "days": inner }] }
        });
        let findings = Fixture::new(documents).look(look);
        let Remedy::Validator(validator) = &findings[0].cure.remedy else { panic!() };
        let days = &validator["$jsonSchema"]["properties"]["items"]["items"]["properties"]["days"];
        assert_eq!(days["bsonType"], json!("array"));
    }
}
