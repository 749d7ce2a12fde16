//! The memory budget of the process, and its descriptors. Measured on processes of their own.

use crate::binary::{freeboard, resident_megabytes, signal, start_with};
use bson::{Document, doc, rawdoc};
use mongodb::Client;
use mongodb::options::ClientOptions;
use rustix::process::{Resource, Rlimit};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

pub const MEGABYTE: usize = 1024 * 1024;

/// The most that a server has had in memory.
pub fn peak_megabytes(child: &Child) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
}

/// Waits until a server has given memory back.
fn assert_falls_to(child: &Child, megabytes: usize) {
    let started = Instant::now();
    while resident_megabytes(child) > megabytes {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{} MB are still taken",
            resident_megabytes(child)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub fn stop(mut child: Child) {
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
}

pub async fn client(address: &str) -> Client {
    let mut options = ClientOptions::parse(format!("mongodb://{address}/")).await.unwrap();
    options.max_pool_size = Some(200);
    Client::with_options(options).unwrap()
}

/// A frame of OP_MSG.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let length = 16 + 4 + 1 + body.len() as i32;
    let header = [length, 1, 0, 2013, 0].map(i32::to_le_bytes).concat();
    [&header, [0].as_slice(), body].concat()
}

/// Documents of a megabyte.
async fn fill(client: &Client, count: i32) {
    let large = client.database("d").collection::<Document>("large");
    let text = "x".repeat(MEGABYTE);
    for id in 0..count {
        large
            .insert_one(doc! { "_id": id, "at": (id * 7919) % 1009, "text": &text })
            .await
            .unwrap();
    }
}

pub async fn assert_served(client: &Client) {
    let small = client.database("d").collection::<Document>("small");
    small.insert_one(doc! { "a": 1 }).await.unwrap();
    assert!(small.find_one(doc! { "a": 1 }).await.unwrap().is_some());
}

pub fn is_refused(error: &mongodb::error::Error) -> bool {
    let text = format!("{error:?}");
    text.contains("146") && text.contains("memory budget")
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_messages_are_within_the_budget() {
    const MESSAGE: usize = 47_000_000;
    let data = tempfile::tempdir().unwrap();
    let (child, address) = start_with(data.path(), &["--memory", "512MB"]);
    let client = client(&address).await;
    assert_served(&client).await;
    let before = resident_megabytes(&child);
    let header = [MESSAGE as i32, 1, 0, 2013, 0].map(i32::to_le_bytes).concat();
    let part = vec![b'x'; MESSAGE - MEGABYTE];
    let mut unfinished = Vec::new();
    for _ in 0..33 {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(&header).unwrap();
        stream.write_all(&part).unwrap();
        unfinished.push(stream);
    }
    assert_served(&client).await;
    let peak = peak_megabytes(&child);
    assert!(peak < 512, "{peak} MB for 33 messages");
    // The last of them found no room; once it is whole, it is refused.
    let mut last = unfinished.pop().unwrap();
    last.write_all(&vec![b'x'; MEGABYTE - header.len()]).unwrap();
    let mut length = [0; 4];
    last.read_exact(&mut length).unwrap();
    let mut reply = vec![0; i32::from_le_bytes(length) as usize - 4];
    last.read_exact(&mut reply).unwrap();
    let reply = String::from_utf8_lossy(&reply);
    assert!(reply.contains("memory budget") && reply.contains("--memory"), "{reply}");
    drop((unfinished, last));
    assert_falls_to(&child, before + 100);
    assert_served(&client).await;
    stop(child);
}

#[tokio::test(flavor = "multi_thread")]
async fn sorted_cursors_are_within_the_budget() {
    const DOCUMENTS: i32 = 40;
    let data = tempfile::tempdir().unwrap();
    let (child, address) = start_with(data.path(), &["--memory", "512MB"]);
    let client = client(&address).await;
    fill(&client, DOCUMENTS).await;
    let large = client.database("d").collection::<Document>("large");
    let mut cursors = Vec::new();
    for at in 0..20 {
        // Half of them are plans, the others pipelines.
        let cursor = match at % 2 {
            0 => large.find(doc! {}).sort(doc! { "at": 1 }).batch_size(1).await.unwrap(),
            _ => {
                let pipeline = [
                    doc! { "$addFields": { "by": { "$add": ["$at", 0] } } },
                    doc! { "$sort": { "by": 1 } },
                ];
                let cursor = large.aggregate(pipeline).allow_disk_use(true).batch_size(1);
                cursor.with_type().await.unwrap()
            }
        };
        cursors.push(cursor);
    }
    assert_served(&client).await;
    let peak = peak_megabytes(&child);
    assert!(peak < 512, "{peak} MB for {} cursors of {DOCUMENTS} MB", cursors.len());
    // What went to files comes back whole and in order.
    for mut cursor in cursors.drain(..).rev().take(2) {
        let (mut count, mut last) = (0, i32::MIN);
        while cursor.advance().await.unwrap() {
            let at = cursor.deserialize_current().unwrap().get_i32("at").unwrap();
            assert!(at >= last);
            (count, last) = (count + 1, at);
        }
        assert_eq!(count, DOCUMENTS);
    }
    stop(child);
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_are_within_the_budget() {
    let data = tempfile::tempdir().unwrap();
    let (child, address) = start_with(data.path(), &["--memory", "256MB"]);
    let client = client(&address).await;
    let large = client.database("d").collection::<Document>("large");
    large.insert_one(doc! { "_id": 0 }).await.unwrap();
    let text = "x".repeat(8 * MEGABYTE);
    let mut sessions = Vec::new();
    let mut refused = 0;
    for _ in 0..4 {
        let mut session = client.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        for _ in 0..6 {
            let insert = large.insert_one(doc! { "text": &text }).session(&mut session);
            if let Err(error) = insert.await {
                assert!(is_refused(&error), "{error:?}");
                refused += 1;
                break;
            }
        }
        sessions.push(session);
    }
    assert!((1..4).contains(&refused), "{refused} of 4 were refused");
    let peak = peak_megabytes(&child);
    assert!(peak < 300, "{peak} MB");
    sessions[0].commit_transaction().await.unwrap();
    assert_eq!(large.count_documents(doc! {}).await.unwrap(), 7);
    assert_served(&client).await;
    stop(child);
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_nobody_reads_are_within_the_budget() {
    let data = tempfile::tempdir().unwrap();
    let (child, address) = start_with(data.path(), &["--memory", "256MB"]);
    let client = client(&address).await;
    fill(&client, 15).await;
    let before = resident_megabytes(&child);
    let find = rawdoc! { "find": "large", "batchSize": 1000, "$db": "d" };
    let mut unread = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(&frame(find.as_bytes())).unwrap();
        unread.push(stream);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_served(&client).await;
    let peak = peak_megabytes(&child);
    assert!(peak < 300, "{peak} MB for 40 replies of 15 MB");
    drop(unread);
    // The cursors of those that have gone keep a row each.
    assert_falls_to(&child, before + 60);
    stop(child);
}

/// The HTTP address, off the log of a server.
fn http_address(child: &mut Child) -> String {
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = log.find(|line| line.contains("serving HTTP on ")).unwrap();
    std::thread::spawn(move || log.for_each(drop));
    line.split("serving HTTP on ").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// The status and the body of an answer.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// A server that is given few descriptors.
fn start_with_descriptors(data: &Path, count: usize) -> (Child, String) {
    let binary = freeboard();
    let serve = format!(
        "ulimit -n {count} && exec {} serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --data {}",
        binary.get_program().to_string_lossy(),
        data.display()
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &serve]).stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").expect("a ready line").to_owned();
    (child, address)
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_leave_descriptors_for_the_store() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start_with_descriptors(data.path(), 300);
    let http = http_address(&mut child);
    let client = client(&address).await;
    assert_served(&client).await;
    let mut idle: Vec<_> = (0..400).map(|_| TcpStream::connect(&http).unwrap()).collect();
    idle.extend((0..400).map(|_| TcpStream::connect(&address).unwrap()));
    // Enough for new journals and tables.
    fill(&client, 200).await;
    assert_served(&client).await;
    let started = Instant::now();
    assert_eq!(get(&http, "/healthz"), (200, "ok".to_owned()));
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    drop(idle);
    stop(child);
}

/// A store that cannot make a file fails for good: it says why, and a restart serves all that
/// was acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_descriptors_says_so() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start_with(data.path(), &[]);
    let http = http_address(&mut child);
    let client = client(&address).await;
    assert_served(&client).await;
    let process = rustix::process::Pid::from_child(&child);
    let limit = |current| {
        let now = rustix::process::getrlimit(Resource::Nofile);
        let new = Rlimit { current: Some(current), maximum: now.maximum };
        rustix::process::prlimit(Some(process), Resource::Nofile, new).unwrap();
    };
    limit(8);
    let large = client.database("d").collection::<Document>("large");
    let text = "x".repeat(MEGABYTE);
    let mut acknowledged = 0;
    let error = loop {
        match large.insert_one(doc! { "_id": acknowledged, "text": &text }).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error.to_string(),
        }
        assert!(acknowledged < 400, "no file was made");
    };
    assert!(error.contains("no descriptors left") && error.contains("restart"), "{error}");
    limit(1_000);
    // It does not heal by itself, and reads go on.
    let (status, why) = get(&http, "/healthz");
    assert_eq!(status, 503);
    assert!(why.contains("no descriptors left"), "{why}");
    assert!(large.insert_one(doc! { "_id": -1 }).await.is_err());
    let count = large.count_documents(doc! {}).await.unwrap();
    assert!(count >= acknowledged as u64, "{count} of {acknowledged}");
    stop(child);

    let (child, address) = start_with(data.path(), &[]);
    let client = self::client(&address).await;
    let large = client.database("d").collection::<Document>("large");
    assert!(large.count_documents(doc! {}).await.unwrap() >= acknowledged as u64);
    assert_served(&client).await;
    stop(child);
}

#[test]
fn readiness_is_told_apart_from_health() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, _) = start_with(data.path(), &["--reserve", "1000TB"]);
    let http = http_address(&mut child);
    let started = Instant::now();
    let why = loop {
        let (status, why) = get(&http, "/readyz");
        if status == 503 {
            break why;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "it says that it is ready");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(why.contains("--reserve"), "{why}");
    assert_eq!(get(&http, "/healthz"), (200, "ok".to_owned()));
    stop(child);
}

#[test]
fn a_budget_that_is_too_small_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let output = freeboard()
        .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--memory", "10MB"])
        .arg("--data")
        .arg(data.path().join("store"))
        .output()
        .unwrap();
    crate::binary::assert_failed(&output, "--memory");
    assert!(!data.path().join("store").exists());
}
