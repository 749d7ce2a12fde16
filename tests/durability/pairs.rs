//! Files of a store that are lost or replaced together, two at a time: each deleted, or taken
//! from an older copy. Copies that fit each other must not pass for the store. A whole older
//! copy is a backup, and opens.

use crate::copy::{files, home, written};
use crate::script;
use crate::whole::{Outcome, kind, outcome, steps};
use crate::world::{Contents, World};
use bson::doc;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const COLLECTION: &str = "c";
/// Pairs of an ordinary run, of each kind.
const PAIRS: usize = 200;
/// Tries every pair instead, which takes minutes.
const ALL_VARIABLE: &str = "FREEBOARD_PAIRS_ALL";

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Deleted,
    /// As it was in this copy.
    Older(usize),
}

type Deed = (PathBuf, Fate);

/// A directory's files: what is written of each, and its length.
type Files = BTreeMap<PathBuf, (Vec<u8>, u64)>;

struct Store {
    now: Files,
    contents: Contents,
    /// Of earlier sessions, and of the last.
    older: Vec<(Files, Contents)>,
}

fn read(directory: &Path) -> Files {
    let of = |file: PathBuf| {
        let path = directory.join(&file);
        (file, (written(&path), std::fs::metadata(&path).unwrap().len()))
    };
    files(directory).into_iter().map(of).collect()
}

fn write(files: &Files, directory: &Path) {
    for (file, (bytes, length)) in files {
        let path = directory.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        std::fs::File::options().write(true).open(path).unwrap().set_len(*length).unwrap();
    }
}

/// A store as a clean stop leaves it, or a killed process.
async fn make(home: &Path, clean: bool, random: &mut StdRng) -> Store {
    let origin = home.join("origin");
    let mut older = Vec::new();
    for round in 0..2_i64 {
        let world = World::open(&origin).await.unwrap();
        world.must(script::indexes(COLLECTION)).await;
        let other = doc! { "_id": round, "filler": vec![7; 20_000] };
        world.must(doc! { "insert": "other", "documents": [other] }).await;
        steps(&world, random).await;
        let contents = world.contents().await.unwrap();
        world.close().await;
        older.push((read(&origin), contents));
    }
    let world = World::open(&origin).await.unwrap();
    steps(&world, random).await;
    older.push((read(&origin), world.contents().await.unwrap()));
    if random.random() {
        // Other tables, and another inventory.
        steps(&world, random).await;
        world.engine.store.release().unwrap();
        world.engine.store.check_health();
    }
    steps(&world, random).await;
    let contents = world.contents().await.unwrap();
    let killed = read(&origin);
    world.close().await;
    Store { now: if clean { read(&origin) } else { killed }, contents, older }
}

/// Everything that may become of one file, or of a whole directory.
fn deeds(store: &Store) -> Vec<Deed> {
    let mut deeds = Vec::new();
    let directories = store.now.keys().flat_map(|file| file.ancestors().skip(1));
    let directories: BTreeSet<_> = directories.filter(|path| path.iter().count() > 0).collect();
    deeds.extend(directories.into_iter().map(|path| (path.to_owned(), Fate::Deleted)));
    deeds.extend(store.now.keys().map(|file| (file.clone(), Fate::Deleted)));
    for (age, (older, _)) in store.older.iter().enumerate() {
        let changed = older.iter().filter(|(file, bytes)| store.now.get(*file) != Some(bytes));
        deeds.extend(changed.map(|(file, _)| (file.clone(), Fate::Older(age))));
    }
    deeds
}

fn carry_out(store: &Store, deeds: &[Deed]) -> Files {
    let mut files = store.now.clone();
    for (path, fate) in deeds {
        match fate {
            Fate::Deleted => files.retain(|file, _| !file.starts_with(path)),
            Fate::Older(age) => {
                files.insert(path.clone(), store.older[*age].0[path].clone());
            }
        }
    }
    files
}

async fn attempt(store: &Store, home: &Path, deeds: &[Deed]) -> Outcome {
    let directory = home.join("tried");
    let files = carry_out(store, deeds);
    write(&files, &directory);
    let outcome = outcome(&directory, &store.contents, &deeds).await;
    std::fs::remove_dir_all(directory).unwrap();
    outcome
}

