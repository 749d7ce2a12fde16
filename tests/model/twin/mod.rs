//! A collection whose array overflows beside a plain one: the same random commands get equal
//! replies, byte for byte, whatever the policy's bounds are.
//!
//! `FREEBOARD_TWIN_COMMANDS` asks for more of them, `FREEBOARD_TWIN_SEED` repeats one run.

mod changes;
mod commands;
mod filters;
mod pipelines;
mod updates;

use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};
use freeboard_tests::connection::Connection;
use freeboard_tests::{Result, served};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use std::net::SocketAddr;

use commands::Session;

/// How many commands each twin gets in all.
const COMMANDS: u64 = 200_000;

/// How many of them are one run, which begins with empty collections.
const RUN_COMMANDS: u64 = 400;

/// Where the pages of each array are.
const PAGES: [&str; 2] = ["p", "q"];

/// The two servers: one has policies, for the other nothing is set.
type Addresses = [SocketAddr; 2];

/// Half of the runs each, at once.
#[test]
fn twins_answer_alike() -> Result<()> {
    let servers = [served::own(|_| {})?, served::own(|_| {})?];
    let addresses = [servers[0].address, servers[1].address];
    if let Some(seed) = super::number("FREEBOARD_TWIN_SEED") {
        return run(seed, addresses);
    }
    let runs = super::number("FREEBOARD_TWIN_COMMANDS").unwrap_or(COMMANDS) / RUN_COMMANDS;
    let lane = |first: u64| {
        let mut seeds = (first..runs).step_by(2);
        seeds.try_for_each(|seed| {
            run(seed, addresses).map_err(|error| format!("seed {seed}: {error}"))
        })
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..2).map(|first| scope.spawn(move || lane(first))).collect();
        let joined = lanes.into_iter().map(|lane| lane.join().map_err(|_| "panicked".to_owned()));
        joined.filter_map(|done| done.and_then(|done| done).err()).collect()
    });
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n").into()) }
}

/// The two collections, each on a server of its own.
struct Twins {
    connections: [Connection; 2],
    database: String,
}

fn run(seed: u64, addresses: Addresses) -> Result<()> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut twins = Twins {
        connections: [Connection::open(addresses[0])?, Connection::open(addresses[1])?],
        database: format!("twin_{}", seed % 2),
    };
    let mut paths = vec![if random.random_bool(0.7) { "a" } else { "s.a" }];
    paths.extend(random.random_bool(0.5).then_some(updates::OTHER));
    twins.prepare(&paths, &mut random)?;
    let watched = match seed % 3 {
        0 => Some(twins.watch(&mut random)?),
        _ => None,
    };
    let mut session = Session::new(paths, &twins.database, seed);
    for number in 0..RUN_COMMANDS {
        let command = session.next(&mut random);
        let [guarded, plain] = twins.send(&command)?;
        if guarded != plain {
            let apart = apart(&text(&guarded), &text(&plain));
            return Err(format!("seed {seed}, command {number}: {command}\n{apart}").into());
        }
    }
    if let Some(abort) = session.abort() {
        twins.send(&abort)?;
    }
    if let Some(streams) = watched {
        twins.compare_events(seed, streams)?;
    }
    twins.finish(seed)
}

impl Twins {
    fn prepare(&mut self, paths: &[&str], random: &mut StdRng) -> Result<()> {
        self.send(&doc! { "dropDatabase": 1 })?;
        let arrays = paths.iter().zip(PAGES).map(|(path, pages)| {
            let keep = if random.random_bool(0.5) { "oldest" } else { "newest" };
            let max = random.random_range(1..7);
            let overflow = doc! { "into": pages, "page": random.random_range(1..6), "keep": keep };
            let rule = doc! { "max": max, "on_limit": "overflow", "overflow": overflow };
            ((*path).to_owned(), Bson::from(rule))
        });
        let policy = doc! { "arrays": arrays.collect::<Document>() };
        self.one(0, &doc! { "setGrowthPolicy": "c", "policy": policy })?;
        let of_arrays = paths.iter().flat_map(|path| [format!("{path}.n"), (*path).to_owned()]);
        for index in of_arrays.chain(["k".to_owned()]).filter(|_| random.random_bool(0.5)) {
            let index = doc! { "key": { &index: 1 }, "name": &index };
            self.both(&doc! { "createIndexes": "c", "indexes": [index] })?;
        }
        Ok(())
    }

    /// What both say to the same command, which must succeed.
    fn both(&mut self, command: &Document) -> Result<()> {
        (0..2).try_for_each(|at| self.one(at, command).map(drop))
    }

    fn one(&mut self, at: usize, command: &Document) -> Result<RawDocumentBuf> {
        let reply = self.ask(at, command)?;
        match reply.get_f64("ok") {
            Ok(1.0) => Ok(reply),
            _ => Err(format!("{command}: {}", text(&reply)).into()),
        }
    }

    fn send(&mut self, command: &Document) -> Result<[RawDocumentBuf; 2]> {
        Ok([self.ask(0, command)?, self.ask(1, command)?])
    }

    fn ask(&mut self, at: usize, command: &Document) -> Result<RawDocumentBuf> {
        let mut command = command.clone();
        if !command.contains_key("$db") {
            command.insert("$db", &self.database);
        }
        let raw = RawDocumentBuf::try_from(&command)?;
        let reply = self.connections[at].command(&raw);
        reply.map_err(|error| format!("to {at}: {command}: {error}").into())
    }

    /// The collections end alike, and nothing that the policy keeps is amiss.
    fn finish(&mut self, seed: u64) -> Result<()> {
        let [guarded, plain] = self.send(&doc! { "find": "c", "sort": { "_id": 1 } })?;
        if guarded != plain {
            let apart = apart(&text(&guarded), &text(&plain));
            return Err(format!("seed {seed}: they end apart: {apart}").into());
        }
        for collection in ["c", PAGES[0]] {
            let reply = self.one(0, &doc! { "validate": collection, "full": true })?;
            if !reply.get_bool("valid")? {
                return Err(format!("{collection}: {}", text(&reply)).into());
            }
        }
        let checked = self.one(0, &doc! { "verifyGrowth": "c" })?;
        match checked.get_array("drift").map(|drift| drift.is_empty()) {
            Ok(true) => Ok(()),
            _ => Err(format!("drift: {}", text(&checked)).into()),
        }
    }
}

/// Where two replies differ, with a little of what comes before.
fn apart(guarded: &str, plain: &str) -> String {
    let same = guarded.chars().zip(plain.chars()).take_while(|(a, b)| a == b).count();
    let shown = |text: &str| text.chars().skip(same.saturating_sub(80)).take(400).collect();
    let (guarded, plain): (String, String) = (shown(guarded), shown(plain));
    format!("guarded …{guarded}\nplain   …{plain}")
}

fn text(reply: &RawDocument) -> String {
    Document::try_from(reply).map_or_else(|error| error.to_string(), |reply| reply.to_string())
}
