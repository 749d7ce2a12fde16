//! A policy is left while clients push, and the server is killed again and again. Whatever a
//! document was doing, it is restored or it is not; every element is there once, in the order in
//! which its client pushed it; and in the end no pages are left and no policy.

use crate::connection::{Answer, Connection};
use crate::workers::session;
use crate::{FREEBOARD, RESERVE, check};
use bson::{Bson, Document, doc};
use freeboard_tests::process::Process;
use rand::Rng;
use std::collections::BTreeMap;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const DATABASE: &str = "undo";
const COLLECTION: &str = "documents";
const PAGES: &str = "pages";
const DOCUMENTS: i32 = 120;
/// Elements of each document when it begins.
const ELEMENTS: i32 = 150;
const CLIENTS: i32 = 6;
const KILLS: usize = 6;
/// The longest that it runs before a kill.
const LOAD_MAX: Duration = Duration::from_millis(400);
/// How long a job looks for a server that was killed.
const SELECTION: Duration = Duration::from_secs(2);

#[test]
fn a_policy_is_left_through_sigkill_while_clients_push() {
    undo_through_kills(doc! { "into": PAGES, "page": 20 }, check::indexes);
}

#[test]
fn a_policy_of_named_counters_is_left_through_sigkill() {
    let overflow = doc! {
        "into": PAGES, "page": 20, "keep": "newest", "read": "head",
        "count": "logCount", "flag": "more", "pages": "pages",
    };
    undo_through_kills(overflow, check::everything);
}

fn undo_through_kills(overflow: Document, check_store: fn(&Process)) {
    let data = tempfile::tempdir().unwrap();
    let mut server = FREEBOARD.start(data.path(), RESERVE);
    prepare(&mut Connection::to(&server), overflow);
    let mut clients: Vec<Client> = (0..CLIENTS).map(Client::new).collect();
    for _ in 0..KILLS {
        let undo = undo(&server, &["--batch", "3"], SELECTION);
        run(&mut clients, &server, || {
            wait_until_left(&server);
            std::thread::sleep(rand::rng().random_range(Duration::ZERO..LOAD_MAX));
            server.kill();
        });
        server.wait();
        let output = undo.wait_with_output().unwrap();
        assert!(output.status.success() || is_resumable(&output), "{output:?}");
        server = FREEBOARD.start(data.path(), RESERVE);
        check_store(&server);
        let mut connection = Connection::to(&server);
        check_elements(&mut connection, &clients);
        verify(&mut connection);
        let left = connection.run(DATABASE, doc! { "count": PAGES }).unwrap();
        eprintln!("{} pages are left", left.get_i32("n").unwrap());
    }
    // To the end, with clients beside it.
    let undo = undo(&server, &[], Duration::from_secs(30));
    let mut output = None;
    run(&mut clients, &server, || output = Some(undo.wait_with_output().unwrap()));
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    server.stop();
    let server = FREEBOARD.start(data.path(), RESERVE);
    check::everything(&server);
    let mut connection = Connection::to(&server);
    check_elements(&mut connection, &clients);
    assert_eq!(connection.all(DATABASE, PAGES), Vec::<Document>::new());
    let known = connection.run(DATABASE, doc! { "getGrowthPolicy": COLLECTION }).unwrap();
    assert_eq!(known.get("policy"), Some(&Bson::Null));
    for document in connection.all(DATABASE, COLLECTION) {
        assert_eq!(document.keys().collect::<Vec<_>>(), ["_id", "log"], "{document}");
    }
    server.stop();
}

