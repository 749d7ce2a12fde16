//! How much is read, and what is noted instead of failing.

use crate::place::{Place, found};
use bson::doc;
use freeboard_insight::audit;
use freeboard_insight::audit::{Budget, Options, Reach};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn sampled(place: &Place, count: u64) -> Options {
    Options { reach: Reach::Sample(count), ..place.options() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_reads_no_more_than_asked() {
    let place = Place::new().await;
    place.fill("numbers", (0..3_000).map(|id| doc! { "_id": id, "at": id })).await;
    place.fill("texts", (0..3_000).map(|id| doc! { "_id": format!("user_{id}") })).await;
    place.fill("ids", (0..3_000).map(|at| doc! { "at": at })).await;
    place
        .fill(
            "mixed",
            (0..3_000).map(|at| match at {
                0 => doc! { "_id": { "a": 1 } },
                at => doc! { "_id": at },
            }),
        )
        .await;
    place.fill("few", (0..10).map(|at| doc! { "_id": at })).await;
    place.command(doc! { "profile": 2 }).await;
    let report = place.audit(&sampled(&place, 160)).await;
    place.command(doc! { "profile": 0 }).await;
    let scanned: Vec<_> =
        report.scanned.collections.iter().map(|it| (&*it.namespace, it.scanned)).collect();
    for (namespace, scanned) in &scanned {
        let expected = if *namespace == "shop.few" { 10 } else { 160 };
        assert_eq!(*scanned, expected, "{namespace}");
    }
    assert_eq!(scanned.len(), 5);
    let numbers = report.scanned.collections.iter().find(|it| it.namespace == "shop.numbers");
    assert_eq!(numbers.unwrap().documents, Some(3_000));
    // The server looked at no more than it sent.
    let profile = place.collection("system.profile").clone_with_type::<bson::Document>();
    let filter = doc! { "appName": "freeboard audit", "ns": { "$ne": "shop.system.profile" } };
    let mut examined = 0;
    let mut entries = profile.find(filter).await.unwrap();
    while entries.advance().await.unwrap() {
        let entry = entries.deserialize_current().unwrap();
        examined += entry.get_i32("docsExamined").unwrap_or(0);
    }
    assert_eq!(examined, 4 * 160 + 10);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn views_and_capped_collections_are_noted() {
    let place = Place::new().await;
    place.fill("users", [doc! { "_id": 1 }]).await;
    place.command(doc! { "create": "names", "viewOn": "users", "pipeline": [] }).await;
    place.command(doc! { "create": "log", "capped": true, "size": 4096 }).await;
    place.fill("log", [doc! { "_id": 1 }]).await;
    let report = place.audit(&place.options()).await;
    let note = |namespace: &str| {
        let notes = report.scanned.notes.iter();
        notes.filter(|it| it.namespace.as_deref() == Some(namespace)).count()
    };
    assert_eq!((note("shop.names"), note("shop.log"), note("shop.users")), (1, 1, 0));
    assert_eq!(report.scanned.documents, 2);
    let kinds: Vec<_> = report.scanned.collections.iter().map(|it| &*it.kind).collect();
    assert!(kinds.contains(&"view") && kinds.contains(&"capped"), "{kinds:?}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_database_may_be_asked_for() {
    let place = Place::new().await;
    place.fill("users", [doc! { "_id": 1 }]).await;
    let other = place.client.database("other").collection("things");
    other.insert_one(doc! { "_id": 1 }).await.unwrap();
    let all = place.audit(&place.options()).await;
    assert_eq!(all.scanned.collections.len(), 2);
    let options = Options { database: Some("other".to_owned()), ..place.options() };
    let one = place.audit(&options).await;
    assert_eq!(one.scanned.collections.len(), 1);
    assert_eq!(one.scanned.collections[0].namespace, "other.things");
    assert_eq!(one.target.database.as_deref(), Some("other"));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_used_up_leaves_a_report() {
    let place = Place::new().await;
    for number in 0..5 {
        place.fill(&format!("c{number}x"), (0..2_000).map(|id| doc! { "_id": id })).await;
    }
    let budget = Budget { time: Some(Duration::from_millis(1)), load: None };
    let report = place.audit(&Options { budget, ..place.options() }).await;
    assert!(!report.scanned.complete);
    let notes = &report.scanned.notes;
    assert!(notes.iter().any(|it| it.note.contains("the time budget was used up")), "{notes:?}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_audit_reports_what_it_saw() {
    let place = Place::new().await;
    place.fill("a", (0..1_000).map(|id| doc! { "_id": id })).await;
    // It would take for ever at this load.
    let budget = Budget { time: None, load: Some(1e-6) };
    let options = Options { budget, ..place.options() };
    let stop = CancellationToken::new();
    let auditing = audit::audit(&options, &stop);
    let interrupting = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        stop.cancel();
    };
    let (report, ()) = tokio::join!(auditing, interrupting);
    let report = report.unwrap();
    assert!(!report.scanned.complete);
    assert!(report.scanned.notes.iter().any(|it| it.note.contains("interrupted")));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profiler_tells_what_clients_ask() {
    let place = Place::new().await;
    place.fill("users", (0..50).map(|id| doc! { "_id": id, "city": "Ulm" })).await;
    place.command(doc! { "profile": 2 }).await;
    let filter = doc! { "city": { "$regex": "^ulm$", "$options": "i" } };
    for _ in 0..3 {
        place.collection("users").find_one(filter.clone()).await.unwrap();
    }
    let report = place.audit(&place.options()).await;
    let queries = found(&report, "case_collision");
    assert_eq!(queries.len(), 1);
    assert_eq!(queries[0].path.as_deref(), Some("city"));
    assert_eq!(queries[0].evidence.figures["queries"], serde_json::json!(3));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_address_is_one_sentence() {
    let place = Place::new().await;
    let error = |uri: &str| {
        let options = Options { uri: uri.to_owned(), ..place.options() };
        async move { audit::audit(&options, &CancellationToken::new()).await.unwrap_err().to_string() }
    };
    let wrong = error("http://localhost").await;
    assert!(wrong.starts_with("this is no URI of a server"), "{wrong}");
    let nobody = error("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200").await;
    assert!(nobody.starts_with("no server answers"), "{nobody}");
    let address = place.uri.trim_start_matches("mongodb://");
    let password = error(&format!("mongodb://ann:secret@{address}")).await;
    assert!(password.contains("user name or password"), "{password}");
    assert!(!password.contains("secret") && !password.contains('\n'), "{password}");
    place.stop().await;
}
