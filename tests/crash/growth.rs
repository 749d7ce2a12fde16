//! Figures of growth after restarts, and the lines that tell of documents near their
//! bounds.

use crate::connection::Connection;
use crate::{FREEBOARD, RESERVE, recount};
use bson::{Bson, Document, doc};
use std::time::Duration;

/// What it takes to tell how fast something grows, where a second is enough to go by, and a
/// little more.
const WHILE: Duration = Duration::from_millis(1_100);

#[test]
fn figures_survive_a_stop_and_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    let documents = |ids: std::ops::Range<i32>| -> Vec<Document> {
        ids.map(|id| doc! { "_id": id, "t": "x".repeat(id as usize * 7) }).collect()
    };
    insert(&mut connection, documents(0..300));
    recount::check(&mut connection, "d", "c");
    server.stop();

    // The largest go, so that others have to be found.
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    recount::check(&mut connection, "d", "c");
    let largest =
        doc! { "delete": "c", "deletes": [{ "q": { "_id": { "$gt": 20 } }, "limit": 0 }] };
    connection.run("d", largest).unwrap();
    insert(&mut connection, documents(400..420));
    server.kill();
    server.wait();

    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    recount::check(&mut connection, "d", "c");
    let rest = doc! { "delete": "c", "deletes": [{ "q": { "_id": { "$gt": 400 } }, "limit": 0 }] };
    connection.run("d", rest).unwrap();
    recount::check(&mut connection, "d", "c");
    server.stop();
}

#[test]
fn growth_and_forecasts_survive_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    let policy = doc! { "document": { "max_bytes": "1MB" } };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    insert(&mut connection, vec![doc! { "_id": 1, "t": "x".repeat(1_000) }, doc! { "_id": 2 }]);
    [1_500, 2_000].into_iter().for_each(|bytes| resize_later(&mut connection, bytes));
    let again = doc! { "q": { "_id": 2 }, "u": { "$set": { "n": 1 } } };
    connection.run("d", doc! { "update": "c", "updates": [again] }).unwrap();
    server.kill();
    server.wait();

    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    // Seconds are nothing to go by unless that is asked for.
    let stats = connection.run("d", doc! { "growthStats": "c" }).unwrap();
    let first = stats.get_array("largest").unwrap()[0].as_document().unwrap();
    assert_eq!(first.get("growthBytesPerDay"), Some(&Bson::Null), "{stats}");
    let unknown = doc! { "bound": Bson::Null, "limit16MB": Bson::Null };
    assert_eq!(first.get_document("forecast").unwrap(), &unknown, "{stats}");
    go_by_a_second(&mut connection);
    let stats = connection.run("d", doc! { "growthStats": "c" }).unwrap();
    let largest = stats.get_array("largest").unwrap();
    let of = |at: usize| largest[at].as_document().unwrap();
    let grown = of(0);
    assert_eq!(grown.get_i32("_id").unwrap(), 1);
    let rate = grown.get_i32("growthBytesPerDay").unwrap();
    assert!((1_000..86_400_000).contains(&rate), "{stats}");
    let forecast = grown.get_document("forecast").unwrap();
    let bound = forecast.get_datetime("bound").unwrap();
    let limit = forecast.get_datetime("limit16MB").unwrap();
    assert!(bson::DateTime::now() < *bound && bound < limit, "{stats}");
    assert_eq!(of(1).get("growthBytesPerDay"), Some(&Bson::Null), "two sizes: {stats}");
    let never = of(1).get_document("forecast").unwrap();
    assert_eq!(never.get("bound"), Some(&Bson::Null), "{stats}");
    server.stop();
}

