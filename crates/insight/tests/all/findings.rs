//! What is wrong in a shop, and what is not.

use crate::place::{Place, found};
use bson::{Bson, Document, doc};
use freeboard_insight::Report;
use freeboard_insight::audit::Target;
use freeboard_insight::report::{Extent, Format, Remedy, Status};
use serde_json::json;

fn users() -> impl Iterator<Item = Document> {
    (0..300).map(|id: i32| {
        let length = if id % 100 == 7 { 1_200 } else { 5 };
        let activities: Vec<Bson> =
            (0..length).map(|at: i32| Bson::Document(doc! { "kind": "like", "n": at })).collect();
        doc! { "_id": id, "name": format!("user {id}"), "activities": activities }
    })
}

async fn fill_shop(place: &Place) {
    place.fill("users", users()).await;
    let blob = "x".repeat(3 * 1024 * 1024);
    place.fill("products", [doc! { "_id": "big", "image": blob }, doc! { "_id": "small" }]).await;
    place.fill("logins", ["Ann", "ann", "bob"].map(|id| doc! { "_id": id })).await;
    let months: Document =
        (1..=12).map(|month| (format!("2024-{month:02}"), Bson::Int32(1))).collect();
    place.fill("stats", [doc! { "_id": 1, "counts": months }]).await;
    for tenant in 0..6 {
        let order = doc! { "item": "pen", "total": 3 };
        place.fill(&format!("customer_{tenant}_orders"), [order]).await;
    }
    place.index("users", "name", doc! { "name": 1 }).await;
    place.index("users", "name_kind", doc! { "name": 1, "activities.kind": 1 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_found_with_its_evidence() {
    let place = Place::new().await;
    fill_shop(&place).await;
    let report = place.audit(&place.options()).await;
    assert_eq!((&*report.target.kind, report.version), ("freeboard", 1));
    assert!(report.scanned.complete);
    assert_eq!(report.scanned.documents, 300 + 2 + 3 + 1 + 6);

    let arrays = found(&report, "unbounded_array");
    assert_eq!(arrays.len(), 1);
    assert_eq!(
        (&*arrays[0].namespace, arrays[0].path.as_deref()),
        ("shop.users", Some("activities"))
    );
    assert_eq!(arrays[0].evidence.figures["max"], json!(1_200));
    assert_eq!(arrays[0].evidence.ids, [json!(7), json!(107), json!(207)]);

    let large = found(&report, "massive_document");
    assert_eq!(
        (&*large[0].namespace, &large[0].evidence.ids[..]),
        ("shop.products", &[json!("big")][..])
    );
    assert_eq!(found(&report, "unguarded_growth")[0].namespace, "shop.users");
    let collisions = found(&report, "case_collision");
    assert_eq!(collisions[0].evidence.examples, [json!("Ann"), json!("ann")]);
    assert_eq!(found(&report, "dynamic_fields")[0].path.as_deref(), Some("counts.<date>"));
    let sprawl = found(&report, "collection_sprawl");
    assert_eq!(sprawl[0].namespace, "shop.customer_{customer}_orders");
    assert_eq!(sprawl[0].evidence.figures["documents"], json!(6));
    assert_eq!(found(&report, "redundant_index")[0].path.as_deref(), Some("name"));
    // The same array is one finding.
    let also: Vec<&str> = arrays[0].also.iter().map(|it| &*it.detector).collect();
    assert_eq!(also, ["multikey_bloat", "unguarded_growth"]);
    assert!(arrays[0].also[0].summary.contains("'name_kind'"), "{:?}", arrays[0].also);
    // Indexes that are minutes old may be used yet.
    assert!(found(&report, "unused_index").is_empty());
    assert_eq!((report.looked_at.extent, report.looked_at.share), (Extent::All, Some(1.0)));

    assert_eq!(report.checklist.len(), 8);
    assert_eq!(report.checklist[0].status, Status::Fail);
    assert!(report.findings.is_sorted_by(|a, b| a.severity >= b.severity));
    place.stop().await;
}

/// What the report proposes is taken by the server, and the next report does not find it.
#[tokio::test(flavor = "multi_thread")]
async fn the_proposed_policy_cures() {
    let place = Place::new().await;
    place.fill("users", users()).await;
    let report = place.audit(&place.options()).await;
    let Remedy::Policy(policy) = &found(&report, "unbounded_array")[0].cure.remedy else {
        panic!()
    };
    let file = guard::policy::file::File::parse(&policy.to_string()).unwrap();
    let (collection, policy) = &file.policies[0];
    let policy = Document::try_from(&**policy).unwrap();
    place.command(doc! { "setGrowthPolicy": collection, "policy": policy }).await;
    let report = place.audit(&place.options()).await;
    assert!(found(&report, "unbounded_array").is_empty());
    assert!(found(&report, "unguarded_growth").is_empty());
    place.stop().await;
}

/// The policy keeps the end in the document that applications read, and changes no answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_cure_is_chosen_by_how_the_array_is_used() {
    let place = Place::new().await;
    place.fill("users", users()).await;
    let users = place.client.database("shop").collection::<Document>("users");
    let ask = async || {
        let mut answers = Vec::new();
        let last = doc! { "activities": { "$slice": -30 } };
        for id in [7, 8, 107] {
            let found = users.find_one(doc! { "_id": id });
            answers.push(found.projection(last.clone()).await.unwrap().unwrap());
            answers.push(users.find_one(doc! { "_id": id }).await.unwrap().unwrap());
        }
        let count = users.count_documents(doc! { "activities.n": 1_100 }).await.unwrap();
        answers.push(doc! { "count": count as i64 });
        answers
    };
    place.command(doc! { "profile": 2 }).await;
    let before = ask().await;
    place.command(doc! { "profile": 0 }).await;
    let report = place.audit(&place.options()).await;
    let cure = &found(&report, "unbounded_array")[0].cure;
    assert_eq!(
        cure.why,
        [
            "max: 50, which holds the 30 elements that reads take",
            "keep: newest, since 3 of 7 profiled reads that see it take its last elements",
            "read: merged, for the sake of 1 profiled filter by its elements, 3 of 7 profiled \
             reads that see it and send all of it",
        ]
    );
    let seen = cure.seen.as_deref().unwrap();
    assert!(seen.contains("after: reads stay as they are"), "{seen}");
    assert!(seen.contains("50 of 1,200 elements in the longest stay in it"), "{seen}");
    let Remedy::Policy(policy) = &cure.remedy else { panic!() };
    let file = guard::policy::file::File::parse(&policy.to_string()).unwrap();
    let policy = Document::try_from(&*file.policies[0].1).unwrap();
    place.command(doc! { "setGrowthPolicy": "users", "policy": policy }).await;
    let migrated = place.command(doc! { "migrateGrowth": "users", "limit": 1000 }).await;
    assert!(migrated.get("next").is_none_or(|next| *next == Bson::Null), "{migrated}");
    let pages = place.collection("users_activities").count_documents(doc! {}).await.unwrap();
    assert!(pages > 0);
    assert_eq!(ask().await, before);
    place.stop().await;
}

/// What is the same in the collection of every tenant is found once, and cured in all.
#[tokio::test(flavor = "multi_thread")]
async fn one_fault_of_many_tenants_is_one_finding() {
    let place = Place::new().await;
    for tenant in 0..8 {
        let name = format!("customer_{tenant}_orders");
        place.fill(&name, (0..3).map(|id| doc! { "_id": id, "item": id, "total": 3 })).await;
        place.index(&name, "item", doc! { "item": 1 }).await;
        place.index(&name, "item_total", doc! { "item": 1, "total": 1 }).await;
    }
    let users = (0..3).map(|id| doc! { "_id": id, "name": "x", "age": 3 });
    place.fill("users", users).await;
    place.index("users", "item", doc! { "name": 1 }).await;
    place.index("users", "item_total", doc! { "name": 1, "age": 1 }).await;
    let report = place.audit(&place.options()).await;
    let redundant = found(&report, "redundant_index");
    let mut places: Vec<&str> = redundant.iter().map(|it| &*it.namespace).collect();
    places.sort_unstable();
    assert_eq!(places, ["shop.customer_{customer}_orders", "shop.users"]);
    let folded = redundant.iter().find(|it| it.namespace.contains('{')).unwrap();
    assert_eq!(folded.evidence.figures["collections"], json!(8));
    let Remedy::Command(command) = &folded.cure.remedy else { panic!() };
    assert_eq!(command.lines().count(), 8, "{command}");
    place.stop().await;
}

/// What breaks first comes first; what is full is said to be full.
#[tokio::test(flavor = "multi_thread")]
async fn findings_are_in_the_order_of_what_breaks() {
    let place = Place::new().await;
    let items = |count: i32, days: i64, bytes: usize| -> Vec<Bson> {
        let now = bson::DateTime::now().timestamp_millis();
        let item = |at: i32| {
            let back = days * 86_400_000 * i64::from(at) / i64::from(count);
            doc! { "at": bson::DateTime::from_millis(now - back), "text": "x".repeat(bytes) }
        };
        (0..count).map(|at| Bson::Document(item(at))).collect()
    };
    place.fill("slow", [doc! { "_id": 1, "log": items(12_000, 900, 100) }]).await;
    place.fill("soon", [doc! { "_id": 1, "log": items(12_000, 30, 900) }]).await;
    // 16,775,000 bytes and some: no further element of 2,097 fits.
    let full = doc! { "_id": 1, "pad": "x".repeat(300), "log": items(8_000, 30, 2_063) };
    place.fill("full", [full]).await;
    let report = place.audit(&place.options()).await;
    let order: Vec<&str> = report.findings.iter().map(|it| &*it.namespace).collect();
    assert_eq!(order, ["shop.full", "shop.soon", "shop.slow"]);
    let summary = &report.findings[0].summary;
    assert!(summary.ends_with("its document is full."), "{summary}");
    place.stop().await;
}

/// The keys of a cluster are in its configuration.
#[tokio::test(flavor = "multi_thread")]
async fn shard_keys_are_read_of_the_configuration() {
    let place = Place::new().await;
    let order = |id: i32| doc! { "_id": id, "status": id % 3, "customer": id * 7_919 % 400 };
    place.fill("bad", (0..400).map(order)).await;
    place.fill("good", (0..400).map(order)).await;
    let keys = place.client.database("config").collection("collections");
    let row = |name: &str, key: Document| doc! { "_id": name, "key": key, "unique": false };
    keys.insert_one(row("shop.bad", doc! { "status": 1 })).await.unwrap();
    keys.insert_one(row("shop.good", doc! { "customer": 1 })).await.unwrap();
    let report = place.audit(&place.options()).await;
    let findings = found(&report, "shard_key");
    assert!(findings.iter().all(|it| it.namespace == "shop.bad"), "{findings:?}");
    let figures = &findings[0].evidence.figures;
    assert_eq!((&figures["fault"], &figures["values"]), (&json!("low_cardinality"), &json!(3)));
    let Remedy::Command(command) = &findings[0].cure.remedy else { panic!() };
    assert!(command.contains("refineCollectionShardKey"), "{command}");
    let status = |report: &Report| report.checklist[5].status;
    assert_eq!(status(&report), Status::Fail);
    keys.delete_one(doc! { "_id": "shop.bad" }).await.unwrap();
    let report = place.audit(&place.options()).await;
    assert!(found(&report, "shard_key").is_empty());
    assert_eq!(status(&report), Status::Pass);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_shop_has_no_findings() {
    let place = Place::new().await;
    let user = |id: i32| doc! { "_id": id, "email": format!("u{id}@x"), "tags": ["a", "b"] };
    place.fill("users", (0..500).map(user)).await;
    place.fill("orders", (0..500).map(|id| doc! { "_id": id, "user": id, "total": 3 })).await;
    place.index("users", "email", doc! { "email": 1 }).await;
    let used = place.collection("users").find_one(doc! { "email": "u7@x" }).await.unwrap();
    assert!(used.is_some());
    let report = place.audit(&place.options()).await;
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    let text = report.render(Format::Text { colour: false }).unwrap();
    assert!(text.contains("Nothing was found.") && !text.contains('\u{1b}'), "{text}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_forms_of_a_report_agree() {
    let place = Place::new().await;
    fill_shop(&place).await;
    let mut options = place.options();
    options.target = Some(Target::MongoDb);
    let report = place.audit(&options).await;
    let json = report.render(Format::Json).unwrap();
    let back: freeboard_insight::Report = serde_json::from_str(&json).unwrap();
    assert_eq!(back.findings, report.findings);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let finding = &value["findings"][0];
    for key in ["detector", "severity", "namespace", "path", "summary", "evidence", "cure"] {
        assert!(finding.get(key).is_some(), "{key}");
    }
    assert_eq!(value["target"]["kind"], json!("mongodb"));
    let text = report.render(Format::Text { colour: true }).unwrap();
    assert!(text.contains("unbounded_array") && text.contains('\u{1b}'));
    let plain = report.render(Format::Text { colour: false }).unwrap();
    // A screen a finding.
    let findings = plain.split("\n\n").filter(|part| part.contains("  cure"));
    for finding in findings {
        assert!(finding.lines().count() <= 24, "{finding}");
        assert!(finding.lines().all(|line| line.chars().count() <= 130), "{finding}");
    }
    let page = report.render(Format::Html).unwrap();
    assert_eq!(page.matches("<details class=\"finding ").count(), report.findings.len());
    place.stop().await;
}

/// What is asked of users and orders, so many times each.
async fn ask(place: &Place, times: usize) {
    place.command(doc! { "profile": 2 }).await;
    let lookup =
        doc! { "from": "users", "localField": "user", "foreignField": "_id", "as": "user" };
    for at in 0..times {
        let city = doc! { "city": format!("city {at}") };
        place.command(doc! { "find": "users", "filter": &city }).await;
        place.command(doc! { "count": "users", "query": city }).await;
        let stages = vec![doc! { "$match": { "_id": at as i32 } }, doc! { "$lookup": &lookup }];
        place.command(doc! { "aggregate": "orders", "pipeline": stages, "cursor": {} }).await;
        let by_id = doc! { "_id": at as i32 };
        let name = doc! { "name": 1 };
        place.command(doc! { "find": "notes", "filter": by_id, "projection": name }).await;
    }
    place.command(doc! { "profile": 0 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_often_is_found_and_what_is_asked_seldom_is_not() {
    const ASKED: [&str; 4] = ["bloated_document", "missing_index", "normalised", "uncomputed"];
    let place = Place::new().await;
    let user = |id: i32| doc! { "_id": id, "name": "Ann", "city": format!("city {id}") };
    place.fill("users", (0..300).map(user)).await;
    place.fill("orders", (0..300).map(|id| doc! { "_id": id, "user": id })).await;
    let note = |id: i32| doc! { "_id": id, "name": "x", "scan": "y".repeat(3_000) };
    place.fill("notes", (0..50).map(note)).await;
    ask(&place, 2).await;
    let report = place.audit(&place.options()).await;
    for detector in ASKED {
        assert!(found(&report, detector).is_empty(), "{detector}");
    }
    assert_eq!(report.checklist[4].status, Status::Pass);
    ask(&place, 20).await;
    let report = place.audit(&place.options()).await;
    let places = ASKED.map(|detector| {
        let one = found(&report, detector)[0];
        (&*one.namespace, one.path.as_deref().unwrap())
    });
    let users = ("shop.users", "city");
    assert_eq!(places, [("shop.notes", "scan"), users, ("shop.orders", "user"), users]);
    assert_eq!(found(&report, "missing_index")[0].evidence.figures["queries"], json!(44));
    // One read of everything, and nobody knows what is not needed.
    place.command(doc! { "profile": 2 }).await;
    place.command(doc! { "find": "notes", "filter": { "_id": 1 } }).await;
    let report = place.audit(&place.options()).await;
    assert!(found(&report, "bloated_document").is_empty());
    place.stop().await;
}
