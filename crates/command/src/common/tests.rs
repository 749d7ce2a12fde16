use super::*;
use crate::command;
use bson::{Bson, RawDocumentBuf, Timestamp, Uuid, doc, rawdoc};

fn parse(body: RawDocumentBuf) -> Result<()> {
    let request = Request::from(body);
    let command = command(request.name()).unwrap();
    Common::parse(&request, command).map(|_| ())
}

/// The code for a find with further arguments.
fn code(arguments: bson::Document) -> i32 {
    let mut body = doc! { "find": "c", "$db": "d" };
    body.extend(arguments);
    match parse(RawDocumentBuf::try_from(&body).unwrap()) {
        Ok(()) => 0,
        Err(error) => error.code().number(),
    }
}

#[test]
fn what_drivers_send_is_understood() {
    let id = Uuid::new();
    let request = Request::from(rawdoc! {
        "insert": "c",
        "$db": "d",
        "lsid": { "id": bson::Binary::from(id) },
        "txnNumber": 7_i64,
        "$clusterTime": { "clusterTime": Timestamp { time: 1, increment: 1 } },
        "$readPreference": { "mode": "secondaryPreferred" },
        "apiVersion": "1",
        "apiStrict": true,
        "writeConcern": { "w": "majority", "j": true, "wtimeout": 100 },
        "readConcern": { "afterClusterTime": Timestamp { time: 2, increment: 1 } },
        "maxTimeMS": 5.0,
        "comment": { "a": 1 },
        "documents": [],
    });
    let common = Common::parse(&request, command("insert").unwrap()).unwrap();
    assert_eq!(common.database, "d");
    assert_eq!(common.session, Some(id.bytes()));
    assert_eq!(common.txn_number, Some(7));
    assert!(!common.in_transaction());
    assert_eq!(common.api, Some(Api { strict: true, deprecation_errors: false }));
    assert_eq!(common.max_time_ms, Some(5));
    assert_eq!(common.read_preference, Some(ReadPreference::SecondaryPreferred));
    let write = common.write_concern.unwrap();
    assert_eq!((write.w, write.journal), (Acknowledgement::Majority, Some(true)));
    assert_eq!(write.timeout_ms, 100);
    let read = common.read_concern.unwrap();
    assert_eq!(read.level, ReadLevel::Local);
    assert_eq!(read.after_cluster_time, Some(Timestamp { time: 2, increment: 1 }));
}

#[test]
fn a_database_is_named() {
    assert_eq!(parse(rawdoc! { "ping": 1 }).unwrap_err().code().number(), 40571);
    assert_eq!(parse(rawdoc! { "ping": 1, "$db": 1 }).unwrap_err().code().number(), 14);
    assert_eq!(parse(rawdoc! { "ping": 1, "$db": "a.b" }).unwrap_err().code().number(), 73);
}

#[test]
fn some_commands_run_on_admin_only() {
    assert!(parse(rawdoc! { "listDatabases": 1, "$db": "admin" }).is_ok());
    let error = parse(rawdoc! { "listDatabases": 1, "$db": "d" }).unwrap_err();
    assert_eq!(error.code(), Code::Unauthorized);
    assert_eq!(error.message(), "listDatabases may only be run against the admin database.");
}

#[test]
fn every_argument_has_its_type() {
    let cases = [
        ("apiVersion", Bson::Int32(1), 14),
        ("apiVersion", Bson::from("2"), 322),
        ("apiStrict", Bson::Int32(1), 14),
        ("apiStrict", Bson::Boolean(true), 4886600),
        ("apiDeprecationErrors", Bson::Boolean(false), 4886600),
        ("lsid", Bson::Int32(1), 14),
        ("lsid", Bson::Document(doc! {}), 40414),
        ("lsid", Bson::Document(doc! { "id": 1 }), 14),
        ("lsid", Bson::Document(doc! { "id": Uuid::new(), "x": 1 }), 40415),
        ("txnNumber", Bson::Int32(1), 14),
        ("txnNumber", Bson::Int64(1), 72),
        ("autocommit", Bson::Boolean(false), 72),
        ("autocommit", Bson::Int32(0), 14),
        ("startTransaction", Bson::Boolean(true), 72),
        ("startTransaction", Bson::Boolean(false), 72),
        ("maxTimeMS", Bson::from("1"), 14),
        ("maxTimeMS", Bson::Int32(-1), 2),
        ("maxTimeMS", Bson::Int64(1 << 31), 2),
        ("maxTimeMS", Bson::Double(1.5), 9),
        ("maxTimeMS", Bson::Null, 0),
        ("comment", Bson::Int32(1), 0),
        ("$readPreference", Bson::Int32(1), 14),
        ("$readPreference", Bson::Document(doc! {}), 40414),
        ("$readPreference", Bson::Document(doc! { "mode": "x" }), 2),
        ("$clusterTime", Bson::Int32(1), 14),
        ("help", Bson::Int32(1), 14),
        ("rawData", Bson::Int32(1), 14),
        ("writeConcern", Bson::Document(doc! { "w": 1 }), 72),
    ];
    for (name, value, expected) in cases {
        assert_eq!(code(doc! { name: value.clone() }), expected, "{name}: {value}");
    }
}

