//! Its ready line, its signals, its exit codes.

use crate::binary::{assert_failed, freeboard, signal, start, start_with};
use bson::{doc, rawdoc};
use freeboard_tests::connection::Connection;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn signals_stop_it_cleanly() {
    for name in ["TERM", "INT"] {
        let data = tempfile::tempdir().unwrap();
        let (mut child, address) = start(data.path());
        let mut idle = TcpStream::connect(address).unwrap();
        let started = Instant::now();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
        assert!(started.elapsed() < Duration::from_secs(8));
        assert!(matches!(idle.read(&mut [0]), Ok(0) | Err(_)));
        let mut log = String::new();
        child.stderr.unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("listening on 127.0.0.1:"), "{log}");
        assert!(log.lines().all(|line| line.starts_with('{')), "a log line is not JSON: {log}");
    }
}

/// Has a server log so much that standard error, a pipe that nobody reads, takes no more, and
/// the queue before it does not either. Every command is answered all the same.
fn fill_the_log(address: &str) -> Connection {
    let mut connection = Connection::open(address.parse().unwrap()).unwrap();
    let validator = rawdoc! { "x": { "$exists": true } };
    let create = rawdoc! {
        "create": "c", "validator": validator, "validationAction": "warn", "$db": "d",
    };
    connection.command(&create).unwrap();
    for round in 0.. {
        assert!(round < 100, "nothing was dropped");
        let mut documents = bson::RawArrayBuf::new();
        (0..1_000).for_each(|at| documents.push(rawdoc! { "_id": round * 1_000 + at }));
        let insert = rawdoc! { "insert": "c", "documents": documents, "$db": "d" };
        let reply = connection.command(&insert).unwrap();
        assert_eq!(reply.get_i32("n").unwrap(), 1_000);
        let status = rawdoc! { "serverStatus": 1, "$db": "admin" };
        let status = connection.command(&status).unwrap();
        if status.get_document("log").unwrap().get_i64("linesDropped").unwrap() > 0 {
            break;
        }
    }
    connection
}

