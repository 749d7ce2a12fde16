//! No request is parsed to more than what was reserved for it. Each row of the table in
//! `freeboard_tests::cost` is sent, large, to a server that holds no data, so that what it
//! allocates is what its command is parsed and planned to; that is compared with what
//! `engine::footprint` says of the command.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod allocated;
mod held;
mod unread;

use bson::{RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};
use command::Request;
use freeboard_tests::connection::Connection;
use freeboard_tests::cost::{self, Row};
use freeboard_tests::served;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: allocated::Counting = allocated::Counting;

/// One test at a time: what the process allocates is counted.
static TURN: Mutex<()> = Mutex::new(());

/// Large enough that what is not about the request does not matter.
const COMMAND_BYTES: usize = 512 * 1024;

/// The message as it came, its reply, and what the server does meanwhile.
const OTHER_BYTES: usize = 2 * 1024 * 1024;

/// Commands that write what they are given, which their transactions count.
const WRITES: &[&str] = &["insert", "setGrowthPolicy"];

/// Rows whose constants are computed while they are parsed, which evaluation counts.
const COMPUTED: &[&str] = &["$range", "a constant search"];

#[test]
fn requests_take_no_more_than_is_reserved_for_them() {
    let _turn = TURN.lock();
    let address = served::address().expect("a server");
    let mut connection = Connection::open(address).expect("a connection");
    let mut failed = Vec::new();
    for row in cost::rows() {
        let command = large(row);
        let request = Request::from(command.clone());
        let Some(of) = command::command(request.name()) else { continue };
        if WRITES.contains(&of.name) || COMPUTED.contains(&row.name) {
            continue;
        }
        let reserved = engine::footprint::of_request(&request, of);
        let bytes = command.as_bytes().len();
        let drop = rawdoc! { "dropDatabase": 1, "$db": database(&command) };
        connection.command(&drop).expect("a reply");
        let (reply, taken) = allocated::most_during(|| connection.command(&command));
        let reply = reply.expect("a reply");
        let allowed = reserved + 4 * bytes + OTHER_BYTES;
        println!("{:60} {bytes:>10} {taken:>12} {reserved:>12} {:.80?}", row.name, code(&reply));
        if taken > allowed {
            failed.push(format!("{}: {bytes} bytes take {taken}, not {reserved}", row.name));
        }
    }
    assert!(failed.is_empty(), "these take more than is reserved:\n{}", failed.join("\n"));
}

/// The row's command, long, but no longer than it may be.
fn large(row: &Row) -> RawDocumentBuf {
    let small = row.case(row.size).command;
    let times = (COMMAND_BYTES / small.as_bytes().len()).max(1);
    row.case((times * row.size).min(row.largest).max(row.size)).command
}

fn database(command: &RawDocument) -> String {
    command.get_str("$db").unwrap_or("cost").to_owned()
}

fn code(reply: &RawDocument) -> Option<RawBsonRef<'_>> {
    reply.get("code").ok().flatten()
}
