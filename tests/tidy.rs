//! Who may know whom. A crate that learns of another one that is not in its row fails here, and
//! so does input or output in a crate that is pure. `ARCHITECTURE.md` says why.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate and those of ours that it may depend on, tests aside.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("bench", &["embedded", "insight", "jobs", "server"]),
    ("budget", &["error"]),
    (
        "cli",
        &[
            "bench", "command", "demo", "embedded", "engine", "guard", "insight", "jobs", "server",
            "turn",
        ],
    ),
    ("command", &["budget", "error", "value"]),
    ("demo", &["value"]),
    ("embedded", &["command", "engine", "error", "server"]),
    (
        "engine",
        &[
            "budget",
            "command",
            "error",
            "guard",
            "language",
            "statistics",
            "turn",
            "value",
            "write",
        ],
    ),
    ("error", &[]),
    ("guard", &["command", "error", "language", "value", "write"]),
    ("insight", &["command", "guard", "jobs", "value"]),
    ("jobs", &["command", "demo", "guard", "value"]),
    ("language", &["budget", "error", "turn", "value"]),
    ("naive", &["command", "error", "guard", "language", "value", "write"]),
    ("server", &["budget", "command", "error", "turn", "value", "wire"]),
    ("statistics", &[]),
    ("turn", &["error"]),
    ("value", &["error", "turn"]),
    ("wire", &["error", "value"]),
    ("write", &["command", "error", "language", "value"]),
];

/// Crates that compute and nothing else.
const PURE: &[&str] = &["demo", "error", "guard", "language", "statistics", "value", "write"];

/// What reaches files, sockets, processes or a runtime.
const INPUT_AND_OUTPUT: &[&str] =
    &["std::fs", "std::net", "std::process", "std::env", "tokio::", "rustix::"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of our own crates under `[dependencies]`.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = read(&crates().join(name).join("Cargo.toml"));
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]"));
    let names = section.into_iter().flat_map(str::lines).skip(1);
    let names = names.filter_map(|line| line.split(['.', ' ', '=']).next());
    let ours: BTreeSet<&str> = MAY_KNOW.iter().map(|(name, _)| *name).collect();
    names.filter(|name| ours.contains(name)).map(str::to_owned).collect()
}

#[test]
fn crates_know_only_whom_they_may() {
    let here = fs::read_dir(crates()).expect("the crates");
    let here: BTreeSet<String> = here
        .map(|entry| entry.expect("a crate").file_name().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = MAY_KNOW.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(here, listed, "every crate has a row");
    for (name, may) in MAY_KNOW {
        let known = dependencies(name);
        let may: BTreeSet<String> = may.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(known, may, "{name} and its row differ");
    }
}

#[test]
fn pure_crates_do_no_input_or_output() {
    let mut found = Vec::new();
    for name in PURE {
        let mut folders = vec![crates().join(name).join("src")];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                files += 1;
                for (at, line) in read(&path).lines().enumerate() {
                    let code = line.split("//").next().unwrap_or_default();
                    if INPUT_AND_OUTPUT.iter().any(|what| code.contains(what)) {
                        found.push(format!("{}:{}: {line}", path.display(), at + 1));
                    }
                }
            }
        }
        assert!(files > 0, "{name} has sources");
    }
    assert!(found.is_empty(), "input or output in a pure crate:\n{}", found.join("\n"));
}
