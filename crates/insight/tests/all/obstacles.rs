//! What stands in the way of an audit is noted in its report and does not end it.

use crate::place::Place;
use crate::proxy::{Command, Proxy, Turn, refused, unauthorized};
use bson::{Document, RawDocumentBuf, doc, rawdoc};
use freeboard_insight::audit::{self, Options};
use freeboard_insight::report::{Extent, Status};
use freeboard_insight::{Error, Report};
use tokio_util::sync::CancellationToken;

/// An audit through a proxy with this rule.
async fn audited(place: &Place, rule: impl Fn(&Command) -> Turn + Send + Sync + 'static) -> Report {
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    place.audit(&Options { uri: proxy.uri.clone(), ..place.options() }).await
}

async fn failed(uri: String, place: &Place) -> Error {
    let options = Options { uri, ..place.options() };
    audit::audit(&options, &CancellationToken::new()).await.unwrap_err()
}

/// What is noted of a namespace, or of the whole.
fn notes<'a>(report: &'a Report, namespace: Option<&str>) -> Vec<&'a str> {
    let notes = report.scanned.notes.iter();
    notes.filter(|it| it.namespace.as_deref() == namespace).map(|it| &*it.note).collect()
}

fn scanned(report: &Report, namespace: &str) -> u64 {
    report.scanned.collections.iter().find(|it| it.namespace == namespace).unwrap().scanned
}

