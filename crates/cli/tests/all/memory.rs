//! What connections that ask for nothing cost. Measured on a process of its own, where no
//! other test's memory is in the way.

use crate::binary::{resident_megabytes, signal, start};
use bson::rawdoc;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A ping, answered.
fn ping(address: &str) {
    let document = rawdoc! { "ping": 1, "$db": "admin" };
    let length = 16 + 4 + 1 + document.as_bytes().len() as i32;
    let header = [length, 1, 0, 2013, 0].map(i32::to_le_bytes).concat();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[&header, [0].as_slice(), document.as_bytes()].concat()).unwrap();
    let mut answer = [0; 38];
    stream.read_exact(&mut answer).unwrap();
    // The times of the reply come behind it.
    assert_eq!(&answer[25..37], &rawdoc! { "ok": 1.0 }.as_bytes()[4..16]);
}

/// What `count` connections add, each of which sends `bytes` and no more.
fn growth_megabytes(count: usize, bytes: &[u8]) -> usize {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    ping(&address);
    let before = resident_megabytes(&child);
    let mut silent = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(bytes).unwrap();
        silent.push(stream);
    }
    ping(&address);
    let grown = resident_megabytes(&child).saturating_sub(before);
    signal(&child, "TERM");
    assert!(child.wait().unwrap().success());
    grown
}

#[test]
fn ten_thousand_silent_connections_cost_little_and_others_are_served() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let count = limit.maximum.map_or(10_000, |maximum| maximum.saturating_sub(500).min(10_000));
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
    let grown = growth_megabytes(count as usize, b"");
    assert!(grown < 100, "{grown} MB for {count} silent connections");
}

#[test]
fn a_long_length_alone_buys_no_memory() {
    let header = [48_000_000, 1, 0, 2013].map(i32::to_le_bytes).concat();
    let grown = growth_megabytes(200, &header);
    assert!(grown < 100, "{grown} MB for 200 connections that promise 48 MB");
}
