//! References that are followed by a `$lookup` in most reads of a collection: what is read
//! together is stored apart.

use super::Deployment;
use crate::audit::facts::{Kind, Lookup, literal};
use crate::audit::outline::{Followed, Outline, copy_name};
use crate::figures::{count, percent};
use crate::report::{Cure, Finding, Severity, member, name};
use serde_json::Value;

/// What a parent keeps of its children.
const CHILDREN_MAX: usize = 10;

pub fn look(deployment: &Deployment<'_>) -> Vec<Finding> {
    let outlines = deployment.collections.iter().filter(|it| it.kind != Kind::View);
    outlines
        .flat_map(|outline| {
            let followed = outline.followed.iter();
            followed.filter_map(|it| judge(deployment, outline, it))
        })
        .collect()
}

fn judge(deployment: &Deployment<'_>, outline: &Outline, followed: &Followed) -> Option<Finding> {
    let thresholds = &deployment.thresholds.normalised;
    let share = followed.count as f64 / outline.reads.max(1) as f64;
    let seldom = followed.count < thresholds.warn_lookups.max(1) || share < thresholds.info_share;
    if seldom || followed.copied {
        return None;
    }
    let often = share >= thresholds.warn_share;
    let severity = if often { Severity::Warn } else { Severity::Info };
    let lookup = &followed.lookup;
    let summary = format!(
        "{} of {} reads ({}) follow '{}' to {} by a $lookup: they read together what is stored \
         apart.",
        count(followed.count),
        count(outline.reads),
        percent(share),
        lookup.local,
        lookup.from,
    );
    let other = deployment.collections.iter().find(|it| {
        it.namespace.database == outline.namespace.database
            && *it.namespace.collection == *lookup.from
    });
    let mut finding =
        Finding::new(severity, &outline.namespace, summary, cure_of(outline, followed, other))
            .path(lookup.local.clone())
            .examples([literal(&lookup.stage)])
            .figure("lookups", followed.count)
            .figure("reads", outline.reads)
            .figure("share", (share * 1000.0).round() / 1000.0)
            .figure("from", Value::from(&*lookup.from))
            .figure("foreign_field", Value::from(&*lookup.foreign))
            .figure("shapes", followed.shapes)
            .figure("docs_examined", followed.examined)
            .figure("millis", followed.millis);
    if let Some(other) = other {
        finding = finding.figure("from_documents", other.documents);
    }
    Some(finding)
}

/// A copy of the fields that are read, in the document that refers to them; of many
/// children, a few.
fn cure_of(outline: &Outline, followed: &Followed, other: Option<&Outline>) -> Cure {
    let fields = match followed.lookup.fields.is_empty() {
        false => followed.lookup.fields.clone(),
        true => other.map(|it| it.scalars.clone()).unwrap_or_default(),
    };
    let many = followed.many || followed.lookup.local == "_id";
    let pattern = if many { "subset" } else { "extended_reference" };
    let mut command = copy(outline, followed, &fields, many);
    if !many && !fields.is_empty() {
        command += &follow(outline, followed, &fields);
    }
    Cure::command(pattern, command)
}

/// The field for the copy: where the reads put it, unless something is there already.
fn place_of_copy(outline: &Outline, lookup: &Lookup) -> String {
    let taken = lookup.into == lookup.local || outline.fields.contains(&lookup.into);
    if taken { copy_name(&lookup.into) } else { lookup.into.clone() }
}

/// What copies the fields once.
fn copy(outline: &Outline, followed: &Followed, fields: &[String], many: bool) -> String {
    let lookup = &followed.lookup;
    let into = place_of_copy(outline, lookup);
    let mut stages = Vec::new();
    if many {
        stages.push(format!("{{$limit: {CHILDREN_MAX}}}"));
    }
    if !fields.is_empty() {
        let wanted: Vec<String> =
            fields.iter().map(|field| format!("{}: 1", name(field))).collect();
        stages.push(format!("{{$project: {{_id: 0, {}}}}}", wanted.join(", ")));
    }
    let pipeline = match stages.is_empty() {
        true => String::new(),
        false => format!(" pipeline: [{}],", stages.join(", ")),
    };
    let found = match many {
        true => "1".to_owned(),
        false => format!("{{$first: {}}}", Value::from(format!("${into}"))),
    };
    let collection = Value::from(&*outline.namespace.collection);
    let text = |text: &str| Value::from(text);
    format!(
        "db.getCollection({collection}).aggregate([\n  \
         {{$lookup: {{from: {}, localField: {}, foreignField: {},{pipeline} as: {}}}}},\n  \
         {{$project: {{{}: {found}}}}},\n  \
         {{$merge: {{into: {collection}, whenMatched: \"merge\", whenNotMatched: \"discard\"}}}}\n\
         ])",
        text(&lookup.from),
        text(&lookup.local),
        text(&lookup.foreign),
        text(&into),
        name(&into),
    )
}