#[test]
fn passing_warn_bytes_is_told_once_by_the_write_that_does() {
    let data = tempfile::tempdir().unwrap();
    // Where the machine is slow, there would be forecasts too.
    let server = FREEBOARD.start(data.path(), &without_forecasts());
    let mut connection = Connection::to(&server);
    let bounds = doc! { "warn_bytes": 1_000, "max_bytes": 3_000 };
    let policy = doc! { "document": bounds };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    insert(&mut connection, vec![doc! { "_id": 1 }]);
    for bytes in [900, 1_200, 1_300, 1_400] {
        resize(&mut connection, bytes);
    }
    // A write that is refused tells nothing, and neither does one that is undone.
    let refused = connection.send("d", resized(5_000)).unwrap();
    assert!(refused.contains_key("writeErrors"));
    insert(&mut connection, vec![doc! { "_id": 2 }]);
    together(&mut connection, 2, &[2_000], "abortTransaction");
    // Below, and above again.
    resize(&mut connection, 800);
    resize(&mut connection, 1_500);
    insert(&mut connection, vec![doc! { "_id": "three", "t": "x".repeat(1_100) }]);
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 3, "{log}");
    for (line, id, bytes) in [(0, "1", 1_222), (1, "1", 1_522), (2, "\\\"three\\\"", 1_128)] {
        let fields = [
            r#""alert":"warn_bytes""#.to_owned(),
            r#""namespace":"d.c""#.to_owned(),
            format!(r#""_id":"{id}""#),
            format!(r#""bytes":{bytes},"#),
            r#""warn_bytes":1000,"#.to_owned(),
            r#""bound":3000"#.to_owned(),
        ];
        for field in fields {
            assert!(told[line].contains(&field), "{field} is not in {}", told[line]);
        }
    }
}

#[test]
fn a_forecast_within_the_horizon_is_told_once() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    let policy = doc! { "document": { "max_bytes": 100_000 } };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    go_by_a_second(&mut connection);
    insert(&mut connection, vec![doc! { "_id": 1, "t": "x".repeat(20_000) }]);
    // Far from its bound, and growing as fast.
    insert(&mut connection, vec![doc! { "_id": 2 }]);
    for (small, bytes) in [(500, 20_500), (1_000, 21_000)] {
        std::thread::sleep(WHILE);
        let small = doc! { "q": { "_id": 2 }, "u": { "$set": { "t": "x".repeat(small) } } };
        connection.run("d", doc! { "update": "c", "updates": [small] }).unwrap();
        resize(&mut connection, bytes);
    }
    resize(&mut connection, 22_000);
    server.kill();
    let log = server.wait();
    let told = alerts(&log);
    assert_eq!(told.len(), 1, "{log}");
    for field in [r#""alert":"forecast""#, r#""_id":"1""#, r#""bytes":21022,"#, r#""bound":100000"#]
    {
        assert!(told[0].contains(field), "{field} is not in {}", told[0]);
    }
    assert!(told[0].contains(r#""forecast":"20"#), "{}", told[0]);

    // After a restart it is still told.
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    go_by_a_second(&mut connection);
    resize(&mut connection, 23_000);
    assert!(alerts(&server.stop()).is_empty());

    // Once it has shrunk out of danger it is told of anew, however small it was meanwhile.
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    go_by_a_second(&mut connection);
    [500, 60_000, 61_000].into_iter().for_each(|bytes| resize(&mut connection, bytes));
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains(r#""bytes":60022,"#), "{}", told[0]);

    // Of the same growth, with no horizon, nothing is told.
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), &without_forecasts());
    let mut connection = Connection::to(&server);
    go_by_a_second(&mut connection);
    insert(&mut connection, vec![doc! { "_id": 1, "t": "x".repeat(3_000_000) }]);
    [3_050_000, 3_100_000].into_iter().for_each(|bytes| resize_later(&mut connection, bytes));
    let none = doc! { "setParameter": 1, "growthHorizonSeconds": 0 };
    connection.run("admin", none).unwrap();
    resize(&mut connection, 3_150_000);
    // Until there is one: then it is told of 16 MB too.
    let week = doc! { "setParameter": 1, "growthHorizonSeconds": 604_800 };
    connection.run("admin", week).unwrap();
    resize(&mut connection, 3_200_000);
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains(r#""bytes":3200022,"#), "{}", told[0]);
    assert!(told[0].contains(r#""bound":16777216"#), "{}", told[0]);
}

#[test]
fn a_transaction_tells_of_what_becomes_of_a_document_in_all() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), &without_forecasts());
    let mut connection = Connection::to(&server);
    let policy = doc! { "document": { "warn_bytes": 1_000 } };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    together(&mut connection, 1, &[2_000, 10], "commitTransaction");
    together(&mut connection, 2, &[1_100, 10, 1_200], "commitTransaction");
    together(&mut connection, 2, &[10, 1_300], "commitTransaction");
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains(r#""_id":"2""#) && told[0].contains(r#""bytes":1222,"#), "{log}");
}

#[test]
fn what_out_brings_is_told_of_the_collection_once_it_is_there() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), &without_forecasts());
    let mut connection = Connection::to(&server);
    insert(&mut connection, vec![doc! { "_id": 1, "t": "x".repeat(1_100), "a": [1, 2] }]);
    let bounds = doc! { "document": { "warn_bytes": 1_000 }, "arrays": { "a": { "max": 1 } } };
    for target in ["within", "over"] {
        let command = doc! { "setGrowthPolicy": target, "policy": bounds.clone() };
        connection.run("d", command).unwrap();
    }
    let out = |target: &str, drop: &str| {
        let pipeline = [doc! { "$unset": drop }, doc! { "$out": target }];
        doc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} }
    };
    connection.run("d", out("within", "a")).unwrap();
    let refused = connection.send("d", out("over", "b")).unwrap();
    assert_eq!(refused.get_i32("code").unwrap(), 121);
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains(r#""namespace":"d.within""#), "{log}");
}

