//! Servers that refuse what others take: an audit asks them otherwise, or says that it did not
//! look. None of them passes unseen.

use crate::place::{Place, found};
use crate::proxy::{Command, Proxy, Turn, refused};
use bson::{Bson, Document, doc};
use freeboard_insight::Report;
use freeboard_insight::audit::{Options, Reach};
use freeboard_insight::report::{Extent, Format, Status};

/// Options of a find that are refused if they are empty; the filter alone may be.
const NEVER_EMPTY: &[&str] = &["collation", "hint", "let", "max", "min", "projection", "sort"];

/// A shop with one array that is far too long, of so many users.
async fn filled(users: i32) -> Place {
    let place = Place::new().await;
    let user = |id: i32| {
        let length = if id == users / 2 { 1_500 } else { 3 };
        let log: Vec<Bson> = (0..length).map(Bson::Int32).collect();
        doc! { "_id": id, "name": "a name", "log": log }
    };
    place.fill("users", (0..users).map(user)).await;
    place
}

async fn audited(
    place: &Place,
    reach: Reach,
    rule: impl Fn(&Command) -> Turn + Send + Sync + 'static,
) -> Report {
    let proxy = Proxy::new(&place.client, &place.uri, rule).await;
    place.audit(&Options { uri: proxy.uri.clone(), reach, ..place.options() }).await
}

fn stages(command: &Command) -> Vec<&str> {
    let pipeline = command.body.get_array("pipeline").into_iter().flatten();
    let stages = pipeline.filter_map(Bson::as_document);
    stages.filter_map(|stage| stage.keys().next().map(String::as_str)).collect()
}

/// As a server that takes the language to the letter.
fn strict(command: &Command) -> Turn {
    let empty = |key: &&&str| command.body.get_document(key).is_ok_and(Document::is_empty);
    if let Some(key) = NEVER_EMPTY.iter().find(empty) {
        let why = format!("{key} must have at least one key");
        return refused(15976, "Location15976", &why);
    }
    for option in ["hint", "collation"] {
        if command.body.contains_key(option) {
            return refused(115, "CommandNotSupported", &format!("{option} is not supported"));
        }
    }
    let known = ["$match", "$sort", "$limit", "$project", "$sample", "$collStats", "$indexStats"];
    if let Some(stage) = stages(command).into_iter().find(|stage| !known.contains(stage)) {
        let why = format!("Unrecognized pipeline stage name: '{stage}'");
        return refused(40324, "Location40324", &why);
    }
    let latency = |stage: &Bson| {
        let stats = stage.as_document().and_then(|it| it.get_document("$collStats").ok());
        stats.is_some_and(|it| it.contains_key("latencyStats"))
    };
    if command.body.get_array("pipeline").is_ok_and(|it| it.iter().any(latency)) {
        return refused(
            115,
            "CommandNotSupported",
            "collStats with latencyStats not supported yet",
        );
    }
    Turn::Pass
}