#[test]
fn read_concerns_are_checked() {
    let time = Timestamp { time: 1, increment: 1 };
    let zero = Timestamp { time: 0, increment: 0 };
    let cases = [
        (doc! {}, 0),
        (doc! { "level": "majority" }, 0),
        (doc! { "level": "x" }, 2),
        (doc! { "level": 1 }, 14),
        (doc! { "x": 1 }, 40415),
        (doc! { "afterClusterTime": 1 }, 14),
        (doc! { "afterClusterTime": zero }, 72),
        (doc! { "level": "linearizable", "afterClusterTime": time }, 72),
        (doc! { "level": "snapshot", "atClusterTime": time }, 0),
        (doc! { "level": "majority", "atClusterTime": time }, 72),
        (doc! { "level": "snapshot", "atClusterTime": time, "afterClusterTime": time }, 72),
    ];
    for (concern, expected) in cases {
        assert_eq!(code(doc! { "readConcern": concern.clone() }), expected, "{concern}");
    }
    assert_eq!(code(doc! { "readConcern": 1 }), 14);
}

#[test]
fn write_concerns_are_checked() {
    let cases = [
        (doc! {}, 0),
        (doc! { "w": 1, "j": 1, "wtimeout": "x" }, 0),
        (doc! { "w": 51 }, 9),
        (doc! { "w": -1 }, 9),
        (doc! { "w": true }, 9),
        (doc! { "w": {} }, 9),
        (doc! { "w": { "dc": "x" } }, 9),
        (doc! { "w": { "dc": 1 } }, 0),
        (doc! { "w": Bson::Null }, 0),
        (doc! { "j": "x" }, 14),
        (doc! { "j": true, "fsync": true }, 9),
        (doc! { "wtimeout": 1_i64 << 40 }, 9),
        (doc! { "x": 1 }, 40415),
    ];
    for (concern, expected) in cases {
        let body = doc! { "drop": "c", "$db": "d", "writeConcern": concern.clone() };
        let found = match parse(RawDocumentBuf::try_from(&body).unwrap()) {
            Ok(()) => 0,
            Err(error) => error.code().number(),
        };
        assert_eq!(found, expected, "{concern}");
    }
}

#[test]
fn a_transaction_admits_some_commands() {
    let transaction = |command: &str, further: bson::Document| {
        let mut body = doc! { command: "c", "$db": "d", "lsid": { "id": Uuid::new() } };
        body.extend(doc! { "txnNumber": 1_i64, "autocommit": false });
        body.extend(further);
        match parse(RawDocumentBuf::try_from(&body).unwrap()) {
            Ok(()) => 0,
            Err(error) => error.code().number(),
        }
    };
    assert_eq!(transaction("find", doc! {}), 0);
    assert_eq!(transaction("find", doc! { "autocommit": true }), 72);
    assert_eq!(transaction("count", doc! {}), 263);
    assert_eq!(transaction("insert", doc! { "writeConcern": { "w": 1 } }), 72);
    assert_eq!(transaction("find", doc! { "readConcern": { "level": "snapshot" } }), 72);
    let first = doc! { "startTransaction": true, "readConcern": { "level": "snapshot" } };
    assert_eq!(transaction("insert", first), 0);
    assert_eq!(transaction("find", doc! { "$db": "admin" }), 263);
    let concern = doc! { "$db": "admin", "writeConcern": { "w": 1 } };
    assert_eq!(transaction("commitTransaction", concern), 0);
    let first = doc! { "$db": "admin", "startTransaction": true };
    assert_eq!(transaction("commitTransaction", first), 263);
}

#[test]
fn a_concern_needs_a_command_that_takes_it() {
    let error = parse(rawdoc! { "drop": "c", "$db": "d", "readConcern": { "level": "majority" } });
    assert_eq!(error.unwrap_err().code(), Code::InvalidOptions);
    assert!(
        parse(rawdoc! { "drop": "c", "$db": "d", "readConcern": { "level": "local" } }).is_ok()
    );
}

#[test]
fn strict_api_clients_get_stable_commands() {
    let strict = |name: &str| {
        let body = doc! { name: 1, "$db": "admin", "apiVersion": "1", "apiStrict": true };
        parse(RawDocumentBuf::try_from(&body).unwrap())
    };
    assert!(strict("ping").is_ok());
    assert_eq!(strict("serverStatus").unwrap_err().code(), Code::APIStrictError);
}
