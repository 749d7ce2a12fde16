//! The commands that the server answers by itself.

use crate::client::{Client, keys, start};
use bson::spec::BinarySubtype;
use bson::{Binary, RawDocumentBuf, rawdoc};

#[tokio::test]
async fn shells_are_answered() {
    let server = start().await;
    let mut client = Client::connect(&server).await;

    let build = client.run(rawdoc! { "buildInfo": 1 }).await;
    assert!(build.get_str("version").unwrap().starts_with("8.2."));
    let versions: Vec<_> = build.get_array("versionArray").unwrap().into_iter().flatten().collect();
    assert_eq!(versions.len(), 4);
    for name in ["openssl", "modules", "javascriptEngine", "storageEngines", "maxBsonObjectSize"] {
        assert!(build.get(name).unwrap().is_some(), "{name}");
    }
    assert_eq!(client.run(rawdoc! { "buildinfo": 1 }).await, build);

    let status = client.run(rawdoc! { "connectionStatus": 1, "showPrivileges": true }).await;
    assert_eq!(
        status,
        rawdoc! {
            "authInfo": {
                "authenticatedUsers": [],
                "authenticatedUserRoles": [],
                "authenticatedUserPrivileges": [],
            },
            "ok": 1.0,
        }
    );
    let address = client.stream.local_addr().unwrap().to_string();
    let you = client.run(rawdoc! { "whatsmyuri": 1 }).await;
    assert_eq!(you, rawdoc! { "you": address, "ok": 1.0 });
    let log = client.run(rawdoc! { "getLog": "startupWarnings" }).await;
    assert_eq!(log, rawdoc! { "totalLinesWritten": 0, "log": [], "ok": 1.0 });
    let names = client.run(rawdoc! { "getLog": "*" }).await;
    assert_eq!(names, rawdoc! { "names": ["global", "startupWarnings"], "ok": 1.0 });
    let host = client.run(rawdoc! { "hostInfo": 1 }).await;
    assert_eq!(keys(&host), ["system", "os", "extra", "ok"]);
    let options = client.run(rawdoc! { "getCmdLineOpts": 1 }).await;
    assert_eq!(keys(&options), ["argv", "parsed", "ok"]);
    let commands = client.run(rawdoc! { "listCommands": 1 }).await;
    assert!(commands.get_document("commands").unwrap().get_document("find").is_ok());
    client.run(rawdoc! { "features": 1 }).await;
    client.run(rawdoc! { "logout": 1 }).await;
    let replica = client.run(rawdoc! { "replSetGetStatus": 1 }).await;
    assert_eq!(replica.get_f64("ok").unwrap(), 0.0);
    server.stop().await;
}

#[tokio::test]
async fn wrong_commands_are_refused_with_mongodbs_codes() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    for (command, expected) in [
        (rawdoc! { "foo": 1 }, 59),
        (rawdoc! { "atlasVersion": 1 }, 59),
        (rawdoc! { "PING": 1 }, 59),
        (rawdoc! { "getLog": 1 }, 14),
        (rawdoc! { "getLog": "nonsense" }, 96),
        (rawdoc! { "getParameter": 1, "nonsense": 1 }, 72),
        (rawdoc! { "getParameter": 1 }, 72),
        (rawdoc! { "setParameter": 1, "nonsense": 1 }, 72),
        (rawdoc! { "setParameter": 1 }, 72),
        (rawdoc! { "setParameter": 1, "maxBSONDepth": 1 }, 20),
        (rawdoc! { "connectionStatus": 1, "showPrivileges": "yes" }, 14),
        (rawdoc! { "ping": 1, "lsid": 1 }, 14),
        (rawdoc! { "ping": 1, "apiVersion": "2" }, 322),
    ] {
        let shown = format!("{command:?}");
        assert_eq!(client.code(command).await, expected, "{shown}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_drivers_add_to_commands_is_accepted() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let ping = rawdoc! {
        "ping": 1,
        "lsid": session(),
        "$clusterTime": { "clusterTime": bson::Timestamp { time: 1, increment: 1 } },
        "$readPreference": { "mode": "primaryPreferred" },
        "apiVersion": "1",
        "comment": "x",
        "maxTimeMS": 1000,
    };
    assert_eq!(client.run(ping).await, rawdoc! { "ok": 1.0 });
    server.stop().await;
}

