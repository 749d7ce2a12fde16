//! The forms of a report as they are, to be looked at: `UPDATE_GOLDENFILES=1` writes them.

use super::*;
use crate::audit::detectors::fixture::Fixture;
use crate::audit::facts::Operation;
use bson::{doc, rawdoc};
use command::Namespace;
use serde_json::json;
use std::path::Path;

fn spread() -> Spread {
    let bar = |to, count| Bar { to, count };
    Spread {
        count: 100,
        min: 3,
        mean: 123.4,
        p50: 5,
        p90: 20,
        p99: 40,
        max: 12_000,
        histogram: vec![bar(8, 60), bar(16, 20), bar(32, 15), bar(64, 4), bar(16_384, 1)],
    }
}

fn findings() -> Vec<Finding> {
    let users = Namespace { database: "shop".into(), collection: "users".into() };
    let rule = json!({ "max": 20, "on_limit": "overflow" });
    let overflow = Cure::policy("outlier", &users, json!({ "arrays": { "activities": rule } }));
    let why = ["max: 20, which nine of ten arrays keep already", "read: merged, the default"];
    let seen = "before: reads show all of up to 12,000 elements; after: reads stay as they are, up \
                to 16 MB a document; 20 of 12,000 elements in the longest stay in it";
    let overflow = overflow.why(why.map(str::to_owned).into()).seen(seen.to_owned());
    let drop =
        Cure::command("fewer indexes", "db.getCollection(\"users\").dropIndex(\"a_1\")".to_owned());
    let rule = "{$jsonSchema: {properties: {tags: {maxItems: 300}}}}";
    let rule = format!("db.runCommand({{collMod: \"users\", validator: {rule}}})");
    let named =
        |detector: &str, finding: Finding| Finding { detector: detector.to_owned(), ..finding };
    let summary = "The longest of 100 arrays has 12,000 elements (half have 5 or fewer, 99 % have 40 or \
                   fewer); it grows by 33 a day and fills its document in 41 days.";
    vec![
        named(
            "unbounded_array",
            Finding::new(Severity::Critical, &users, summary.to_owned(), overflow)
                .path("activities")
                .ids([json!({ "$oid": "507f1f77bcf86cd799439011" }), json!("ann"), json!(70_007)])
                .examples(["ann: 12000 elements, 1.1 MB"])
                .figure("max", 12_000)
                .figure("elements_per_day", 33.1)
                .figure("growth_by", "dates of elements"),
        ),
        named(
            "unguarded_growth",
            Finding::new(
                Severity::Warn,
                &users,
                "The array grows.".to_owned(),
                Cure::command("schema validation", rule),
            )
            .path("tags"),
        ),
        named(
            "unused_index",
            Finding::new(Severity::Info, &users, "No read has used it.".to_owned(), drop)
                .path("a_1"),
        ),
    ]
}

fn report() -> Report {
    let item = |item: &str, status, reason: &str| Item {
        item: item.to_owned(),
        status,
        reason: reason.to_owned(),
    };
    let array = Array { path: "activities".to_owned(), lengths: spread() };
    let users = Collection {
        namespace: "shop.users".to_owned(),
        kind: "collection".to_owned(),
        documents: Some(100),
        scanned: 100,
        whole: true,
        indexes: 2,
        sizes: Some(spread()),
        arrays: vec![array],
    };
    Report {
        version: VERSION,
        looked_at: LookedAt {
            extent: Extent::All,
            share: Some(1.0),
            sentence: "All was looked at: 100 documents.".to_owned(),
        },
        target: Target {
            kind: "mongodb".to_owned(),
            address: "db.example.org:27017".to_owned(),
            version: "8.2.0".to_owned(),
            database: None,
        },
        scanned: Scanned {
            started: "2026-11-16T08:00:00Z".to_owned(),
            seconds: 1.25,
            mode: "full".to_owned(),
            complete: true,
            documents: 100,
            bytes: 1_234_567,
            collections: vec![users],
            notes: vec![Note {
                namespace: Some("shop.names".to_owned()),
                note: "a view: its documents are others'".to_owned(),
                missed: false,
            }],
        },
        checklist: vec![
            item("No unbounded arrays", Status::Fail, "unbounded_array in shop.users (activities)"),
            item("Shard keys are good", Status::Pass, "no collection is sharded"),
            item("Updates are atomic", Status::NotKnown, "it is not written in the data"),
        ],
        findings: findings(),
    }
}

fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/golden").join(name);
    if std::env::var_os("UPDATE_GOLDENFILES").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, golden, "{name}");
}

#[test]
fn reports_look_as_they_did() {
    let report = report();
    assert_golden("report.txt", &report.render(Format::Text { colour: false }).unwrap());
    assert_golden("report.json", &report.render(Format::Json).unwrap());
}

