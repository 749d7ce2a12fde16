//! Families of collections: names that differ by an identifier, and one shape.
//!
//! A name is split at `_`, `-` and `.`; names that agree in all parts but one are a family
//! if most of them have the fields that the commonest shape among them has.

use super::{Deployment, free_name};
use crate::audit::facts::Kind;
use crate::audit::outline::Outline;
use crate::figures::count;
use crate::report::{Cure, Finding, Severity, shell};
use command::Namespace;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

const SEPARATORS: &[char] = &['_', '-', '.'];
const EXAMPLES_MAX: usize = 5;
/// What stands for the part that differs.
const HOLE: &str = "{id}";

/// Names that differ in one part.
#[derive(Debug)]
pub struct Family<'a> {
    database: &'a str,
    /// The name with a hole in it.
    template: String,
    /// The field that tells the collections apart once they are one.
    discriminator: String,
    /// The word of the template that it is called by.
    word: String,
    members: Vec<(&'a Outline, &'a str)>,
}

impl Family<'_> {
    /// `shop.customer_{customer}_orders`.
    pub fn name(&self) -> String {
        let name = self.template.replace(HOLE, &format!("{{{}}}", self.discriminator));
        format!("{}.{name}", self.database)
    }

    pub fn namespaces(&self) -> impl Iterator<Item = String> {
        self.members.iter().map(|(outline, _)| outline.namespace.to_string())
    }
}

pub fn look(deployment: &Deployment<'_>) -> Vec<Finding> {
    let families = all_families(deployment);
    let findings: Vec<Finding> = families.iter().map(|family| judge(deployment, family)).collect();
    // Where there are families, they are why there are too many.
    if findings.is_empty() { too_many(deployment).into_iter().collect() } else { findings }
}

/// The families of a deployment.
pub fn all_families<'a>(deployment: &Deployment<'a>) -> Vec<Family<'a>> {
    let ordinary: Vec<&Outline> =
        deployment.collections.iter().filter(|it| it.kind == Kind::Ordinary).collect();
    families(deployment, &ordinary)
}

