//! A store is whole or refused: every file of it is deleted, cut short, swapped with another
//! of its kind, or taken from an older copy. Then either the server says that the store is
//! damaged, or everything is there that was acknowledged, and stays there.

use crate::copy::{copy, files, home, written};
use crate::script;
use crate::world::{Contents, World};
use bson::{Document, doc};
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const COLLECTION: &str = "c";
const STEPS: usize = 60;

/// What is done to a store.
#[derive(Debug, Clone)]
enum Deed {
    Delete(PathBuf),
    /// To so many bytes.
    Cut(PathBuf, u64),
    Swap(PathBuf, PathBuf),
    /// The file of an older copy takes its place.
    Older(PathBuf, PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Refused,
    Harmless,
}

/// What a file is to the store.
pub fn kind(file: &Path) -> String {
    let name = file.file_name().unwrap().to_str().unwrap();
    let folder = file.parent().unwrap().file_name().map(|name| name.to_str().unwrap());
    match (name, folder) {
        (_, Some(folder @ ("tables" | "blobs"))) => folder.to_owned(),
        _ if name.ends_with(".jnl") => "journal".to_owned(),
        _ if name.starts_with('v') && name != "version" => "list".to_owned(),
        _ => name.to_owned(),
    }
}

/// A store with tables, blobs, lists and journals, and copies of it as it was before.
struct Store {
    path: PathBuf,
    older: Vec<PathBuf>,
    contents: Contents,
}

pub async fn steps(world: &World, random: &mut StdRng) {
    for _ in 0..STEPS {
        let contents = world.contents().await.unwrap();
        let there = contents.iter().filter(|((collection, _), _)| collection == COLLECTION);
        let there = there.map(|((_, id), document)| (*id, document));
        world.must(script::step(COLLECTION, there, 0, random).command).await;
    }
}

/// A store as a clean stop leaves it, or a killed process.
async fn make(home: &Path, clean: bool, random: &mut StdRng) -> Store {
    let origin = home.join("origin");
    let mut older = Vec::new();
    for round in 0..3_i64 {
        let world = World::open(&origin).await.unwrap();
        world.must(script::indexes(COLLECTION)).await;
        let other = doc! { "_id": round, "filler": vec![7; 20_000] };
        world.must(doc! { "insert": "other", "documents": [other] }).await;
        steps(&world, random).await;
        world.close().await;
        older.push(home.join(format!("older{round}")));
        copy(&origin, &older[older.len() - 1]);
    }
    let world = World::open(&origin).await.unwrap();
    steps(&world, random).await;
    let contents = world.contents().await.unwrap();
    let path = home.join("template");
    if !clean {
        copy(&origin, &path);
    }
    world.close().await;
    if clean {
        copy(&origin, &path);
    }
    Store { path, older, contents }
}

/// Everything that is done to a store, one at a time.
fn deeds(store: &Store) -> Vec<Deed> {
    let files = files(&store.path);
    let mut deeds = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let bytes = written(&store.path.join(file));
        deeds.push(Deed::Delete(file.clone()));
        let lengths = [0, bytes.len() / 2, bytes.len().saturating_sub(1)];
        let lengths = lengths.into_iter().filter(|length| *length < bytes.len());
        deeds.extend(lengths.map(|length| Deed::Cut(file.clone(), length as u64)));
        let others = files[at + 1..].iter().filter(|other| kind(other) == kind(file));
        deeds.extend(others.map(|other| Deed::Swap(file.clone(), other.clone())));
        for older in store.older.iter().map(|older| older.join(file)) {
            if older.exists() && written(&older) != bytes {
                deeds.push(Deed::Older(file.clone(), older));
            }
        }
    }
    deeds
}

fn carry_out(deed: &Deed, directory: &Path) {
    match deed {
        Deed::Delete(file) => std::fs::remove_file(directory.join(file)).unwrap(),
        Deed::Cut(file, length) => {
            let file = File::options().write(true).open(directory.join(file)).unwrap();
            file.set_len(*length).unwrap();
        }
        Deed::Swap(one, other) => {
            let [one, other] = [one, other].map(|file| directory.join(file));
            let aside = directory.join("aside");
            std::fs::rename(&one, &aside).unwrap();
            std::fs::rename(&other, &one).unwrap();
            std::fs::rename(&aside, &other).unwrap();
        }
        Deed::Older(file, older) => {
            std::fs::copy(older, directory.join(file)).unwrap();
        }
    }
}

fn file(deed: &Deed) -> &Path {
    match deed {
        Deed::Delete(file) | Deed::Cut(file, _) | Deed::Swap(file, _) | Deed::Older(file, _) => {
            file
        }
    }
}

