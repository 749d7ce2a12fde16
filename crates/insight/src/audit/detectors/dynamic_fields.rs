//! Keys that are data: dates, ids and numbers in the place of field names.

use super::Subject;
use crate::audit::census::{Family, KeyClass, Tree};
use crate::audit::cure::split_keys;
use crate::figures::{count, counted};
use crate::report::{Cure, Finding, Severity, shell};
use serde_json::{Value, json};

/// The array that keys beside other fields go to.
const ENTRIES: &str = "entries";
/// Entries that an array may have; more are documents of their own.
const ENTRIES_MAX: u64 = 100;
/// A field is there by its name if this share of the documents has it.
const STABLE_SHARE: f64 = 0.1;

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
        "Keys of {place} are {}: {at_least}{} different ones in {}, up to {} in one; \
         no index can serve them.",
        family.class.noun(),
        count(distinct),
        counted(family.documents, "document"),
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
        .cause(format!("keys {parent}"))
        .examples(family.examples.iter().map(|key| Value::from(key.as_str())))
        .figure("keys", distinct)
        .figure("documents", family.documents)
        .figure("keys_per_document_max", family.in_document_max)
        .figure("paths", subject.census.tree.paths()),
    )
}

/// The keys become values of an array, where an index reaches them; very many become documents
/// of their own. Fields that are there by their names stay.
fn cure(subject: &Subject<'_>, family: &Family, parent: &str) -> Cure {
    let stable = stable(subject, family);
    let node = subject.census.tree.node(family.parent);
    if node.in_array || node.array.is_some() {
        return Cure::script("attribute", &in_array(subject, family, parent, &stable));
    }
    let command = if parent.is_empty() {
        let stays = [&["_id".to_owned(), ENTRIES.to_owned()], &stable[..]].concat();
        on_top(subject, family, &stays)
    } else if !stable.is_empty() {
        beside_others(subject, family, parent, &stable)
    } else if family.in_document_max > ENTRIES_MAX {
        return split_keys(subject, parent);
    } else {
        let entries = entries(family, json!({ "$objectToArray": format!("${parent}") }));
        let filter = json!({ parent: { "$type": "object" } });
        update(subject, &filter, &json!({ "$set": { parent: entries } }))
    };
    Cure::command("attribute", command)
}

/// The fields beside the keys that are no data: many documents have them.
fn stable(subject: &Subject<'_>, family: &Family) -> Vec<String> {
    let tree = &subject.census.tree;
    let all = match family.parent == Tree::ROOT {
        true => subject.census.documents(),
        false => tree.node(family.parent).count,
    };
    let children = tree.children(family.parent);
    children
        .filter(|(_, node)| node.family.is_none() && *node.key != *"_id")
        .filter(|(_, node)| node.count as f64 >= all as f64 * STABLE_SHARE)
        .map(|(_, node)| node.key.to_string())
        .collect()
}

fn entries(family: &Family, input: Value) -> Value {
    let entry = json!({ name(family.class): "$$this.k", "value": "$$this.v" });
    json!({ "$map": { "input": input, "in": entry } })
}

/// The fields of a document that stay, and those that go.
fn parts(input: &str, stays: &[String]) -> (Value, Value) {
    let part =
        |cond: Value| json!({ "$filter": { "input": { "$objectToArray": input }, "cond": cond } });
    let stay = json!({ "$in": ["$$this.k", stays] });
    (part(stay.clone()), part(json!({ "$not": [stay] })))
}

fn on_top(subject: &Subject<'_>, family: &Family, stays: &[String]) -> String {
    let (stay, go) = parts("$$ROOT", stays);
    let before = json!({ "$ifNull": [format!("${ENTRIES}"), []] });
    let filter = json!({ "$expr": { "$gt": [{ "$size": go }, 0] } });
    let all = json!({ "$concatArrays": [before, entries(family, go)] });
    let whole = json!({ "$mergeObjects": [{ "$arrayToObject": stay }, { ENTRIES: all }] });
    update(subject, &filter, &json!({ "$replaceWith": whole }))
}