/// What the detectors of what clients ask find in a collection that has all their faults.
fn asked() -> Report {
    let product = |id: i32| {
        let text = |bytes: usize| "x".repeat(bytes);
        rawdoc! { "_id": id, "name": "Road-250", "shop": 3, "about": text(400), "feed": text(4_000) }
    };
    let mut fixture = Fixture::new((0..30).map(product));
    let of = |command: &str| Operation {
        namespace: "shop.things".to_owned(),
        command: command.to_owned(),
        plan: "COLLSCAN".to_owned(),
        count: 40,
        millis: 90,
        documents_examined: 40 * 1_200,
        returned: 120,
        ..Operation::default()
    };
    let find = Operation {
        filter: doc! { "shop": 3, "price": { "$gte": 10 } },
        sort: doc! { "name": 1 },
        projection: doc! { "name": 1, "price": 1 },
        ..of("find")
    };
    let group = doc! { "_id": "$kind", "n": { "$sum": 1 }, "mean": { "$avg": "$price" } };
    let sums = Operation {
        pipeline: vec![doc! { "$match": { "shop": 3 } }, doc! { "$group": group }],
        ..of("aggregate")
    };
    let lookup = doc! {
        "from": "makers", "localField": "makerId", "foreignField": "_id", "as": "maker",
    };
    let fields = doc! { "name": 1, "maker.name": 1, "maker.country": 1 };
    let joins = Operation {
        pipeline: vec![
            doc! { "$match": { "_id": 7 } },
            doc! { "$lookup": lookup },
            doc! { "$project": fields },
        ],
        plan: "EXPRESS".to_owned(),
        documents_examined: 240,
        count: 120,
        ..of("aggregate")
    };
    fixture.collection.operations = vec![joins, find, sums];
    let findings = fixture.all();
    let names = ["bloated_document", "missing_index", "normalised", "uncomputed"];
    assert_eq!(findings.iter().map(|it| &*it.detector).collect::<Vec<_>>(), names);
    Report { findings, ..report() }
}

#[test]
fn what_clients_ask_looks_as_it_did() {
    let report = asked();
    assert_golden("asked.txt", &report.render(Format::Text { colour: false }).unwrap());
    assert_golden("asked.json", &report.render(Format::Json).unwrap());
    let page = report.render(Format::Html).unwrap();
    let (_, findings) = page.split_once("<section id=\"findings\">").unwrap();
    let (findings, _) = findings.split_once("</section>").unwrap();
    assert_golden("asked.html", &(findings.replace("><", ">\n<") + "\n"));
}

#[test]
fn differences_look_as_they_did() {
    let old = report();
    let mut new = report();
    new.scanned.started = "2026-11-26T08:00:00Z".to_owned();
    new.findings.remove(2);
    new.findings[1].severity = Severity::Critical;
    new.scanned.collections[0].documents = Some(1_100);
    new.scanned.collections[0].arrays[0].lengths.max = 13_000;
    if let Some(sizes) = &mut new.scanned.collections[0].sizes {
        sizes.max = 1_012_000;
    }
    let diff = Diff::new(&old, &new).unwrap();
    assert_eq!((diff.days, diff.gone.len(), diff.worse.len()), (10.0, 1, 1));
    let largest = diff.growth.iter().find(|it| it.what == What::LargestDocumentBytes).unwrap();
    assert_eq!(largest.per_day, Some(100_000.0));
    assert_eq!(largest.days_to_limit.map(f64::round), Some(158.0));
    assert_golden("diff.txt", &diff.text(false));
    let nothing = Diff::new(&old, &old).unwrap();
    assert!(nothing.text(false).contains("Nothing changed."));
}

#[test]
fn two_findings_of_one_place_are_not_taken_for_each_other() {
    let mut old = report();
    let mut second = old.findings[0].clone();
    second.severity = Severity::Warn;
    old.findings.push(second);
    assert!(Diff::new(&old, &old).unwrap().text(false).contains("Nothing changed."));

    let mut new = old.clone();
    new.findings.remove(0);
    let diff = Diff::new(&old, &new).unwrap();
    assert_eq!((diff.gone.len(), diff.better.len(), diff.appeared.len()), (1, 0, 0));
    assert_eq!(diff.gone[0].severity, Severity::Critical);
}

#[test]
fn what_was_not_looked_at_is_not_gone() {
    let mut old = report();
    old.scanned.notes.clear();
    old.scanned.collections.iter_mut().for_each(|it| it.whole = true);
    let mut new = old.clone();
    new.findings.clear();
    assert_eq!(Diff::new(&old, &new).unwrap().gone.len(), old.findings.len());
    let refused = |new: &Report| Diff::new(&old, new).unwrap_err().to_string();

    let mut other = new.clone();
    other.target.database = Some("elsewhere".to_owned());
    assert!(refused(&other).contains("the new one of the database 'elsewhere'"));

    let mut nothing = new.clone();
    nothing.looked_at = LookedAt::new(&[], &[]);
    assert!(refused(&nothing).contains("Nothing was looked at"));

    let mut sample = new.clone();
    sample.scanned.collections.iter_mut().for_each(|it| it.whole = false);
    assert!(refused(&sample).contains("did not look at all of shop.users"));
    // What it still finds is compared.
    sample.findings.clone_from(&old.findings);
    assert!(Diff::new(&old, &sample).is_ok());

    let note = "not authorized".to_owned();
    let missed = Note { namespace: Some("shop.users".to_owned()), note, missed: true };
    new.scanned.notes = vec![missed];
    new.scanned.collections.clear();
    assert!(refused(&new).contains("did not look at all of shop.users"));
}
