//! The watchdog: while something heavy or hostile runs, another client is answered as if
//! nothing happened. Availability is a property that only a second client sees.
//!
//! Each row of the table is sent by one client and by eight at once. Meanwhile pings, point
//! reads and `/healthz` must come back within [`ANSWER_MAX`]; once the clients have gone, so
//! must the work; and a stop signal ends the server within [`STOP_MAX`] whatever runs.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod frames;
mod fuzz;
mod observer;
mod rows;

use bson::doc;
use frames::{Client, Frame};
use freeboard_tests::cost;
use freeboard_tests::process::{Binary, Process};
use observer::Observer;
use rows::Row;
use std::slice;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const FREEBOARD: Binary = Binary(env!("CARGO_BIN_EXE_freeboard"));
/// Clients that send at once.
const CLIENTS: usize = 8;
/// How long any other client may wait.
const ANSWER_MAX: Duration = Duration::from_millis(200);
/// How long a stop may take.
const STOP_MAX: Duration = Duration::from_secs(5);
/// How long a row runs.
const WATCHED: Duration = Duration::from_millis(400);
/// How soon work ends once its client has gone.
const GONE_MAX: Duration = Duration::from_secs(3);
/// A machine that tests may hiccup by itself, but not so often in a row.
const TRIES: usize = 3;
/// Held by the test that runs: another one beside it would be measured too.
static ALONE: Mutex<()> = Mutex::new(());
/// Runs only the rows whose names contain this.
const ONLY_VARIABLE: &str = "FREEBOARD_WATCHDOG_ONLY";

/// What the names of the rows contain that are run; nothing for all.
fn only() -> String {
    std::env::var(ONLY_VARIABLE).unwrap_or_default()
}

fn rows() -> Vec<Row> {
    rows::all().into_iter().filter(|row| row.name.contains(&only())).collect()
}

/// The frames are on their way, and nobody reads the replies.
fn send(process: &Process, frames: &[Frame], clients: usize) -> Vec<Client> {
    let send = |_| Client::send_from_aside(&process.address, frames.to_vec());
    (0..clients).map(send).collect()
}