fn session() -> RawDocumentBuf {
    rawdoc! { "id": Binary { subtype: BinarySubtype::Uuid, bytes: vec![7; 16] } }
}

#[tokio::test]
async fn server_status_counts() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    client.run(rawdoc! { "insert": "c", "documents": [{}, {}, {}] }).await;
    client.run(rawdoc! { "getMore": 1_i64, "collection": "c" }).await;
    client.ping().await;
    let status = client.run(rawdoc! { "serverStatus": 1 }).await;
    let operations = status.get_document("opcounters").unwrap();
    assert_eq!(operations.get_i64("insert").unwrap(), 3);
    assert_eq!(operations.get_i64("getmore").unwrap(), 1);
    assert_eq!(operations.get_i64("command").unwrap(), 2);
    let network = status.get_document("network").unwrap();
    assert_eq!(network.get_i64("numRequests").unwrap(), 4);
    assert!(network.get_i64("bytesIn").unwrap() > 100);
    assert!(network.get_i64("bytesOut").unwrap() > 100);
    assert_eq!(status.get_document("connections").unwrap().get_i32("current").unwrap(), 1);
    assert_eq!(status.get_str("process").unwrap(), "mongos");
    let latencies = status.get_document("opLatencies").unwrap();
    let operations = |of: &str| latencies.get_document(of).unwrap().get_i64("ops").unwrap();
    assert_eq!((operations("writes"), operations("reads"), operations("commands")), (1, 1, 1));
    let lock = status.get_document("globalLock").unwrap();
    assert_eq!(lock.get_document("activeClients").unwrap().get_i32("total").unwrap(), 1);
    let commands = status.get_document("metrics").unwrap().get_document("commands").unwrap();
    assert_eq!(commands.get_document("ping").unwrap().get_i64("total").unwrap(), 1);
    assert!(commands.get_document("find").is_err(), "nobody ran it");
    // The backend's sections are there, too.
    let cursors = status.get_document("metrics").unwrap().get_document("cursor").unwrap();
    assert_eq!(cursors.get_document("open").unwrap().get_i64("total").unwrap(), 3);
    assert!(status.get_document("storageEngine").is_err(), "the probe has no store");

    let without = client.run(rawdoc! { "serverStatus": 1, "network": 0, "metrics": 0 }).await;
    assert!(without.get_document("network").is_err() && without.get_document("metrics").is_err());
    assert!(without.get_document("opcounters").is_ok());
    let only = client.run(rawdoc! { "serverStatus": 1, "none": 1, "mem": 1 }).await;
    assert!(only.get_document("network").is_err() && only.get_document("mem").is_ok());
    server.stop().await;
}

#[tokio::test]
async fn parameters_are_shown() {
    let server = start().await;
    let mut client = Client::connect(&server).await;
    let one = client.run(rawdoc! { "getParameter": 1, "featureCompatibilityVersion": 1 }).await;
    assert_eq!(one, rawdoc! { "featureCompatibilityVersion": { "version": "8.2" }, "ok": 1.0 });
    let all = client.run(rawdoc! { "getParameter": "*" }).await;
    assert!(keys(&all).len() > 5);
    let details =
        client.run(rawdoc! { "getParameter": { "showDetails": true }, "maxBSONDepth": 1 }).await;
    assert_eq!(
        details,
        rawdoc! {
            "maxBSONDepth": {
                "value": 200, "settableAtRuntime": false, "settableAtStartup": false
            },
            "ok": 1.0,
        }
    );
    server.stop().await;
}