fn beside_others(
    subject: &Subject<'_>,
    family: &Family,
    parent: &str,
    stable: &[String],
) -> String {
    let stays = [&[ENTRIES.to_owned()], stable].concat();
    let (stay, go) = parts(&format!("${parent}"), &stays);
    let before = json!({ "$ifNull": [format!("${parent}.{ENTRIES}"), []] });
    let is_object = json!({ "$eq": [{ "$type": format!("${parent}") }, "object"] });
    // Only of documents can the fields be taken.
    let some = json!({ "$cond": [is_object, { "$gt": [{ "$size": go }, 0] }, false] });
    let all = json!({ "$concatArrays": [before, entries(family, go)] });
    let whole = json!({ "$mergeObjects": [{ "$arrayToObject": stay }, { ENTRIES: all }] });
    update(subject, &json!({ "$expr": some }), &json!({ "$set": { parent: whole } }))
}

fn update(subject: &Subject<'_>, filter: &Value, stage: &Value) -> String {
    let collection = Value::from(&*subject.collection.namespace.collection);
    format!("db.getCollection({collection}).updateMany({}, [{}])", shell(filter), shell(stage))
}

/// Documents inside an array are turned one by one, unless they change in between.
fn in_array(subject: &Subject<'_>, family: &Family, parent: &str, stable: &[String]) -> String {
    let collection = Value::from(&*subject.collection.namespace.collection);
    let mut keys = parent.split('.');
    let top = keys.next().unwrap_or(parent);
    let rest: Vec<&str> = keys.collect();
    let own = subject.census.tree.node(family.parent).array.is_some();
    // The elements of an array stay documents; a document in one becomes an array.
    let stays = [&[ENTRIES.to_owned()], stable].concat();
    let whole = own || !stable.is_empty();
    let turned = match whole {
        true => format!(
            "go.length ? {{...stay, {ENTRIES}: [...(value.{ENTRIES} ?? []), ...go]}} : value"
        ),
        false => "go".to_owned(),
    };
    format!(
        "const is = value => Object.prototype.toString.call(value) === \"[object Object]\" && !value._bsontype;\n\
         const turn = value => {{\n  \
         const stays = {}, stay = {{}}, go = [];\n  \
         for (const key in value) stays.includes(key) ? stay[key] = value[key] : go.push({{{}: key, value: value[key]}});\n  \
         return {turned};\n}};\n\
         const walk = (value, keys) => Array.isArray(value) ? {} : \
         !is(value) ? value : keys.length === 0 ? turn(value) : \
         keys[0] in value ? {{...value, [keys[0]]: walk(value[keys[0]], keys.slice(1))}} : value;\n\
         for (const one of db.getCollection({collection}).find({{{}: {{$type: \"object\"}}}}, {{{top}: 1}})) \
         db.getCollection({collection}).updateOne({{_id: one._id, {top}: one.{top}}}, \
         {{$set: {{{top}: walk(one.{top}, {})}}}})",
        json!(if whole { stays } else { Vec::new() }),
        name(family.class),
        match whole {
            true => "value.map(it => walk(it, keys))",
            // What was turned before is an array at the end of the path.
            false => "keys.length === 0 ? value : value.map(it => walk(it, keys))",
        },
        crate::report::name(parent),
        json!(rest),
        top = crate::report::name(top),
    )
}

fn name(class: KeyClass) -> &'static str {
    match class {
        KeyClass::Date => "date",
        KeyClass::Id => "id",
        KeyClass::Number | KeyClass::Numbered | KeyClass::Name => "key",
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
        assert!(command.contains(r#"{$objectToArray: "$counts"}"#), "{command}");
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
        // What every document has stays.
        assert!(command.contains(r#"["_id", "entries", "name"]"#), "{command}");
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
    fn keys_inside_arrays_are_turned_one_by_one() {
        let documents = (0..30).map(|id| {
            let mut inner = RawDocumentBuf::new();
            inner.append(CString::try_from(format!("2024-01-{:02}", id + 1)).unwrap(), 1);
            rawdoc! { "_id": id, "items": [{ "days": inner }] }
        });
        let findings = Fixture::new(documents).look(look);
        let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(command.contains(r#"walk(one.items, ["days"])"#), "{command}");
    }
}