#[test]
fn others_are_answered_meanwhile() {
    let _alone = ALONE.lock();
    let data = tempfile::tempdir().unwrap();
    let process = FREEBOARD.start(data.path(), &[]);
    rows::prepare(&process);
    let mut failures = Vec::new();
    for row in rows() {
        for clients in [1, CLIENTS] {
            let tries = (0..TRIES).map(|_| watch(&process, &row, clients));
            if let Some(why) = until_ok(tries) {
                failures.push(format!("{} with {clients} clients: {why}", row.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    process.stop_within(STOP_MAX);
}

/// Why all tries failed; nothing if one did not.
fn until_ok(tries: impl Iterator<Item = Result<(), String>>) -> Option<String> {
    let mut last = None;
    for outcome in tries {
        last = Some(outcome.err()?);
    }
    last
}

/// Sends a row's frames and watches how others are answered.
fn watch(process: &Process, row: &Row, clients: usize) -> Result<(), String> {
    let frames = (row.frames)();
    let answered = watch_while(process, row.name, || send(process, &frames, clients));
    match ended_within(process, GONE_MAX) || row.goes_on {
        true => answered,
        false => Err("it went on after its client had gone".to_owned()),
    }
}

fn watch_while(
    process: &Process,
    name: &str,
    begin: impl FnOnce() -> Vec<Client>,
) -> Result<(), String> {
    let observer = Observer::start(process);
    let senders = begin();
    std::thread::sleep(WATCHED);
    let slowest = observer.stop();
    println!("{name}: {} took {:?}", slowest.what, slowest.time);
    drop(senders);
    match slowest.time > ANSWER_MAX {
        true => Err(format!("{} took {:?}", slowest.what, slowest.time)),
        false => Ok(()),
    }
}

/// Whether everything but the question has ended.
fn ended_within(process: &Process, time: Duration) -> bool {
    let started = Instant::now();
    let mut client = Client::connect(&process.address);
    while started.elapsed() < time {
        let reply = client.run(doc! { "currentOp": 1, "$db": "admin" });
        if reply.get_array("inprog").unwrap().len() <= 1 {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Every row of the table of costs at a size that takes long, eight rows at once.
#[test]
fn others_are_answered_whatever_the_size() {
    let _alone = ALONE.lock();
    let data = tempfile::tempdir().unwrap();
    let process = FREEBOARD.start(data.path(), &[]);
    rows::prepare(&process);
    let rows: Vec<_> = cost::rows().filter(|row| row.name.contains(&only())).collect();
    let mut failures = Vec::new();
    for rows in rows.chunks(CLIENTS) {
        let names: Vec<_> = rows.iter().map(|row| row.name).collect();
        let commands = rows.iter().zip(0..).map(|(row, place)| set_up(&process, row, place));
        let commands: Vec<_> = commands.collect();
        let tries = (0..TRIES).map(|_| {
            watch_while(&process, &names.join(", "), || {
                commands
                    .iter()
                    .flat_map(|frame| send(&process, slice::from_ref(frame), 1))
                    .collect()
            })
        });
        if let Some(why) = until_ok(tries) {
            failures.push(format!("one of {names:?}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    process.stop_within(STOP_MAX);
}

/// Prepares a row's data in a database of its own, and gives its command.
fn set_up(process: &Process, row: &cost::Row, place: usize) -> Frame {
    // A build that is not optimised takes several times as long for the same.
    let size = if cfg!(debug_assertions) { row.largest / 8 } else { row.largest };
    let case = row.case(size.max(row.size));
    let frame = frames::raw(&frames::in_database(&case.command, place));
    let mut client = Client::connect(&process.address);
    for command in &case.setup {
        client.run_raw(&frames::in_database(command, place));
    }
    frame.expect("a message that is not too long")
}

/// A change stream that nobody reads, with and without leave to send replies.
#[test]
fn streams_end_with_their_clients() {
    let _alone = ALONE.lock();
    let data = tempfile::tempdir().unwrap();
    let process = FREEBOARD.start(data.path(), &[]);
    rows::prepare(&process);
    for silent in [false, true] {
        let observer = Observer::start(&process);
        let streams: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut client = Client::connect(&process.address);
                let watch = doc! {
                    "aggregate": "heavy", "pipeline": [{ "$changeStream": {} }], "cursor": {},
                    "$db": "watchdog",
                };
                let reply = client.run(watch);
                let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
                let more = doc! {
                    "getMore": id, "collection": "heavy", "maxTimeMS": 1, "$db": "watchdog",
                };
                client.write(&frames::exhaust(more, silent));
                client
            })
            .collect();
        std::thread::sleep(WATCHED);
        let slowest = observer.stop();
        assert!(slowest.time < ANSWER_MAX, "{} took {:?}", slowest.what, slowest.time);
        drop(streams);
        assert!(ended_within(&process, GONE_MAX), "a stream goes on, silent: {silent}");
    }
    let before = process.cpu_time();
    std::thread::sleep(Duration::from_secs(1));
    let used = process.cpu_time() - before;
    assert!(used < Duration::from_millis(300), "an idle server used {used:?} in a second");
    process.stop_within(STOP_MAX);
}

#[test]
fn a_stop_is_obeyed_whatever_runs() {
    let _alone = ALONE.lock();
    for rows in rows().chunks(CLIENTS) {
        let data = tempfile::tempdir().unwrap();
        let process = FREEBOARD.start(data.path(), &[]);
        rows::prepare(&process);
        let clients: Vec<_> =
            rows.iter().flat_map(|row| send(&process, &(row.frames)(), 2)).collect();
        std::thread::sleep(WATCHED);
        let log = process.stop_within(STOP_MAX);
        let names: Vec<_> = rows.iter().map(|row| row.name).collect();
        assert!(!log.contains("panicked"), "{names:?}: {log}");
        drop(clients);
    }
}
