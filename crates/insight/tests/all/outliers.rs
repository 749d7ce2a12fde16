//! One document in twenty thousand that will break.

use crate::place::{Place, found};
use crate::proxy::{Command, Proxy, Turn, refused};
use bson::{Bson, doc};
use freeboard_insight::audit::{Options, Reach};
use freeboard_insight::report::{Extent, Format, Status};

const USERS: i32 = 20_000;
const ELEMENTS: i32 = 150_000;

/// Users with a short array each, and one in the middle with a very long one.
async fn filled() -> Place {
    let place = Place::new().await;
    let user = |id: i32| {
        let length = if id == 7_777 { ELEMENTS } else { 2 };
        let log: Vec<Bson> =
            (0..length).map(|at| Bson::Document(doc! { "n": at, "k": "like" })).collect();
        doc! { "_id": id, "name": "a name", "log": log }
    };
    for start in (0..USERS).step_by(2_000) {
        place.fill("users", (start..start + 2_000).map(user)).await;
    }
    place
}

/// What an audit finds that is asked for nothing in particular.
#[tokio::test(flavor = "multi_thread")]
async fn the_default_audit_meets_it() {
    let place = filled().await;
    let options = Options { reach: Reach::Budgeted, ..place.options() };
    let report = place.audit(&options).await;
    assert_eq!(report.scanned.documents, USERS as u64);
    assert_eq!((report.looked_at.extent, &*report.scanned.mode), (Extent::All, "full"));
    assert_eq!(found(&report, "unbounded_array").len(), 1);
    assert_eq!(report.checklist[0].status, Status::Fail);
    // One document in twenty thousand says nothing of the 99th percentile.
    assert_eq!(report.checklist[6].status, Status::Pass, "{:?}", report.checklist[6]);

    // A sample has no luck, and looks for it by what the server keeps of sizes.
    let sampled = Options { reach: Reach::Sample(160), ..place.options() };
    let report = place.audit(&sampled).await;
    assert_eq!((report.looked_at.extent, report.scanned.documents), (Extent::Sample, 160));
    let [array] = &found(&report, "unbounded_array")[..] else { panic!("{:?}", report.findings) };
    assert_eq!(array.evidence.ids, [serde_json::json!(7_777)]);
    assert_eq!(array.evidence.figures["p99"], serde_json::json!(2));

    // Another server finds it itself.
    let rule = |it: &Command| match &*it.name {
        "growthStats" | "buildInfo" => refused(59, "CommandNotFound", "no such command"),
        _ => Turn::Pass,
    };
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    let elsewhere = Options { uri: proxy.uri.clone(), ..sampled.clone() };
    let report = place.audit(&elsewhere).await;
    assert_eq!(report.target.kind, "mongodb");
    assert_eq!(found(&report, "unbounded_array").len(), 1);

    // One that cannot: nothing passes that hangs on documents.
    let rule = move |it: &Command| match &*it.name {
        "growthStats" | "buildInfo" => refused(59, "CommandNotFound", "no such command"),
        "aggregate" if it.body.to_string().contains("$bsonSize") => {
            refused(168, "InvalidPipelineOperator", "Unrecognized expression '$bsonSize'")
        }
        _ => Turn::Pass,
    };
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    let blind = Options { uri: proxy.uri.clone(), ..sampled };
    let report = place.audit(&blind).await;
    assert!(found(&report, "unbounded_array").is_empty());
    assert_eq!(report.checklist[0].status, Status::NotKnown);
    let left_out = "shop.users has large documents that the sample left out";
    assert_eq!(report.checklist[0].reason, left_out);
    place.stop().await;
}

/// A sample never passes without saying of how much.
#[tokio::test(flavor = "multi_thread")]
async fn a_sample_says_so() {
    let place = Place::new().await;
    place.fill("users", (0..2_000).map(|id| doc! { "_id": id, "tags": ["a"] })).await;
    let options = Options { reach: Reach::Sample(100), ..place.options() };
    let report = place.audit(&options).await;
    assert_eq!(report.checklist[0].status, Status::Pass);
    assert_eq!(report.checklist[0].reason, "nothing was found against it in a sample of 5.0 %");
    let text = report.render(Format::Text { colour: false }).unwrap();
    assert!(
        text.starts_with("A sample was looked at: 100 of 2,000 documents (5.0 %).\n"),
        "{text}"
    );
    assert!(text.contains("\nNothing was found in a sample of 5.0 %.\n"), "{text}");
    place.stop().await;
}