/// The policy is being left from the first batch on; before it, a kill would interrupt nothing.
fn wait_until_left(server: &Process) {
    let mut connection = Connection::to(server);
    loop {
        let known = connection.run(DATABASE, doc! { "getGrowthPolicy": COLLECTION }).unwrap();
        if known.get_bool("leaving").unwrap_or(known.get("policy") == Some(&Bson::Null)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn undo(server: &Process, more: &[&str], selection: Duration) -> Child {
    let selection = selection.as_millis();
    let uri = format!("mongodb://{}/?serverSelectionTimeoutMS={selection}", server.address);
    let namespace = format!("{DATABASE}.{COLLECTION}");
    let mut command = FREEBOARD.command();
    command.args(["migrate", &uri, "--undo", "--collection", &namespace, "--rate", "0"]);
    command.args(more).spawn().unwrap()
}

/// Pages and counters are as the policy has them, as long as there is one.
fn verify(connection: &mut Connection) {
    let known = connection.run(DATABASE, doc! { "getGrowthPolicy": COLLECTION }).unwrap();
    if known.get("policy") != Some(&Bson::Null) {
        let found = connection.run(DATABASE, doc! { "verifyGrowth": COLLECTION }).unwrap();
        assert!(found.get_bool("clean").unwrap(), "{found}");
    }
}

/// The server went away, be it before the job began: that is no failure of the job.
fn is_resumable(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    ["the same command goes on where it stopped", "no server answers", "the connection was lost"]
        .iter()
        .any(|words| said.contains(words))
}

fn prepare(connection: &mut Connection, overflow: Document) {
    let rule = doc! { "max": 10, "on_limit": "overflow", "overflow": overflow };
    let policy = doc! { "arrays": { "log": rule } };
    connection.run(DATABASE, doc! { "setGrowthPolicy": COLLECTION, "policy": policy }).unwrap();
    let index = doc! { "key": { "log.n": 1 }, "name": "n" };
    connection.run(DATABASE, doc! { "createIndexes": COLLECTION, "indexes": [index] }).unwrap();
    let log: Vec<Document> = (0..ELEMENTS).map(|n| element(-1, n)).collect();
    for id in 0..DOCUMENTS {
        let document = doc! { "_id": id, "log": log.clone() };
        connection.run(DATABASE, doc! { "insert": COLLECTION, "documents": [document] }).unwrap();
    }
}

fn element(client: i32, n: i32) -> Document {
    doc! { "c": client, "n": n, "text": "x".repeat(n as usize % 16 * 8) }
}

/// A client, and what it knows to have pushed.
struct Client {
    name: i32,
    session: Document,
    /// How many pushes to each document were acknowledged.
    acknowledged: BTreeMap<i32, i32>,
    /// How many there were in all.
    pushes: i64,
    /// The document that it was pushing to when the server went.
    pending: Option<i32>,
}

impl Client {
    fn new(name: i32) -> Client {
        Client { name, session: session(), acknowledged: BTreeMap::new(), pushes: 0, pending: None }
    }

    /// Pushes to some document, or once more what nobody answered.
    fn push(&mut self, connection: &mut Connection) -> Answer<()> {
        let id = self.pending.unwrap_or_else(|| rand::rng().random_range(0..DOCUMENTS));
        let n = self.acknowledged.get(&id).copied().unwrap_or(0);
        let push = doc! { "$push": { "log": element(self.name, n) } };
        self.pending = Some(id);
        let command = doc! {
            "update": COLLECTION,
            "updates": [{ "q": { "_id": id }, "u": push }],
            "lsid": self.session.clone(),
            "txnNumber": self.pushes + 1,
        };
        let reply = connection.run(DATABASE, command)?;
        assert_eq!(reply.get_i32("nModified").unwrap(), 1, "{reply}");
        self.pending = None;
        self.pushes += 1;
        *self.acknowledged.entry(id).or_default() += 1;
        Ok(())
    }
}

/// Runs the clients until something has been done, or the server is gone.
fn run(clients: &mut [Client], server: &Process, meanwhile: impl FnOnce()) {
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for client in clients {
            let mut connection = Connection::to(server);
            let stopped = &stopped;
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) && client.push(&mut connection).is_ok() {}
            });
        }
        meanwhile();
        stopped.store(true, Ordering::Relaxed);
    });
}

/// Everything acknowledged is there once and in order, in the documents or on their pages.
fn check_elements(connection: &mut Connection, clients: &[Client]) {
    for document in connection.all(DATABASE, COLLECTION) {
        let id = document.get_i32("_id").unwrap();
        // The whole sequence, whatever finds show.
        let slice = doc! { "log": { "$slice": [0, 1_000_000] } };
        let find = doc! { "find": COLLECTION, "filter": { "_id": id }, "projection": slice };
        let reply = connection.run(DATABASE, find).unwrap();
        let cursor = reply.get_document("cursor").unwrap();
        let whole = cursor.get_array("firstBatch").unwrap()[0].as_document().unwrap();
        let mut found: BTreeMap<i32, i32> = BTreeMap::new();
        for element in whole.get_array("log").unwrap() {
            let element = element.as_document().unwrap();
            let (client, n) = (element.get_i32("c").unwrap(), element.get_i32("n").unwrap());
            let next = found.entry(client).or_default();
            assert_eq!(n, *next, "of client {client} in {id}: lost, twice or out of order");
            *next += 1;
        }
        assert_eq!(found.remove(&-1), Some(ELEMENTS), "{id}");
        for client in clients {
            let found = found.get(&client.name).copied().unwrap_or(0);
            let least = client.acknowledged.get(&id).copied().unwrap_or(0);
            let most = least + i32::from(client.pending == Some(id));
            assert!((least..=most).contains(&found), "of client {} in {id}: {found}", client.name);
        }
    }
}
