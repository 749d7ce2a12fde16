//! The journal of a store on disk ends anywhere: what was promised before is there,
//! each commit whole.

use crate::copy::{copy, home, written};
use crate::script;
use crate::world::{Contents, World};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fs::File;
use std::io::Write;
use std::path::Path;

const COLLECTION: &str = "c";
const COMMITS: usize = 40;
/// Of these the tail is cut.
const LAST_COMMITS: usize = 5;
const CUTS: usize = 30;

/// The store after one more commit.
struct Moment {
    contents: Contents,
    journal_bytes: u64,
    synced: Vec<u8>,
}

async fn history(directory: &Path, random: &mut StdRng) -> (World, Vec<Moment>) {
    let world = World::open(directory).await.unwrap();
    world.must(script::indexes(COLLECTION)).await;
    let mut moments = Vec::new();
    for _ in 0..COMMITS {
        let contents = world.contents().await.unwrap();
        let there = contents.iter().map(|((_, id), document)| (*id, document));
        let step = script::step(COLLECTION, there, 0, random);
        world.must(step.command).await;
        moments.push(Moment {
            contents: world.contents().await.unwrap(),
            journal_bytes: written(&journal(directory)).len() as u64,
            synced: std::fs::read(directory.join("SYNCED")).unwrap(),
        });
    }
    (world, moments)
}

fn journal(directory: &Path) -> std::path::PathBuf {
    directory.join("trees/0.jnl")
}

/// What a crash leaves behind the cut.
fn cut(directory: &Path, at: u64, random: &mut StdRng) {
    let mut file = File::options().append(true).open(journal(directory)).unwrap();
    file.set_len(at).unwrap();
    match random.random_range(0..3) {
        0 => {}
        1 => file.set_len(at + 1_000_000).unwrap(),
        _ => {
            let garbage: Vec<u8> =
                (0..random.random_range(1..200)).map(|_| random.random()).collect();
            file.write_all(&garbage).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_tail_is_cut_and_nothing_before_it() {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let home = home();
    let origin = home.path().join("origin");
    let (world, moments) = history(&origin, &mut random).await;
    let synced = &moments[COMMITS - LAST_COMMITS - 1];
    let last = &moments[COMMITS - 1];
    for number in 0..CUTS {
        let directory = home.path().join(number.to_string());
        copy(&origin, &directory);
        for name in ["SYNCED", "SYNCED.2"] {
            std::fs::write(directory.join(name), &synced.synced).unwrap();
        }
        let at = random.random_range(synced.journal_bytes..=last.journal_bytes);
        cut(&directory, at, &mut random);
        let whole = moments.iter().rfind(|moment| moment.journal_bytes <= at).unwrap();
        let world = World::open(&directory).await.unwrap();
        assert!(world.contents().await.unwrap() == whole.contents, "cut at {at}");
        world.assert_valid().await;
        // It goes on from there.
        world.must(bson::doc! { "insert": COLLECTION, "documents": [{ "_id": -1_i64 }] }).await;
        world.close().await;
        let world = World::open(&directory).await.unwrap();
        assert_eq!(world.contents().await.unwrap().len(), whole.contents.len() + 1);
        world.close().await;
        std::fs::remove_dir_all(directory).unwrap();
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tail_that_was_promised_is_not_cut() {
    let mut random = StdRng::seed_from_u64(rand::rng().random());
    let home = home();
    let origin = home.path().join("origin");
    let (world, moments) = history(&origin, &mut random).await;
    let last = moments[COMMITS - 1].journal_bytes;
    for number in 0..CUTS {
        let directory = home.path().join(number.to_string());
        copy(&origin, &directory);
        cut(&directory, random.random_range(0..last), &mut random);
        let before = written(&journal(&directory));
        for _ in 0..2 {
            let error = World::open(&directory).await.err().expect("what was promised is gone");
            assert!(error.contains("is damaged"), "{error}");
        }
        // With no batch at all to count from, only the storage engine tells.
        let after = written(&journal(&directory));
        assert!(after == before || after.is_empty(), "the journal was touched");
        std::fs::remove_dir_all(directory).unwrap();
    }
    world.close().await;
}
