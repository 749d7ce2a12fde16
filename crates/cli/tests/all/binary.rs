//! The binary in a process of its own.

use freeboard_tests::process::Binary;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output};

pub const FREEBOARD: Binary = Binary(env!("CARGO_BIN_EXE_freeboard"));

pub fn freeboard() -> Command {
    FREEBOARD.command()
}

/// A server, and the address of its ready line.
pub fn start(data: &Path) -> (Child, String) {
    start_with(data, &[])
}

/// As `start`, with further arguments.
pub fn start_with(data: &Path, more: &[&str]) -> (Child, String) {
    serve(freeboard(), data, more)
}

/// As `start_with`, of a command that has been altered.
pub fn serve(mut command: Command, data: &Path, more: &[&str]) -> (Child, String) {
    let mut child = command
        .arg("serve")
        .env("FREEBOARD_DATA", data)
        .env("FREEBOARD_LISTEN", "127.0.0.1:0")
        .env("FREEBOARD_HTTP", "127.0.0.1:0")
        .args(more)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").expect("a ready line").to_owned();
    (child, address)
}

pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

pub fn assert_failed(output: &Output, words: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(words), "{stderr}");
}

/// What a running server has in memory.
pub fn resident_megabytes(child: &Child) -> usize {
    let pages = std::fs::read_to_string(format!("/proc/{}/statm", child.id())).unwrap();
    let resident: usize = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    resident * rustix::param::page_size() / (1024 * 1024)
}