/// The families, the largest first; a collection belongs to one of them.
fn families<'a>(deployment: &Deployment<'_>, collections: &[&'a Outline]) -> Vec<Family<'a>> {
    let mut by_template: FxHashMap<(&str, String), Vec<(&Outline, &str)>> = FxHashMap::default();
    for outline in collections {
        for (template, part) in templates(&outline.namespace.collection) {
            let key = (&*outline.namespace.database, template);
            by_template.entry(key).or_default().push((outline, part));
        }
    }
    let mut candidates: Vec<_> = by_template.into_iter().collect();
    candidates.sort_by(|(a, left), (b, right)| right.len().cmp(&left.len()).then_with(|| a.cmp(b)));
    let mut taken: FxHashMap<&Namespace, ()> = FxHashMap::default();
    let mut families = Vec::new();
    for ((database, template), mut members) in candidates {
        members.retain(|(outline, _)| !taken.contains_key(&outline.namespace));
        keep_shape(&mut members, deployment.thresholds.collection_sprawl.same_shape_share);
        if (members.len() as u64) < deployment.thresholds.collection_sprawl.info_collections {
            continue;
        }
        taken.extend(members.iter().map(|(outline, _)| (&outline.namespace, ())));
        members.sort_by(|a, b| a.0.namespace.cmp(&b.0.namespace));
        // A field that is there keeps its name.
        let fields = members.iter().flat_map(|(outline, _)| outline.fields.iter().cloned());
        let word = discriminator(&template);
        let discriminator = free_name(&fields.collect(), &word);
        families.push(Family { database, template, discriminator, word, members });
    }
    families
}

/// The name with each of its parts cut out in turn.
fn templates(name: &str) -> Vec<(String, &str)> {
    let mut templates = Vec::new();
    let mut start = 0;
    let ends = name.match_indices(SEPARATORS).map(|(at, _)| at).chain([name.len()]);
    for end in ends {
        let part = &name[start..end];
        if !part.is_empty() {
            templates.push((format!("{}{HOLE}{}", &name[..start], &name[end..]), part));
            // `tenant42` differs by its number.
            let word = part.trim_end_matches(|digit: char| digit.is_ascii_digit());
            if !word.is_empty() && word.len() < part.len() {
                let cut = start + word.len();
                let template = format!("{}{HOLE}{}", &name[..cut], &name[end..]);
                templates.push((template, &part[word.len()..]));
            }
        }
        start = end + 1;
    }
    // A whole name cut out is no template.
    templates.retain(|(template, _)| template != HOLE);
    templates
}

/// Leaves the members that have the commonest shape, or nearly; empty ones have any.
fn keep_shape(members: &mut Vec<(&Outline, &str)>, share: f64) {
    let mut shapes: FxHashMap<&[String], usize> = FxHashMap::default();
    for (outline, _) in members.iter().filter(|(outline, _)| !outline.fields.is_empty()) {
        *shapes.entry(&outline.fields).or_default() += 1;
    }
    let commonest = shapes.into_iter().max_by_key(|(fields, count)| (*count, fields.len()));
    let Some((commonest, _)) = commonest else { return };
    let commonest = commonest.to_vec();
    members.retain(|(outline, _)| {
        outline.fields.is_empty() || likeness(&outline.fields, &commonest) >= share
    });
}

/// The share of fields that two sorted lists have in common; every document has an `_id`.
fn likeness(a: &[String], b: &[String]) -> f64 {
    let counts = |field: &&String| *field != "_id";
    let common = a.iter().filter(counts).filter(|field| b.binary_search(field).is_ok()).count();
    let all = a.iter().filter(counts).count() + b.iter().filter(counts).count() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// The word before the hole, or behind it: `customer_{id}_orders` goes by customer.
fn discriminator(template: &str) -> String {
    let (before, behind) = template.split_once(HOLE).unwrap_or((template, ""));
    let word = |text: &str, last: bool| {
        let mut words = text.split(SEPARATORS).filter(|word| !word.is_empty());
        if last { words.next_back() } else { words.next() }.map(str::to_owned)
    };
    match (word(before, true), word(behind, false)) {
        (Some(word), Some(_)) => word,
        // `orders_{id}`: what is left is what the collection holds.
        _ => "tenant".to_owned(),
    }
}

/// What the one collection is called: the words that are left, without the discriminator.
fn merged_name(family: &Family<'_>) -> String {
    let rest = family.template.replace(HOLE, "");
    let words: Vec<&str> =
        rest.split(SEPARATORS).filter(|word| !word.is_empty() && *word != family.word).collect();
    if words.is_empty() { family.word.clone() } else { words.join("_") }
}

fn judge(deployment: &Deployment<'_>, family: &Family<'_>) -> Finding {
    let thresholds = &deployment.thresholds.collection_sprawl;
    let members = family.members.len() as u64;
    let all = deployment.collections.len() as u64;
    let full = deployment
        .limits
        .collections_max
        .is_some_and(|max| all as f64 >= max as f64 * thresholds.critical_share);
    let severity = if full {
        Severity::Critical
    } else if members >= thresholds.warn_collections {
        Severity::Warn
    } else {
        Severity::Info
    };
    let documents: u64 = family.members.iter().map(|(outline, _)| outline.documents).sum();
    let shown = family.template.replace(HOLE, &format!("{{{}}}", family.discriminator));
    let summary = format!(
        "{} collections have one shape and names that differ by an identifier; together they \
         hold {} documents. One collection with a field '{}' does the same.",
        count(members),
        count(documents),
        family.discriminator,
    );
    let namespace = Namespace { database: family.database.into(), collection: shown.into() };
    let examples = family.members.iter().take(EXAMPLES_MAX);
    let indexes: usize = family.members.iter().map(|(outline, _)| outline.indexes).sum();
    let taken = deployment.collections.iter().map(|it| &it.namespace);
    let taken = taken.filter(|it| *it.database == *family.database);
    let names = taken.map(|it| it.collection.to_string()).collect();
    let mut finding = Finding::new(severity, &namespace, summary, merge(family, &names))
        .examples(examples.map(|(outline, _)| json!(&*outline.namespace.collection)))
        .figure("collections", members)
        .figure("documents", documents)
        .figure("indexes", indexes)
        .figure("collections_in_all", all);
    if let Some(max) = deployment.limits.collections_max {
        finding = finding.figure("limit", max);
    }
    finding
}

/// What copies every member into one collection, with its identifier in a field and its indexes
/// behind that field, and drops each that is there as it was. Before anything is copied it looks
/// for what cannot be merged, and says so.
fn merge(family: &Family<'_>, names: &FxHashSet<String>) -> Cure {
    let into = Value::from(free_name(names, &merged_name(family)));
    let (before, behind) = family.template.split_once(HOLE).unwrap_or((&family.template, ""));
    let (from, to) = (before.encode_utf16().count(), behind.encode_utf16().count());
    let field = Value::from(&*family.discriminator);
    let unique = family.members.iter().all(|(outline, _)| outline.unique_ids);
    // The same `_id` in two of them would be one document.
    let id = if unique { "" } else { "_id: {of: {$literal: of(name)}, id: \"$_id\"}, " };
    let members: Vec<&str> =
        family.members.iter().map(|(outline, _)| &*outline.namespace.collection).collect();
    let command = SCRIPT
        .replace("«id»", id)
        .replace("«of»", &format!("name.slice({from}, name.length - {to})"))
        .replace("«field»", &field.to_string())
        .replace("«into»", &into.to_string())
        .replace("«names»", &shell(&Value::from(members)));
    Cure::script("single collection", &command)
}

const SCRIPT: &str = r#"// Stop the writes to these collections first. Run it again if it was interrupted.
const into = db.getCollection(«into»), field = «field», there = db.getCollectionNames();
const names = «names».filter(name => there.includes(name));
const of = name => «of»;
const same = (a, b) => EJSON.stringify(a) === EJSON.stringify(b);
const wrong = [], wanted = [], left = [];
for (const {name, options} of db.getCollectionInfos({name: {$in: names}}))
  if (options && (options.validator || options.collation)) wrong.push(name + " has a validator or a collation: give it to the one collection and take it from this one");
for (const name of names) {
  if (db.getCollection(name).findOne({[field]: {$exists: true}})) wrong.push(name + " has documents with a field " + field + " already: rename it");
  for (const {v, ns, key, name: index, ...options} of db.getCollection(name).getIndexes()) {
    const keys = Object.keys(key), plain = keys.every(it => typeof key[it] !== "string" && !it.endsWith("$**"));
    if (same(keys, ["_id"])) continue;
    const alone = !plain || "expireAfterSeconds" in options, whole = alone ? key : {[field]: 1, ...key};
    const known = wanted.find(it => same(it.key, whole));
    if (Object.values(key).includes("text")) wrong.push(name + ": the text index " + index + " has to be dropped here and made on the one collection");
    if (options.unique && (alone || options.sparse)) wrong.push(name + ": the unique index " + index + " would be unique across all of them: make another one");
    if (!alone && Object.keys(whole)[0] !== field) wrong.push(name + ": the index " + index + " has a number in the place of a field name: make it by hand");
    if (known && !same(known.options, options)) wrong.push(name + ": the index " + index + " has other options than in " + known.of[0] + ": make them alike");
    if (known) known.of.push(name); else wanted.push({key: whole, options, index, of: [name]});
  }
}
for (const it of wanted) if (it.options.unique && it.of.length < names.length) wrong.push(it.of[0] + ": the index " + it.index + " is unique, and not all of them have it: make them alike");
if (wrong.length > 0) print("Nothing was merged. This cannot be merged as it is:\n" + wrong.join("\n"));
else {
  for (const it of wanted) into.createIndex(it.key, wanted.some(other => other !== it && other.index === it.index) ? it.options : {...it.options, name: it.index});
  into.createIndex({[field]: 1, _id: 1});
  const changed = name => ({$mergeObjects: ["$$ROOT", {«id»[field]: {$literal: of(name)}}]});
  for (const name of names) db.getCollection(name).aggregate([{$replaceWith: changed(name)}, {$merge: {into: «into», whenMatched: "keepExisting"}}]);
  // and where all documents are in it as they are here:
  for (const name of names) {
    const other = db.getCollection(name).aggregate([
      {$project: {_id: 0, whole: changed(name)}},
      {$lookup: {from: «into», localField: "whole._id", foreignField: "_id", as: "there"}},
      {$match: {$expr: {$ne: [["$whole"], "$there"]}}}, {$limit: 1}, {$project: {one: "$whole._id"}}
    ]).toArray();
    if (other.length === 0) db.getCollection(name).drop(); else left.push(name);
  }
  if (left.length > 0) print("These stay, since documents differ from those in " + «into» + ": " + left.join(", "));
}"#;

/// All collections together against the limit.
fn too_many(deployment: &Deployment<'_>) -> Option<Finding> {
    let thresholds = &deployment.thresholds.collection_sprawl;
    let all = deployment.collections.len() as u64;
    let limit = deployment.limits.collections_max.or(deployment.limits.collections_advised)?;
    let share = all as f64 / limit as f64;
    if share < thresholds.critical_share {
        return None;
    }
    let hard = deployment.limits.collections_max.is_some();
    let severity = if hard { Severity::Critical } else { Severity::Warn };
    let word = if hard { "can have" } else { "should have" };
    let summary = format!(
        "There are {} collections; {} {word} {} at most.",
        count(all),
        deployment.target.name(),
        count(limit),
    );
    let namespace = Namespace { database: "*".into(), collection: "*".into() };
    let command = "db.adminCommand({listDatabases: 1}).databases.map(d => [d.name, \
                   db.getSiblingDB(d.name).getCollectionNames().length])"
        .to_owned();
    Some(
        Finding::new(severity, &namespace, summary, Cure::command("single collection", command))
            .figure("collections", all)
            .figure("limit", limit),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::assert_cured;
    use super::*;
    use crate::audit::Thresholds;
    use crate::audit::target::Target;

    fn outline(name: &str, fields: &[&str]) -> Outline {
        Outline {
            namespace: Namespace { database: "shop".into(), collection: name.into() },
            kind: Kind::Ordinary,
            documents: 10,
            fields: fields.iter().map(ToString::to_string).collect(),
            scalars: Vec::new(),
            indexes: 1,
            unique_ids: true,
            reads: 0,
            followed: Vec::new(),
        }
    }

    fn found(collections: &[Outline], target: Target) -> Vec<Finding> {
        let thresholds = Thresholds::default();
        let deployment =
            Deployment { collections, target, limits: target.limits(), thresholds: &thresholds };
        let findings = look(&deployment);
        findings.iter().for_each(assert_cured);
        findings
    }

    const ORDER: &[&str] = &["_id", "item", "total"];

    #[test]
    fn tenants_with_a_collection_each_are_found() {
        for name in [
            |at: usize| format!("customer_{at}_orders"),
            |at: usize| format!("customer_{}_orders", ["ada", "bob", "cy"][at % 3].repeat(at + 1)),
        ] {
            let mut collections: Vec<_> = (0..25).map(|at| outline(&name(at), ORDER)).collect();
            collections.push(outline("products", &["_id", "name"]));
            let findings = found(&collections, Target::MongoDb);
            assert_eq!(findings.len(), 1);
            let finding = &findings[0];
            assert_eq!(finding.namespace, "shop.customer_{customer}_orders");
            assert_eq!(finding.severity, Severity::Warn);
            assert_eq!(finding.evidence.figures["collections"], json!(25));
            assert_eq!(finding.evidence.figures["collections_in_all"], json!(26));
            let crate::report::Remedy::Command(command) = &finding.cure.remedy else { panic!() };
            assert!(command.contains(r#"{into: "orders", "#), "{command}");
            // A collection that is there already is not taken for it.
            collections.push(outline("orders", ORDER));
            let findings = found(&collections, Target::MongoDb);
            let crate::report::Remedy::Command(command) = &findings[0].cure.remedy else {
                panic!()
            };
            assert!(command.contains(r#"{into: "orders2", "#), "{command}");
        }
        let numbered: Vec<_> = (0..6).map(|at| outline(&format!("tenant{at}"), ORDER)).collect();
        assert_eq!(found(&numbered, Target::MongoDb)[0].severity, Severity::Info);
    }

    #[test]
    fn a_field_that_is_there_is_not_written_over() {
        let fields = &["_id", "customer", "total"];
        let collections: Vec<_> =
            (0..25).map(|at| outline(&format!("customer_{at}_orders"), fields)).collect();
        let findings = found(&collections, Target::MongoDb);
        let crate::report::Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
        assert!(
            command.contains(r#"db.getCollection("orders"), field = "customer2""#),
            "{command}"
        );
    }

    #[test]
    fn names_with_a_common_beginning_are_no_family() {
        let shapes: [&[&str]; 6] = [
            &["_id", "name", "email"],
            &["_id", "total", "items"],
            &["_id", "title", "price"],
            &["_id", "text", "rating"],
            &["_id", "street", "city"],
            &["_id", "when", "what"],
        ];
        let names = ["users", "orders", "products", "reviews", "addresses", "events"];
        let collections: Vec<_> = names
            .iter()
            .zip(shapes)
            .map(|(it, shape)| outline(&format!("app_{it}"), shape))
            .collect();
        assert!(found(&collections, Target::MongoDb).is_empty());
        let few: Vec<_> = (0..4).map(|at| outline(&format!("log_{at}"), ORDER)).collect();
        assert!(found(&few, Target::MongoDb).is_empty());
    }

    #[test]
    fn the_limit_of_the_target_counts() {
        let names = |at: usize| format!("{}x", ["a", "b"][at % 2].repeat(at / 2 + 1));
        let different = |at: usize| outline(&names(at), &[&format!("field{at}")]);
        let many: Vec<_> = (0..800).map(different).collect();
        let findings = found(&many, Target::AzureDocumentDb);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Critical));
        assert!(found(&many[..799], Target::AzureDocumentDb).is_empty());
        assert!(found(&many, Target::MongoDb).is_empty());
    }
}