/// As a server that knows a find with a filter, a limit and a batch size, and little else.
fn poor(command: &Command) -> Turn {
    let asked: Vec<&str> = match &*command.name {
        "find" => command.body.keys().map(String::as_str).collect(),
        "aggregate" => return refused(303, "Location303", "aggregate is not supported"),
        "collStats" | "buildInfo" => return refused(59, "CommandNotFound", "no such command"),
        _ => Vec::new(),
    };
    let known = ["find", "filter", "limit", "batchSize", "singleBatch"];
    let known = |key: &str| known.contains(&key) || key.starts_with('$') || key == "lsid";
    match asked.into_iter().find(|key| !known(key)) {
        Some(key) => refused(9, "FailedToParse", &format!("unknown option {key}")),
        None => Turn::Pass,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_server_is_sent_nothing_that_it_refuses() {
    let place = filled(3_000).await;
    for reach in [Reach::Full, Reach::Budgeted, Reach::Sample(320)] {
        let report = audited(&place, reach, strict).await;
        let read = if reach == Reach::Sample(320) { 320 } else { 3_000 };
        assert_eq!(report.scanned.documents, read, "{reach:?}: {:?}", report.scanned.notes);
        assert!(report.scanned.complete, "{reach:?}: {:?}", report.scanned.notes);
        let refused = |note: &str| note.contains("15976") || note.contains("40324");
        assert!(!report.scanned.notes.iter().any(|it| refused(&it.note)));
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poor_server_is_asked_in_its_own_words() {
    let place = filled(3_000).await;
    for (reach, read) in [(Reach::Full, 3_000), (Reach::Budgeted, 3_000), (Reach::Sample(320), 320)]
    {
        let report = audited(&place, reach, poor).await;
        assert_eq!(report.scanned.documents, read, "{reach:?}: {:?}", report.scanned.notes);
        assert!(report.scanned.complete, "{:?}", report.scanned.notes);
        let documents = report.scanned.collections[0].documents;
        assert_eq!(documents, Some(3_000), "{reach:?}");
        if read == 3_000 {
            assert_eq!(found(&report, "unbounded_array").len(), 1);
        }
    }
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_samples_in_no_way_gives_its_first_documents() {
    let place = filled(3_000).await;
    let rule = |it: &Command| match stages(it).contains(&"$sample") || it.body.contains_key("sort")
    {
        true => refused(115, "CommandNotSupported", "not supported"),
        false => Turn::Pass,
    };
    let report = audited(&place, Reach::Sample(100), rule).await;
    assert_eq!(report.scanned.documents, 100);
    assert_eq!(report.looked_at.extent, Extent::Sample);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_every_read_is_no_pass() {
    let place = filled(30).await;
    let report = audited(&place, Reach::Budgeted, |it| match &*it.name {
        "find" | "aggregate" | "getMore" => refused(96, "OperationFailed", "not today"),
        _ => Turn::Pass,
    })
    .await;
    assert_eq!((report.looked_at.extent, report.scanned.documents), (Extent::Nothing, 0));
    assert!(report.checklist.iter().all(|line| line.status == Status::NotKnown));
    let said = "Nothing was looked at: shop.users: it cannot be read";
    let text = report.render(Format::Text { colour: false }).unwrap();
    assert!(text.starts_with(said), "{text}");
    assert!(text.contains("Nothing was found in the part that was looked at."), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&report.render(Format::Json).unwrap()).unwrap();
    assert_eq!(json["looked_at"]["extent"], "nothing");
    let page = report.render(Format::Html).unwrap();
    let (_, body) = page.split_once("<body>").unwrap();
    assert!(body.starts_with("<p class=\"extent missed\" role=\"alert\">Nothing was"), "{body}");
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_are_counted_and_never_sent_are_missed() {
    let place = filled(30).await;
    place.fill("others", (0..5).map(|id| doc! { "_id": id })).await;
    let report = audited(&place, Reach::Budgeted, |it| {
        if it.name != "find" || it.collection != "users" {
            return Turn::Pass;
        }
        let cursor = doc! { "id": 0_i64, "ns": "shop.users", "firstBatch": [] };
        let reply = doc! { "ok": 1.0, "cursor": cursor };
        Turn::Answer(bson::RawDocumentBuf::try_from(&reply).unwrap())
    })
    .await;
    assert_eq!(report.looked_at.extent, Extent::Part);
    assert!(report.looked_at.sentence.contains("none was read"), "{:?}", report.looked_at);
    place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_no_pass() {
    let place = filled(30).await;
    let options = Options { database: Some("shp".to_owned()), ..place.options() };
    let report = place.audit(&options).await;
    assert_eq!(report.looked_at.sentence, "Nothing was looked at: there is no database 'shp'.");
    assert_eq!(report.looked_at.extent, Extent::Nothing);
    let empty = Place::new().await;
    let report = empty.audit(&empty.options()).await;
    assert_eq!(report.looked_at.sentence, "Nothing was looked at: there are no collections.");
    empty.command(doc! { "create": "empty" }).await;
    let report = empty.audit(&empty.options()).await;
    assert_eq!(report.looked_at.extent, Extent::Nothing);
    empty.stop().await;
    place.stop().await;
}