/// Opens the store, and if that succeeds, looks for everything, now and after a restart.
pub async fn outcome(directory: &Path, contents: &Contents, deed: &dyn Debug) -> Outcome {
    let before = snapshot(directory);
    let world = match World::open(directory).await {
        Ok(world) => world,
        Err(error) => {
            assert!(error.contains("restore"), "{deed:?}: {error}");
            assert!(error.contains("is damaged"), "{deed:?}: {error}");
            assert!(!error.contains("panicked"), "{deed:?}: {error}");
            assert_eq!(snapshot(directory), before, "{deed:?}: a refused store was changed");
            return Outcome::Refused;
        }
    };
    assert!(world.contents().await.unwrap() == *contents, "{deed:?}: wrong data were read");
    world.assert_valid().await;
    let new = doc! { "_id": i64::MAX };
    world.must(doc! { "insert": "new", "documents": [&new] }).await;
    world.close().await;
    let world = World::open(directory).await.unwrap();
    let mut grown = contents.clone();
    grown.insert(("new".to_owned(), i64::MAX), new);
    assert!(world.contents().await.unwrap() == grown, "{deed:?}: data were lost at a restart");
    world.close().await;
    Outcome::Harmless
}

/// Names and lengths of all files.
fn snapshot(directory: &Path) -> Vec<(PathBuf, u64)> {
    let length = |file: &PathBuf| std::fs::metadata(directory.join(file)).unwrap().len();
    files(directory).into_iter().map(|file| (file.clone(), length(&file))).collect()
}

async fn try_all(
    store: &Store,
    home: &Path,
    deeds: Vec<Deed>,
) -> BTreeMap<(String, String), Vec<Outcome>> {
    let mut outcomes: BTreeMap<_, Vec<Outcome>> = BTreeMap::new();
    for deed in deeds {
        let directory = home.join("tried");
        copy(&store.path, &directory);
        carry_out(&deed, &directory);
        let outcome = outcome(&directory, &store.contents, &deed).await;
        let what = format!("{deed:?}");
        let what = what.split('(').next().unwrap_or_default().to_owned();
        outcomes.entry((kind(file(&deed)), what)).or_default().push(outcome);
        std::fs::remove_dir_all(directory).unwrap();
    }
    eprintln!("{outcomes:#?}");
    outcomes
}

/// What is lost without these is lost for good, so their loss is noticed.
fn assert_refused(outcomes: &BTreeMap<(String, String), Vec<Outcome>>, kinds: &[&str], deed: &str) {
    for kind in kinds {
        let seen = outcomes.get(&((*kind).to_owned(), deed.to_owned()));
        let seen = seen.unwrap_or_else(|| panic!("no {kind} was met with {deed}"));
        assert!(seen.contains(&Outcome::Refused), "{deed} of a {kind} was never refused");
    }
}

async fn a_store(clean: bool) {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let home = home();
    let store = make(home.path(), clean, &mut random).await;
    let outcomes = try_all(&store, home.path(), deeds(&store)).await;
    let kinds = ["FREEBOARD", "current", "journal", "list", "tables", "blobs", "version"];
    assert_refused(&outcomes, &kinds, "Delete");
    assert_refused(&outcomes, &["journal", "current", "list", "tables", "blobs"], "Cut");
    assert_refused(&outcomes, &["tables", "current"], "Swap");
    assert_refused(&outcomes, &["journal", "current"], "Older");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_closed_is_whole_or_refused() {
    a_store(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_killed_is_whole_or_refused() {
    a_store(false).await;
}

/// More than a journal holds before another is begun.
const MEGABYTES: usize = 72;

async fn fill(world: &World, random: &mut StdRng) {
    for megabyte in 0..MEGABYTES {
        let documents: Vec<Document> = (0..64)
            .map(|number| {
                let mut filler = vec![0; 16_000];
                random.fill_bytes(&mut filler);
                let filler =
                    bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: filler };
                doc! { "_id": (megabyte * 64 + number) as i64, "filler": filler }
            })
            .collect();
        world.must(doc! { "insert": COLLECTION, "documents": documents }).await;
    }
}

/// A journal goes once its batches are in the tables of every tree. If one goes earlier, what
/// it held is missed, though all that is left reads well.
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_is_still_needed_is_missed() {
    let home = home();
    let origin = home.path().join("origin");
    let world = World::open(&origin).await.unwrap();
    let mut random = StdRng::seed_from_u64(1);
    fill(&world, &mut random).await;
    let journals = |of: &Path| files(of).into_iter().filter(|file| kind(file) == "journal").count();
    // What is in memory is written out, but not the little that is there of index entries.
    let started = Instant::now();
    while journals(&origin) < 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "no other journal was begun");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    world.must(doc! { "insert": COLLECTION, "documents": [{ "_id": -1_i64 }] }).await;
    let contents = world.contents().await.unwrap();
    let path = home.path().join("template");
    copy(&origin, &path);
    world.close().await;
    let store = Store { path, older: Vec::new(), contents };
    let mut deeds = deeds(&store);
    deeds.retain(|deed| kind(file(deed)) == "journal");
    let outcomes = try_all(&store, home.path(), deeds).await;
    assert_refused(&outcomes, &["journal"], "Delete");
    let harmless = outcomes.values().flatten().any(|outcome| *outcome == Outcome::Harmless);
    assert!(!harmless, "every journal is needed");
}
