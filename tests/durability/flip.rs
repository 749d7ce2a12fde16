//! A flipped bit anywhere in a store is reported, or it makes no difference.

use crate::copy::{copy, files, flip, home, written};
use crate::script;
use crate::world::{Contents, World};
use bson::doc;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;

const COLLECTION: &str = "c";
const STEPS: usize = 120;
/// Flips in every file, one at a time.
const FLIPS: usize = 6;

/// What came of a flip.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The store is not opened.
    Refused,
    /// A command fails and says why.
    Failed,
    /// All data are right.
    Harmless,
}

async fn steps(world: &World, random: &mut StdRng) {
    for _ in 0..STEPS {
        let contents = world.contents().await.unwrap();
        let there = contents.iter().map(|((_, id), document)| (*id, document));
        world.must(script::step(COLLECTION, there, 0, random).command).await;
    }
}

/// A store with tables, blobs and a journal, as a killed process leaves it.
async fn template(home: &Path, random: &mut StdRng) -> Contents {
    let origin = home.join("origin");
    for _ in 0..2 {
        let world = World::open(&origin).await.unwrap();
        world.must(script::indexes(COLLECTION)).await;
        steps(&world, random).await;
        world.close().await;
    }
    let world = World::open(&origin).await.unwrap();
    steps(&world, random).await;
    let contents = world.contents().await.unwrap();
    copy(&origin, &home.join("template"));
    world.close().await;
    contents
}

async fn outcome(directory: &Path, contents: &Contents) -> Outcome {
    let world = match World::open(directory).await {
        Ok(world) => world,
        Err(error) => {
            let told = ["is damaged", "another version", "no longer reads", "newer than"];
            assert!(told.iter().any(|words| error.contains(words)), "{error}");
            return Outcome::Refused;
        }
    };
    let mut outcome = Outcome::Harmless;
    match world.contents().await {
        Ok(found) => assert!(found == *contents, "wrong data were read"),
        Err(error) => {
            assert!(error.message().contains("restore"), "{error:?}");
            outcome = Outcome::Failed;
        }
    }
    // Every index is read as well.
    for index in ["n", "u", "tags"] {
        let find = doc! { "find": COLLECTION, "hint": index, "batchSize": 10_000 };
        match world.run(find).await {
            Ok(reply) => {
                let batch = reply.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
                assert_eq!(batch.len(), contents.len(), "index {index} misses documents");
            }
            Err(_) => outcome = Outcome::Failed,
        }
    }
    let valid = world.is_valid().await;
    assert!(outcome != Outcome::Failed || !matches!(valid, Ok(true)), "validate found nothing");
    if !matches!(valid, Ok(true)) {
        outcome = Outcome::Failed;
    }
    world.close().await;
    outcome
}

/// What kind of file a path names.
fn kind(file: &Path) -> &'static str {
    let name = file.file_name().unwrap().to_str().unwrap();
    let within = |folder: &str| file.iter().any(|part| part == folder);
    match name {
        _ if within("tables") => "table",
        _ if within("blobs") => "blob",
        _ if name.ends_with(".jnl") => "journal",
        "current" => "current",
        _ if within("keyspaces") => "manifest",
        _ => "own",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_bit_is_reported_or_makes_no_difference() {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let home = home();
    let contents = template(home.path(), &mut random).await;
    let template = home.path().join("template");
    let mut outcomes: BTreeMap<(&str, Outcome), u32> = BTreeMap::new();
    for file in files(&template) {
        let bytes = written(&template.join(&file)).len() as u64;
        for _ in 0..FLIPS {
            if bytes == 0 {
                continue;
            }
            let (at, bit) = (random.random_range(0..bytes), random.random_range(0..8));
            eprintln!("{} byte {at} bit {bit}", file.display());
            let directory = home.path().join("flipped");
            copy(&template, &directory);
            flip(&directory.join(&file), at, bit);
            let outcome = outcome(&directory, &contents).await;
            *outcomes.entry((kind(&file), outcome)).or_default() += 1;
            std::fs::remove_dir_all(directory).unwrap();
        }
    }
    eprintln!("{outcomes:?}");
    for kind in ["journal", "manifest", "current"] {
        assert!(outcomes.contains_key(&(kind, Outcome::Refused)), "no damage in a {kind} was seen");
    }
    for kind in ["table", "blob"] {
        let seen =
            outcomes.keys().any(|(of, outcome)| *of == kind && *outcome != Outcome::Harmless);
        assert!(seen, "no damage in a {kind} was seen");
    }
}