/// The files of a store that say what the others must be.
fn is_witness(deed: &Deed) -> bool {
    matches!(&*kind(&deed.0), "SYNCED" | "SYNCED.2" | "INVENTORY" | "journal" | "FREEBOARD")
}

fn pairs(store: &Store, random: &mut StdRng) -> Vec<[Deed; 2]> {
    let deeds = deeds(store);
    let (mut witnesses, mut others) = (Vec::new(), Vec::new());
    for (at, one) in deeds.iter().enumerate() {
        for other in deeds[at + 1..].iter().filter(|other| other.0 != one.0) {
            let pair = [one.clone(), other.clone()];
            match pair.iter().any(is_witness) {
                true => witnesses.push(pair),
                false => others.push(pair),
            }
        }
    }
    eprintln!("{} pairs with a witness, {} others", witnesses.len(), others.len());
    if std::env::var_os(ALL_VARIABLE).is_none() {
        for pairs in [&mut witnesses, &mut others] {
            pairs.shuffle(random);
            pairs.truncate(PAIRS);
        }
    }
    [witnesses, others].concat()
}

async fn all_pairs(clean: bool) {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let home = home();
    let store = make(home.path(), clean, &mut random).await;
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    for pair in pairs(&store, &mut random) {
        *outcomes.entry(attempt(&store, home.path(), &pair).await).or_default() += 1;
    }
    eprintln!("{outcomes:?}");
    assert!(outcomes.contains_key(&Outcome::Refused));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_files_of_a_store_that_was_closed() {
    all_pairs(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_files_of_a_store_that_was_killed() {
    all_pairs(false).await;
}

/// More than two, which fit each other well.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_fit_each_other_do_not_pass_for_the_store() {
    let mut random = StdRng::seed_from_u64(rand::rng().random());
    for clean in [true, false] {
        let home = home();
        let store = make(home.path(), clean, &mut random).await;
        let journal = store.now.keys().find(|file| kind(file) == "journal").unwrap().clone();
        let marks = ["SYNCED", "SYNCED.2", "INVENTORY"].map(PathBuf::from);
        let keyspace = PathBuf::from("trees/keyspaces/1");
        let mut refused = Vec::new();
        for number in 0..1 << marks.len() {
            let some = || marks.iter().enumerate().filter(move |(at, _)| number & (1 << at) != 0);
            let deleted: Vec<_> = some().map(|(_, mark)| (mark.clone(), Fate::Deleted)).collect();
            // Without its trees, with fewer and fewer files that say that it had any.
            for path in ["trees", "trees/keyspaces"].map(PathBuf::from).iter().chain([&keyspace]) {
                let all_marks = deleted.len() == marks.len() && path.ends_with("trees");
                // That is what a first start leaves that was killed at once.
                if !all_marks {
                    refused.push([&deleted[..], &[(path.clone(), Fate::Deleted)]].concat());
                }
            }
            for age in 0..store.older.len() {
                let journal = (journal.clone(), Fate::Older(age));
                let older: Vec<_> =
                    some().map(|(_, mark)| (mark.clone(), Fate::Older(age))).collect();
                // Of a store that was closed, the tables hold more. Those of one that was killed
                // may not: then nothing is left that was written since.
                if clean || older.len() < marks.len() {
                    refused.push([&older[..], std::slice::from_ref(&journal)].concat());
                }
                refused.push([&deleted[..], &[journal]].concat());
            }
        }
        // Where nothing else has changed since, that is the whole older copy.
        let is_older = |deeds: &[Deed]| {
            let files = carry_out(&store, deeds);
            store.older.iter().any(|(older, _)| *older == files)
        };
        for deeds in refused.into_iter().filter(|deeds| !is_older(deeds)) {
            let outcome = attempt(&store, home.path(), &deeds).await;
            assert_eq!(outcome, Outcome::Refused, "clean {clean}: {deeds:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_older_copy_opens() {
    let mut random = StdRng::seed_from_u64(rand::rng().random());
    let home = home();
    let store = make(home.path(), false, &mut random).await;
    for (age, (files, contents)) in store.older.iter().enumerate() {
        let directory = home.path().join(format!("older{age}"));
        write(files, &directory);
        assert_eq!(outcome(&directory, contents, &age).await, Outcome::Harmless);
    }
}