/// What carries a change of the original to its copies.
fn follow(outline: &Outline, followed: &Followed, fields: &[String]) -> String {
    let lookup = &followed.lookup;
    let into = place_of_copy(outline, lookup);
    let sets: Vec<String> = fields
        .iter()
        .map(|field| {
            format!("{}: {}", name(&format!("{}.{field}", into)), member("changed", field))
        })
        .collect();
    format!(
        "\n// and with each change of {}:\n\
         const follow = changed => db.getCollection({}).updateMany({{{}: {}}}, \
         {{$set: {{{}}}}})",
        name(&lookup.from),
        Value::from(&*outline.namespace.collection),
        name(&lookup.local),
        member("changed", &lookup.foreign),
        sets.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::assert_cured;
    use super::*;
    use crate::audit::Thresholds;
    use crate::audit::facts::{Collection, Operation};
    use crate::audit::target::Target;
    use crate::report::Remedy;
    use bson::{Document, doc, rawdoc};
    use command::Namespace;

    fn outline(name: &str, operations: Vec<Operation>) -> Outline {
        let namespace = Namespace { database: "shop".into(), collection: name.into() };
        let mut collection = Collection::new(namespace, Kind::Ordinary, Document::new());
        collection.operations = operations;
        let mut census = crate::audit::census::Census::new(0);
        census.add(
            &rawdoc! { "_id": 1, "name": "Ann", "email": "a@x", "past": { "a": 1 }, "list": [1] },
        );
        Outline::new(&collection, &census)
    }

    fn aggregate(stages: Vec<Document>, count: u64) -> Operation {
        let command = "aggregate".to_owned();
        Operation { command, pipeline: stages, count, ..Operation::default() }
    }

    fn lookup(local: &str, foreign: &str) -> Document {
        doc! { "$lookup": { "from": "customers", "localField": local, "foreignField": foreign, "as": "customer" } }
    }

    fn found(operations: Vec<Operation>) -> Vec<Finding> {
        let collections = [outline("orders", operations), outline("customers", vec![])];
        let (target, thresholds) = (Target::MongoDb, Thresholds::default());
        let deployment = Deployment {
            collections: &collections,
            target,
            limits: target.limits(),
            thresholds: &thresholds,
        };
        let findings = look(&deployment);
        findings.iter().for_each(assert_cured);
        findings
    }

    fn command(finding: &Finding) -> &str {
        match &finding.cure.remedy {
            Remedy::Command(command) => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reference_that_is_always_followed_is_found() {
        let find = Operation { command: "find".to_owned(), count: 10, ..Operation::default() };
        let findings = found(vec![aggregate(vec![lookup("customerId", "_id")], 30), find]);
        assert_eq!(findings.len(), 1);
        let finding = &findings[0];
        assert_eq!(
            (finding.severity, finding.path.as_deref()),
            (Severity::Warn, Some("customerId"))
        );
        assert_eq!(finding.evidence.figures["share"], 0.75);
        assert_eq!(finding.evidence.examples[0]["$lookup"]["from"], "customers");
        assert_eq!(finding.cure.pattern, "extended_reference");
        // Of the other collection, what is small and plain.
        assert!(
            command(finding).contains("{$project: {_id: 0, name: 1, email: 1}}"),
            "{}",
            command(finding)
        );
        assert!(command(finding).contains(
            "updateMany({customerId: changed._id}, {$set: {\"customer.name\": changed.name"
        ));
    }

    #[test]
    fn the_fields_that_are_used_are_copied() {
        let project = doc! { "$project": { "total": 1, "customer.name": 1 } };
        let findings = found(vec![aggregate(vec![lookup("customerId", "_id"), project], 30)]);
        assert!(command(&findings[0]).contains("{$project: {_id: 0, name: 1}}"));
        // The reference itself stays.
        let mut same = lookup("customerId", "_id");
        same.get_document_mut("$lookup").unwrap().insert("as", "customerId");
        let findings = found(vec![aggregate(vec![same], 30)]);
        assert!(command(&findings[0]).contains("{$project: {customerId_copy: {$first"));
        let children = found(vec![aggregate(vec![lookup("_id", "orderId")], 30)]);
        assert_eq!(children[0].cure.pattern, "subset");
        assert!(command(&children[0]).contains("{$limit: 10}"));
    }

    #[test]
    fn one_that_is_seldom_followed_is_not() {
        let find = |count| Operation { command: "find".to_owned(), count, ..Operation::default() };
        let joins = |count| aggregate(vec![lookup("customerId", "_id")], count);
        assert!(found(vec![joins(9)]).is_empty());
        assert!(found(vec![joins(30), find(121)]).is_empty());
        assert_eq!(found(vec![joins(30), find(60)])[0].severity, Severity::Info);
        // As many, but of different references.
        let fields = ["a", "b", "c", "d"];
        let different = fields.map(|field| aggregate(vec![lookup(field, "_id")], 8));
        assert!(found(different.to_vec()).is_empty());
    }
}
