//! Who may know whom. A crate that learns of another one that is not in its row fails here, and
//! so does input or output in a crate that is pure. `ARCHITECTURE.md` says why.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
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

/// Rooms of the engine that know only those beneath them, and which. The others hold the engine
/// itself, which holds them all.
const ROOMS: &[(&str, &[&str])] = &[
    ("backups", &["storage"]),
    ("batch", &["storage"]),
    ("catalog", &["footprint", "storage"]),
    ("footprint", &[]),
    ("index", &["catalog", "storage"]),
    ("inspect", &["catalog", "growth", "storage"]),
    ("plan", &["catalog", "index", "spill", "storage"]),
    ("spill", &[]),
    ("storage", &[]),
];

/// Rooms of the engine that know no policy.
const WITHOUT_POLICIES: &[&str] =
    &["backups", "batch", "catalog", "footprint", "index", "spill", "storage"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file under a folder, or the one that has its name.
fn sources(of: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![of.to_owned()], Vec::new());
    if !of.exists() {
        return vec![of.with_extension("rs")];
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(!files.is_empty(), "{} has sources", of.display());
    files
}

/// The lines of a file without their comments, and where they are.
fn code(path: &Path) -> Vec<(String, String)> {
    let lines = read(path);
    let lines = lines.lines().enumerate().map(|(at, line)| {
        let code = line.split("//").next().unwrap_or_default();
        (format!("{}:{}: {line}", path.display(), at + 1), code.to_owned())
    });
    lines.collect()
}

/// Whether a file of a room holds nothing but tests.
fn is_test(file: &Path, engine: &Path) -> bool {
    let inside = file.strip_prefix(engine).expect("a file of the engine");
    inside.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
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
        for file in sources(&crates().join(name).join("src")) {
            let lines = code(&file).into_iter();
            let lines =
                lines.filter(|(_, code)| INPUT_AND_OUTPUT.iter().any(|what| code.contains(what)));
            found.extend(lines.map(|(place, _)| place));
        }
    }
    assert!(found.is_empty(), "input or output in a pure crate:\n{}", found.join("\n"));
}

/// What a line names of the engine's rooms: what follows `crate::`.
fn rooms(code: &str) -> impl Iterator<Item = &str> {
    let named = code.split("crate::").skip(1);
    named.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

#[test]
fn rooms_of_the_engine_know_only_those_beneath_them() {
    let engine = crates().join("engine/src");
    let mut found = Vec::new();
    for (room, may) in ROOMS {
        let mut files = sources(&engine.join(room));
        files.retain(|file| !is_test(file, &engine));
        assert!(!files.is_empty(), "{room} has sources that are no tests");
        for file in &files {
            let lines = code(file);
            // Tests stand at the end, and may go by the whole engine.
            let lines = lines.iter().take_while(|(_, code)| code != "mod tests {");
            for (place, code) in lines {
                let strange = |named: &str| named != *room && !may.contains(&named);
                let policy = WITHOUT_POLICIES.contains(room) && code.contains("guard::");
                if policy || rooms(code).any(strange) {
                    found.push(place.clone());
                }
            }
        }
    }
    assert!(found.is_empty(), "a room knows one above it:\n{}", found.join("\n"));
}

/// The rooms of the engine, and which others each of them names.
fn known_rooms() -> BTreeMap<String, BTreeSet<String>> {
    let engine = crates().join("engine/src");
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(&engine).iter().filter(|file| !is_test(file, &engine)) {
        let inside = file.strip_prefix(&engine).expect("a file of the engine");
        let room = inside.iter().next().expect("a name").to_string_lossy();
        let lines = code(file);
        let lines = lines.iter().take_while(|(_, code)| code != "mod tests {");
        let named = lines.flat_map(|(_, code)| rooms(code)).map(str::to_owned);
        known.entry(room.trim_end_matches(".rs").to_owned()).or_default().extend(named);
    }
    let all: BTreeSet<String> = known.keys().cloned().collect();
    for (room, named) in &mut known {
        named.retain(|other| other != room && all.contains(other));
    }
    known
}

/// What each room holds together can be read by itself, from those that know no other upwards.
#[test]
fn no_rooms_of_the_engine_know_each_other_in_a_circle() {
    let mut left = known_rooms();
    assert!(left.len() > 20, "the rooms are found: {}", left.len());
    loop {
        let lowest: Vec<String> = left
            .iter()
            .filter(|(_, named)| named.iter().all(|other| !left.contains_key(other)))
            .map(|(room, _)| room.clone())
            .collect();
        if lowest.is_empty() {
            break;
        }
        lowest.iter().for_each(|room| drop(left.remove(room)));
    }
    assert!(left.is_empty(), "rooms that know each other in a circle: {left:#?}");
}

/// Public types of the crates that policies and writes are made of, each name once. What stands
/// for the same thing may share one: a trait and what implements it.
const SHARED_NAMES: &[&str] = &["Plan", "Transaction"];

#[test]
fn public_types_have_names_of_their_own() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in ["engine", "guard", "write"] {
        let folder = crates().join(name).join("src");
        for file in sources(&folder).iter().filter(|file| !is_test(file, &folder)) {
            for (place, code) in code(file) {
                let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric()).collect();
                if let ["pub", "struct" | "enum" | "trait" | "type", name, ..] = words.as_slice()
                    && !SHARED_NAMES.contains(name)
                {
                    found.entry((*name).to_owned()).or_default().push(place);
                }
            }
        }
    }
    let twice: Vec<String> =
        found.into_values().filter(|places| places.len() > 1).flatten().collect();
    assert!(twice.is_empty(), "types of one name:\n{}", twice.join("\n"));
}
