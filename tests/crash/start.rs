//! How the server starts on what it finds.

use crate::connection::Connection;
use crate::{FREEBOARD, RESERVE};
use bson::doc;
use rand::Rng;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Times that a first start is killed.
const KILLS: u32 = 15;

#[test]
fn a_first_start_may_be_killed_at_any_point() {
    let data = tempfile::tempdir().unwrap();
    for _ in 0..KILLS {
        let time = rand::rng().random_range(Duration::ZERO..Duration::from_millis(150));
        FREEBOARD.spawn(data.path(), RESERVE).kill_after(time);
    }
    let server = FREEBOARD.start(data.path(), RESERVE);
    Connection::to(&server).run("d", doc! { "insert": "c", "documents": [{ "_id": 1 }] }).unwrap();
    server.stop();
}

/// A write that would pass the limit of the process for the size of files fails; no signal ends
/// the process.
#[test]
fn a_limit_of_file_sizes_is_told_in_a_sentence() {
    const SCRIPT: &str =
        r#"ulimit -f 4; exec "$0" serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --data "$1""#;
    let data = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", SCRIPT, FREEBOARD.0]).arg(data.path()).output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{}: {log}", output.status);
    let last = log.lines().last().unwrap_or_default();
    assert!(last.starts_with("freeboard: cannot open the store"), "{log}");
    assert!(last.contains("File too large"), "{log}");
}

#[test]
fn a_start_tells_how_the_store_was_left_in_one_line() {
    let data = tempfile::tempdir().unwrap();
    let line = |log: &str| {
        let lines: Vec<_> = log.lines().filter(|line| line.contains("store open")).collect();
        assert_eq!(lines.len(), 1, "{log}");
        lines[0].to_owned()
    };
    let insert = |id: i32| doc! { "insert": "c", "documents": [{ "_id": id }] };
    let server = FREEBOARD.start(data.path(), RESERVE);
    Connection::to(&server).run("d", insert(1)).unwrap();
    let first = line(&server.stop());
    assert!(first.contains(r#""last_stop":"none""#), "{first}");

    let server = FREEBOARD.start(data.path(), RESERVE);
    Connection::to(&server).run("d", insert(2)).unwrap();
    server.kill();
    let second = line(&server.wait());
    assert!(second.contains(r#""last_stop":"clean""#), "{second}");

    // A batch that was begun and not finished.
    let path = data.path().join("trees/0.jnl");
    let end = end_of(&path);
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(end)).unwrap();
    file.write_all(&[1, 3, 0, 0, 0, 9, 9]).unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    assert_eq!(Connection::to(&server).all("d", "c").len(), 2);
    let third = line(&server.stop());
    assert!(third.contains(r#""last_stop":"crash""#), "{third}");
    assert!(!third.contains(r#""cut_bytes":0,"#), "{third}");
    assert!(!third.contains(r#""journal_batches":0,"#), "{third}");
}

#[test]
fn damage_in_the_middle_of_the_journal_is_one_sentence() {
    let data = tempfile::tempdir().unwrap();
    let server = FREEBOARD.start(data.path(), RESERVE);
    let mut connection = Connection::to(&server);
    for id in 0..10 {
        connection.run("d", doc! { "insert": "c", "documents": [{ "_id": id }] }).unwrap();
    }
    server.kill();
    server.wait();
    let path = data.path().join("trees/0.jnl");
    let middle = end_of(&path) / 2;
    let mut file = File::options().read(true).write(true).open(&path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.write_all(&[byte[0] ^ 16]).unwrap();
    for _ in 0..2 {
        let output = FREEBOARD.spawn(data.path(), RESERVE).output();
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{log}");
        assert_eq!(log.lines().count(), 1, "{log}");
        assert!(log.contains("0.jnl does not read from byte"), "{log}");
        assert!(log.contains("restore it from a backup"), "{log}");
    }
}

/// Where a journal ends; behind it there is room set aside.
fn end_of(path: &Path) -> u64 {
    let mut bytes = std::fs::read(path).unwrap();
    while bytes.ends_with(&[0; 65_536]) {
        bytes.truncate(bytes.len() - 65_536);
    }
    bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64 + 1
}
