//! A small disk, filled by others and by ourselves.

use crate::FREEBOARD;
use crate::connection::Connection;
use bson::{Document, doc};
use rand::RngCore;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const DISK_BYTES: u64 = 96 * 1024 * 1024;
const OUT_OF_DISK_SPACE: i32 = 14031;
const PATIENCE: Duration = Duration::from_secs(60);

/// A file system in memory, for as long as this lives.
struct Disk {
    directory: TempDir,
}

impl Disk {
    /// None, and a loud word, where mounting is not allowed.
    fn mount() -> Option<Disk> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK_BYTES}"), "freeboard"])
            .arg(directory.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Disk { directory });
        }
        eprintln!("SKIPPED: a disk that is full needs the right to mount a file system");
        None
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Another program takes all but so much.
    fn fill(&self, but_bytes: u64) {
        let status = Command::new("df").args(["--output=avail", "-B1"]).arg(self.path()).output();
        let text = String::from_utf8(status.unwrap().stdout).unwrap();
        let free: u64 = text.lines().nth(1).unwrap().trim().parse().unwrap();
        let zeros = vec![1; (free - but_bytes) as usize];
        std::fs::write(self.path().join("others"), zeros).unwrap();
    }

    fn free(&self) {
        std::fs::remove_file(self.path().join("others")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.directory.path()).status();
    }
}

/// Bytes that do not compress.
fn insert(id: i32, bytes: usize) -> Document {
    let mut value = vec![0; bytes];
    rand::rng().fill_bytes(&mut value);
    let value = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: value };
    doc! { "insert": "c", "documents": [{ "_id": id, "value": value }] }
}

fn code(reply: &Document) -> Option<i32> {
    let failed = reply.get_array("writeErrors").ok()?.first()?.as_document()?;
    failed.get_i32("code").ok()
}

#[test]
fn below_the_reserve_writes_are_refused_until_there_is_room() {
    let Some(disk) = Disk::mount() else { return };
    let data = disk.path().join("data");
    let server = FREEBOARD.start(&data, &["--reserve", "40MB"]);
    let mut connection = Connection::to(&server);
    connection.run("d", insert(0, 10)).unwrap();
    disk.fill(20 << 20);
    let mut next = 1;
    let mut until = |refused: bool| {
        let started = Instant::now();
        loop {
            next += 1;
            let reply = connection.send("d", insert(next, 10)).unwrap();
            match code(&reply) {
                Some(code) => assert_eq!(code, OUT_OF_DISK_SPACE, "{reply}"),
                None => assert_eq!(reply.get_i32("n").unwrap(), 1, "{reply}"),
            }
            if code(&reply).is_some() == refused {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "nothing changed");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(true);
    disk.free();
    until(false);
    server.stop();
}

#[test]
fn a_full_disk_stops_the_server_and_a_restart_serves() {
    let Some(disk) = Disk::mount() else { return };
    let data = disk.path().join("data");
    let server = FREEBOARD.start(&data, &["--reserve", "0"]);
    let mut connection = Connection::to(&server);
    connection.run("d", insert(0, 10)).unwrap();
    disk.fill(8 << 20);
    let mut acknowledged = 0;
    let started = Instant::now();
    loop {
        let reply = connection.send("d", insert(acknowledged + 1, 200_000));
        match reply {
            Ok(reply)
                if code(&reply).is_none() && reply.get_f64("ok").is_ok_and(|ok| ok == 1.0) =>
            {
                acknowledged += 1;
            }
            _ => break,
        }
        assert!(started.elapsed() < PATIENCE, "the disk does not get full");
    }
    let (code, log) = server.ended();
    assert_eq!(code, Some(2), "{log}");
    assert!(log.contains("freeboard: the disk is full"), "{log}");
    disk.free();
    let server = FREEBOARD.start(&data, &["--reserve", "0"]);
    let mut connection = Connection::to(&server);
    let found = connection.all("d", "c");
    let there = |id: i32| found.iter().any(|one| one.get_i32("_id").unwrap() == id);
    assert!((0..=acknowledged).all(there), "{acknowledged} were acknowledged");
    connection.run("d", insert(-1, 200_000)).unwrap();
    let reply = connection.run("d", doc! { "validate": "c", "full": true }).unwrap();
    assert!(reply.get_bool("valid").unwrap(), "{reply}");
    server.stop();
}