#[test]
fn a_log_that_nobody_reads_keeps_nobody_waiting() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    let _connection = fill_the_log(&address);
    // Once it is read, it says what is missing.
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = log.find(|line| line.contains("lines of the log were dropped")).unwrap();
    assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
    let rest = std::thread::spawn(move || log.last());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let last = rest.join().unwrap().unwrap();
    assert!(last.contains(r#""stopped""#), "the end was not written out: {last}");
}

#[test]
fn a_log_that_nobody_reads_does_not_keep_it_from_stopping() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    let _connection = fill_the_log(&address);
    signal(&child, "TERM");
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(5) {
            child.kill().unwrap();
            panic!("it runs on after SIGTERM");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn http_is_there() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, _) = start(data.path());
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = log.find(|line| line.contains("serving HTTP on ")).unwrap();
    let address = line.split("serving HTTP on ").nth(1).unwrap().split('"').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn clients_read_the_log() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    let client = mongodb::Client::with_uri_str(format!("mongodb://{address}/")).await.unwrap();
    let admin = client.database("admin");
    let reply = admin.run_command(doc! { "getLog": "global" }).await.unwrap();
    let lines = reply.get_array("log").unwrap();
    assert_eq!(lines.len(), reply.get_i32("totalLinesWritten").unwrap() as usize);
    let told = |line: &bson::Bson| line.as_str().unwrap().contains(&address);
    assert!(lines.iter().any(told), "{lines:?}");
    let asked = doc! { "getParameter": 1, "logComponentVerbosity": 1 };
    let reply = admin.run_command(asked).await.unwrap();
    assert_eq!(reply.get_document("logComponentVerbosity").unwrap(), &doc! { "verbosity": 0 });
    // More is logged from now on, and then less again.
    let of_failures = async |level: i32| {
        let set = doc! { "setParameter": 1, "logComponentVerbosity": { "verbosity": level } };
        admin.run_command(set).await.unwrap();
        admin.run_command(doc! { "nonsense": 1 }).await.unwrap_err();
        let reply = admin.run_command(doc! { "getLog": "global" }).await.unwrap();
        let lines = reply.get_array("log").unwrap();
        lines.iter().filter(|line| line.as_str().unwrap().contains("'nonsense'")).count()
    };
    assert_eq!([of_failures(0).await, of_failures(1).await, of_failures(0).await], [0, 1, 1]);
    for wrong in [doc! { "query": { "verbosity": 1 } }, doc! { "verbosity": 6 }, doc! {}] {
        let set = doc! { "setParameter": 1, "logComponentVerbosity": wrong };
        admin.run_command(set).await.unwrap_err();
    }
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn cursors_and_expired_documents_go_by_their_parameters() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    let client = mongodb::Client::with_uri_str(format!("mongodb://{address}/")).await.unwrap();
    let (admin, database) = (client.database("admin"), client.database("d"));
    let set = async |name: &str, value: bson::Bson| {
        let reply = admin.run_command(doc! { "setParameter": 1, name: value }).await.unwrap();
        reply.get("was").cloned().unwrap()
    };
    assert_eq!(set("ttlMonitorEnabled", false.into()).await, true.into());
    let index = doc! { "key": { "at": 1 }, "name": "at", "expireAfterSeconds": 0 };
    database.run_command(doc! { "createIndexes": "c", "indexes": [index] }).await.unwrap();
    let expired = [doc! { "at": bson::DateTime::now() }, doc! { "at": bson::DateTime::now() }];
    let documents = database.collection::<bson::Document>("c");
    documents.insert_many(expired).await.unwrap();
    assert_eq!(set("cursorTimeoutMillis", 1.into()).await, 600_000.into());
    let reply = database.run_command(doc! { "find": "c", "batchSize": 1 }).await.unwrap();
    let cursor = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    // A sweep of cursors, and several of documents.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let more = database.run_command(doc! { "getMore": cursor, "collection": "c" }).await;
    assert!(more.unwrap_err().to_string().contains("CursorNotFound"));
    assert_eq!(documents.count_documents(doc! {}).await.unwrap(), 2);
    assert_eq!(set("ttlMonitorEnabled", true.into()).await, false.into());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(documents.count_documents(doc! {}).await.unwrap(), 0);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_use_exits_with_2() {
    assert_failed(&freeboard().output().unwrap(), "Usage");
    assert_failed(&freeboard().args(["serve", "--nonsense"]).output().unwrap(), "--nonsense");
    assert_failed(&freeboard().arg("nonsense").output().unwrap(), "nonsense");
    assert!(freeboard().arg("--help").output().unwrap().status.success());
    let output = freeboard().arg("serve").env("FREEBOARD_LOG", "a=b=c").output().unwrap();
    assert_failed(&output, "FREEBOARD_LOG");
}

#[test]
fn a_failure_is_one_sentence_and_exits_with_2() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    let output = freeboard()
        .args(["serve", "--listen", &address, "--data"])
        .arg(data.path().join("other"))
        .output()
        .unwrap();
    assert_failed(&output, "in use");
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
    // It did not get as far as making a store.
    assert!(!data.path().join("other").exists());
    signal(&child, "TERM");
    child.wait().unwrap();
}

#[test]
fn an_address_without_a_port_is_said() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("store");
    let output = freeboard().args(["serve", "--listen", "localhost", "--data"]).arg(&data).output();
    assert_failed(&output.unwrap(), "give host and port with --listen, such as 127.0.0.1:27017");
    assert!(!data.exists(), "it got as far as making a store");
}

#[test]
fn addresses_of_other_machines_are_refused_unless_that_is_meant() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("store");
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let output = freeboard().args(["serve", "--listen", listen, "--data"]).arg(&data).output();
        assert_failed(&output.unwrap(), "--allow-open");
    }
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0", "--data"];
    assert_failed(&freeboard().args(arguments).arg(&data).output().unwrap(), "--http");
    assert!(!data.exists(), "it got as far as making a store");
}

#[tokio::test]
async fn an_open_server_warns_whoever_connects() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start_with(data.path(), &["--allow-open", "--listen", "0.0.0.0:0"]);
    let port = address.split_once(':').unwrap().1;
    let client =
        mongodb::Client::with_uri_str(format!("mongodb://127.0.0.1:{port}/")).await.unwrap();
    let reply = client.database("admin").run_command(doc! { "getLog": "startupWarnings" }).await;
    let reply = reply.unwrap();
    let line = reply.get_array("log").unwrap()[0].as_str().unwrap();
    assert!(line.contains("read and change everything"), "{line}");
    assert_eq!(reply.get_i32("totalLinesWritten").unwrap(), 1);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    let mut log = String::new();
    child.stderr.unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("WARN") && log.contains("read and change everything"), "{log}");
}