#[test]
fn what_one_write_brings_about_is_told_line_by_line() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    let policy = doc! { "document": { "warn_bytes": 10_000, "max_bytes": 80_000 } };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    go_by_a_second(&mut connection);
    insert(&mut connection, vec![doc! { "_id": 1, "t": "x".repeat(5_000) }]);
    [5_500, 11_000].into_iter().for_each(|bytes| resize_later(&mut connection, bytes));
    resize(&mut connection, 12_000);
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 2, "{log}");
    assert!(told.iter().all(|line| line.contains(r#""bytes":11022,"#)), "{log}");
    assert!(told[0].contains(r#""alert":"warn_bytes""#), "{log}");
    assert!(told[1].contains(r#""alert":"forecast""#), "{log}");
}

#[test]
fn pages_that_bring_a_document_near_a_full_reply_are_told_once() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), &without_forecasts());
    let mut connection = Connection::to(&server);
    for (name, read) in [("c", "merged"), ("h", "head")] {
        let overflow = doc! { "read": read, "count": "n" };
        let rule = doc! { "max": 2, "on_limit": "overflow", "overflow": overflow };
        let policy = doc! { "arrays": { "a": rule } };
        connection.run("d", doc! { "setGrowthPolicy": name, "policy": policy }).unwrap();
        let new = doc! { "insert": name, "documents": [{ "_id": 1, "a": [] }] };
        connection.run("d", new).unwrap();
        // A megabyte each.
        let push = doc! { "$push": { "a": "x".repeat(1 << 20) } };
        let mut update = |update: Document| {
            let statement = doc! { "q": { "_id": 1 }, "u": update };
            connection.run("d", doc! { "update": name, "updates": [statement] }).unwrap();
        };
        (0..11).for_each(|_| update(push.clone()));
        // What is beside the array counts too.
        update(doc! { "$set": { "t": "x".repeat(1 << 20) } });
        (0..2).for_each(|_| update(push.clone()));
        (0..3).for_each(|_| update(doc! { "$pop": { "a": 1 } }));
        (0..3).for_each(|_| update(push.clone()));
    }
    let log = server.stop();
    let told = alerts(&log);
    assert_eq!(told.len(), 2, "{told:?}");
    for line in &told {
        let fields = [
            r#""alert":"whole_bytes""#,
            r#""namespace":"d.c""#,
            r#""_id":"1""#,
            r#""whole_bytes":12583"#,
            r#""warn_bytes":12582912"#,
            r#""bound":16777216"#,
        ];
        for field in fields {
            assert!(line.contains(field), "{field} is not in {line}");
        }
    }
}

#[test]
fn a_full_array_says_nothing_of_days_to_come() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    go_by_a_second(&mut connection);
    // Seconds of growth, and within each a third of what the document may weigh.
    let bounds = doc! { "max_bytes": 20_000 };
    let rules = doc! { "a": { "max": 30, "on_limit": "overflow" } };
    let policy = doc! { "document": bounds, "arrays": rules };
    connection.run("d", doc! { "setGrowthPolicy": "c", "policy": policy }).unwrap();
    insert(&mut connection, vec![doc! { "_id": 1, "a": [] }]);
    let push = |connection: &mut Connection, elements: usize| {
        std::thread::sleep(WHILE);
        let items = vec!["x".repeat(300); elements];
        let change = doc! { "q": { "_id": 1 }, "u": { "$push": { "a": { "$each": items } } } };
        connection.run("d", doc! { "update": "c", "updates": [change] }).unwrap();
        let stats = connection.run("d", doc! { "growthStats": "c" }).unwrap();
        let first = stats.get_array("largest").unwrap()[0].as_document().unwrap().clone();
        first.get_document("forecast").unwrap().get("bound").unwrap().clone()
    };
    push(&mut connection, 10);
    assert!(matches!(push(&mut connection, 10), Bson::DateTime(_)));
    // The head is full now, and what comes goes to pages.
    for _ in 0..4 {
        assert_eq!(push(&mut connection, 20), Bson::Null);
    }
    server.stop();
}

fn without_forecasts() -> Vec<&'static str> {
    RESERVE.iter().copied().chain(["--growth-horizon", "0s"]).collect()
}

fn insert(connection: &mut Connection, documents: Vec<Document>) {
    connection.run("d", doc! { "insert": "c", "documents": documents }).unwrap();
}

/// Gives document 1 a text of so many bytes.
fn resize(connection: &mut Connection, bytes: usize) {
    connection.run("d", resized(bytes)).unwrap();
}

/// The same a while later.
fn resize_later(connection: &mut Connection, bytes: usize) {
    std::thread::sleep(WHILE);
    resize(connection, bytes);
}

/// Has the server forecast by what it has seen for a second.
fn go_by_a_second(connection: &mut Connection) {
    let second = doc! { "setParameter": 1, "growthObservedSeconds": 1 };
    connection.run("admin", second).unwrap();
}

fn resized(bytes: usize) -> Document {
    let change = doc! { "q": { "_id": 1 }, "u": { "$set": { "t": "x".repeat(bytes) } } };
    doc! { "update": "c", "updates": [change] }
}

/// Gives a document texts of so many bytes, one after the other in one transaction.
fn together(connection: &mut Connection, id: i32, texts: &[usize], end: &str) {
    let session = doc! { "id": bson::Uuid::new() };
    for (at, bytes) in texts.iter().enumerate() {
        let change = doc! {
            "q": { "_id": id }, "u": { "$set": { "t": "x".repeat(*bytes) } }, "upsert": true,
        };
        let mut update = doc! {
            "update": "c", "updates": [change], "lsid": session.clone(), "txnNumber": 1_i64,
            "autocommit": false,
        };
        if at == 0 {
            update.insert("startTransaction", true);
        }
        connection.run("d", update).unwrap();
    }
    let end = doc! { end: 1, "lsid": session, "txnNumber": 1_i64, "autocommit": false };
    connection.run("admin", end).unwrap();
}

/// The lines that tell of documents near their bounds.
fn alerts(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains(r#""alert":"#)).collect()
}
