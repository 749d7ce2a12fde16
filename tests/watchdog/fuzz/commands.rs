//! Commands that are sound as messages, with arguments that may be anything.

use super::values::{self, Words};
use crate::frames::Frame;
use bson::{RawBson, RawDocumentBuf, cstr};
use rand::Rng;
use rand::rngs::StdRng;
use std::ffi::CString;
use std::sync::LazyLock;
use wire::{Envelope, Msg};

/// Not to be called by chance: the test is about the others.
const LEFT_OUT: [&str; 3] = ["freeboardBackup", "logout", "setParameter"];

/// Arguments that commands know, beside those that are made up.
const ARGUMENTS: [&str; 44] = [
    "allowDiskUse",
    "arrayFilters",
    "batchSize",
    "bypassDocumentValidation",
    "collation",
    "collection",
    "comment",
    "cursor",
    "cursors",
    "deletes",
    "documents",
    "expireAfterSeconds",
    "explain",
    "fields",
    "filter",
    "hint",
    "index",
    "indexes",
    "key",
    "let",
    "limit",
    "lsid",
    "max",
    "min",
    "multi",
    "new",
    "nsInfo",
    "ops",
    "ordered",
    "pipeline",
    "policy",
    "projection",
    "q",
    "query",
    "readConcern",
    "remove",
    "singleBatch",
    "skip",
    "sort",
    "u",
    "update",
    "updates",
    "upsert",
    "validator",
];

const NAMES: [&str; 6] = ["calm", "heavy", "many", "fuzz", "paged", "validated"];

static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

pub fn make(random: &mut StdRng) -> Frame {
    let body = document(random).into_bytes().into();
    let msg = Msg { exhaust_allowed: false, body, sequences: Vec::new() };
    wire::encode(&msg, 1, false, Envelope::default()).unwrap_or_default()
}

pub fn document(random: &mut StdRng) -> RawDocumentBuf {
    let commands = command::table::COMMANDS;
    let name = loop {
        let name = commands[random.random_range(0..commands.len())].name;
        if !LEFT_OUT.contains(&name) {
            break name;
        }
    };
    let mut document = RawDocumentBuf::new();
    let first = match random.random_range(0..10) {
        0 => values::value(random, &WORDS, 2),
        1 => RawBson::Int32(1),
        _ => RawBson::String(NAMES[random.random_range(0..NAMES.len())].to_owned()),
    };
    append(&mut document, name, first);
    for _ in 0..random.random_range(0..6) {
        let argument = ARGUMENTS[random.random_range(0..ARGUMENTS.len())];
        append(&mut document, argument, values::value(random, &WORDS, 5));
    }
    document.append(cstr!("maxTimeMS"), 300);
    document.append(cstr!("$db"), if random.random_bool(0.8) { "watchdog" } else { "admin" });
    document
}

fn append(document: &mut RawDocumentBuf, name: &str, value: RawBson) {
    let name = CString::new(name).unwrap();
    document.append(<&bson::raw::CStr>::try_from(name.to_str().unwrap()).unwrap(), value);
}