async fn filled() -> Place {
    let place = Place::new().await;
    place.fill("open", (0..30).map(|id| doc! { "_id": id })).await;
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_may_not_be_read() {
    let place = filled().await;
    place.fill("secret", [doc! { "_id": 1 }]).await;
    let rule = |it: &Command| if it.collection == "secret" { unauthorized() } else { Turn::Pass };
    let report = audited(&place, rule).await;
    assert_eq!((scanned(&report, "shop.open"), scanned(&report, "shop.secret")), (30, 0));
    let [note] = notes(&report, Some("shop.secret"))[..] else { panic!("{report:?}") };
    assert!(note.starts_with("it cannot be read") && note.contains("Unauthorized"), "{note}");
    // What was seen is no pass.
    assert_eq!(report.looked_at.extent, Extent::Part);
    assert!(report.looked_at.sentence.starts_with("Not all was looked at: shop.secret: it cannot"));
    assert!(!report.scanned.complete);
    assert!(report.checklist.iter().all(|line| line.status != Status::Pass));
    assert_eq!(notes(&report, Some("shop.open")), [""; 0]);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statistics_and_a_profile_that_may_not_be_read() {
    let place = filled().await;
    let report = audited(&place, |it| {
        let asks = ["aggregate", "collStats", "count"].contains(&&*it.name);
        let statistics = asks && it.collection == "open";
        let profile = it.collection == "system.profile";
        let sharding = it.collection == "collections";
        if statistics || profile || sharding { unauthorized() } else { Turn::Pass }
    })
    .await;
    assert_eq!(scanned(&report, "shop.open"), 30);
    let of_open = notes(&report, Some("shop.open"));
    assert_eq!(of_open.len(), 2, "{of_open:?}");
    assert!(of_open[0].starts_with("its size is not known"), "{of_open:?}");
    assert!(of_open[1].starts_with("how its indexes are used is not known"), "{of_open:?}");
    assert!(notes(&report, Some("shop"))[0].starts_with("the profile cannot be read"));
    assert!(notes(&report, None)[0].starts_with("the shard keys cannot be read"));
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profiler_that_is_off() {
    let place = filled().await;
    let report = audited(&place, |_| Turn::Pass).await;
    let [note] = notes(&report, Some("shop"))[..] else { panic!("{report:?}") };
    assert!(note.starts_with("the profiler has recorded nothing"), "{note}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_that_may_not_be_listed() {
    let place = filled().await;
    let rule = |it: &Command| match &*it.name {
        "listDatabases" => unauthorized(),
        _ => Turn::Pass,
    };
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    // The database of the URI may be looked at all the same.
    let report =
        place.audit(&Options { uri: format!("{}shop", proxy.uri), ..place.options() }).await;
    assert_eq!(scanned(&report, "shop.open"), 30);
    let error = failed(proxy.uri.clone(), &place).await.to_string();
    assert!(error.starts_with("the databases cannot be listed; name one with --db"), "{error}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn collections_that_may_not_be_listed() {
    let place = filled().await;
    let other = place.client.database("other").collection("things");
    other.insert_one(doc! { "_id": 1 }).await.unwrap();
    let report = audited(&place, |it| match it.body.get_str("$db") {
        Ok("other") if it.name == "listCollections" => unauthorized(),
        _ => Turn::Pass,
    })
    .await;
    assert_eq!(scanned(&report, "shop.open"), 30);
    let of_other = notes(&report, Some("other"));
    assert!(of_other[0].starts_with("its collections cannot be listed"), "{of_other:?}");
    assert_eq!(report.looked_at.extent, Extent::Part);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn views_time_series_and_capped_collections() {
    let place = filled().await;
    place.command(doc! { "create": "log", "capped": true, "size": 4096 }).await;
    place.fill("log", [doc! { "_id": 1 }]).await;
    let report = audited(&place, |it| {
        let row = |name: &str, kind: &str, options: Document| {
            doc! { "name": name, "type": kind, "options": options }
        };
        let series = doc! { "timeseries": { "timeField": "ts", "metaField": "sensor" } };
        let rows = vec![
            row("log", "collection", doc! { "capped": true, "size": 4096 }),
            row("names", "view", doc! { "viewOn": "open", "pipeline": [] }),
            row("open", "collection", doc! {}),
            row("readings", "timeseries", series),
            row("system.buckets.readings", "collection", doc! {}),
        ];
        match &*it.name {
            "listCollections" => {
                let cursor =
                    doc! { "id": 0_i64, "ns": "shop.$cmd.listCollections", "firstBatch": rows };
                let reply = doc! { "ok": 1.0, "cursor": cursor };
                Turn::Answer(RawDocumentBuf::try_from(&reply).unwrap())
            }
            // Nothing is asked of what has no documents of its own.
            _ if it.collection == "readings" || it.collection == "names" => unauthorized(),
            _ => Turn::Pass,
        }
    })
    .await;
    let kinds: Vec<_> =
        report.scanned.collections.iter().map(|it| (&*it.namespace, &*it.kind)).collect();
    let expected = [
        ("shop.log", "capped"),
        ("shop.names", "view"),
        ("shop.open", "collection"),
        ("shop.readings", "timeseries"),
    ];
    assert_eq!(kinds, expected);
    for (namespace, note) in [
        ("shop.log", "capped: it cannot grow"),
        ("shop.names", "a view: its documents are others'"),
        ("shop.readings", "a time series: the server bounds its buckets"),
    ] {
        assert_eq!(notes(&report, Some(namespace)), [note]);
    }
    assert_eq!(report.scanned.documents, 31);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_text() {
    let place = Place::new().await;
    place.fill("open", [doc! { "_id": 1 }, doc! { "_id": 2 }]).await;
    let report = audited(&place, |it| {
        if it.name != "find" || it.collection != "open" {
            return Turn::Pass;
        }
        let cursor = rawdoc! {
            "id": 0_i64, "ns": "shop.open",
            "firstBatch": [{ "_id": 1, "name": "abcd", "n": 5 }, { "_id": 2, "name": "fine" }],
        };
        let mut bytes = rawdoc! { "ok": 1.0, "cursor": cursor }.into_bytes();
        let at = bytes.windows(4).position(|window| window == b"abcd").unwrap();
        bytes[at] = 0xFF;
        Turn::Answer(RawDocumentBuf::from_bytes(bytes).unwrap())
    })
    .await;
    assert_eq!(scanned(&report, "shop.open"), 2);
    let of_open = notes(&report, Some("shop.open"));
    assert!(of_open[0].starts_with("1 document has invalid UTF-8"), "{of_open:?}");
    assert!(of_open[0].ends_with("_id 1"), "{of_open:?}");
    place.stop().await;
}

/// More than fit into a batch.
const MANY: i32 = 6_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_is_dropped_before_and_while_it_is_read() {
    let place = filled().await;
    place.fill("before", [doc! { "_id": 1 }]).await;
    place.fill("while", (0..MANY).map(|id| doc! { "_id": id })).await;
    let report = audited(&place, |it| match (&*it.name, &*it.collection) {
        ("listIndexes", "before") => Turn::Drop("before"),
        ("getMore", "while") => Turn::Drop("while"),
        _ => Turn::Pass,
    })
    .await;
    assert_eq!(scanned(&report, "shop.open"), 30);
    assert_eq!(scanned(&report, "shop.before"), 0);
    let of_before = notes(&report, Some("shop.before"));
    let unlisted = |note: &&str| note.starts_with("its indexes cannot be listed");
    assert!(of_before.iter().any(unlisted), "{of_before:?}");
    let seen = scanned(&report, "shop.while");
    assert!(seen > 0 && seen < MANY as u64, "{seen}");
    let of_while = notes(&report, Some("shop.while"));
    let expected = format!("reading ended after {seen} documents");
    assert!(of_while[0].starts_with(&expected), "{of_while:?}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_are_deleted_while_they_are_read() {
    let place = filled().await;
    place.fill("while", (0..50).map(|id| doc! { "_id": id })).await;
    let report = audited(&place, |it| match (&*it.name, &*it.collection) {
        ("find", "while") => Turn::Delete("while", doc! { "_id": { "$lt": 20 } }),
        _ => Turn::Pass,
    })
    .await;
    assert_eq!(scanned(&report, "shop.while"), 30);
    let expected = "documents that vanished while it was read: 20";
    assert_eq!(notes(&report, Some("shop.while")), [expected]);
    assert_eq!(notes(&report, Some("shop.open")), [""; 0]);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_one_sentence() {
    let place = filled().await;
    let rule = |it: &Command| match &*it.name {
        "saslStart" => refused(18, "AuthenticationFailed", "Authentication failed."),
        _ => Turn::Pass,
    };
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    let error =
        failed(format!("mongodb://ann:secret@{}/", proxy.address), &place).await.to_string();
    assert!(error.starts_with("the server refused the user name or password"), "{error}");
    assert!(!error.contains("secret") && !error.contains('\n'), "{error}");
    place.stop().await;
}
