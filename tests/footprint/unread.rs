//! Replies that nobody reads: what does not fit in the memory budget is refused before it is
//! read from the store.

use crate::{TURN, allocated};
use bson::rawdoc;
use freeboard_tests::connection::{Connection, Manner};
use freeboard_tests::served;
use std::time::{Duration, Instant};

const MEMORY_BYTES: u64 = 256 * 1024 * 1024;
const DOCUMENT_BYTES: usize = 12 * 1024 * 1024;
const CLIENTS: usize = 60;
/// Requests share a half of it. Reading a value takes as much again for a moment, and so does
/// writing it into the reply.
const TAKEN_BYTES_MAX: usize = 240 * 1024 * 1024;

#[test]
fn documents_for_which_there_is_no_room_are_not_read() {
    let _turn = TURN.lock();
    let served =
        served::own(|options| options.memory_bytes = Some(MEMORY_BYTES)).expect("a server");
    let mut other = Connection::open(served.address).expect("a connection");
    // An array, which is read in segments.
    let item = "x".repeat(60_000);
    let items: Vec<&str> = vec![&item; DOCUMENT_BYTES / item.len()];
    let mut array = bson::RawArrayBuf::new();
    items.iter().for_each(|item| array.push(*item));
    let insert = rawdoc! { "insert": "c", "documents": [{ "_id": 1, "a": array }], "$db": "d" };
    other.command(&insert).expect("a reply");
    let find = rawdoc! { "find": "c", "$db": "d" };
    let (unread, taken) = allocated::most_during(|| {
        let mut unread = Vec::new();
        for _ in 0..CLIENTS {
            let mut client = Connection::open(served.address).expect("a connection");
            client.send(&find, Manner::default()).expect("a command");
            unread.push(client);
        }
        let until = Instant::now() + Duration::from_secs(4);
        while Instant::now() < until {
            other.command(&rawdoc! { "ping": 1, "$db": "admin" }).expect("a reply");
            std::thread::sleep(Duration::from_millis(50));
        }
        unread
    });
    assert!(taken < TAKEN_BYTES_MAX, "{taken} bytes were taken");
    let (mut answered, mut refused) = (0, 0);
    for mut client in unread {
        let (_, reply) = client.receive().expect("a reply");
        match reply.get_i32("code") {
            Ok(146) => refused += 1,
            _ => answered += 1,
        }
    }
    assert!(answered > 0 && refused > 0, "{answered} answered, {refused} refused");
}
