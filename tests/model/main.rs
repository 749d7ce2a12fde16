//! The store against a naive one: random histories of writes and reads, the same on a collection
//! without indexes and on collections with several, and a restart in the middle; and many clients
//! at once, with and without transactions. And the language against a naive one: random filters
//! and updates.
//!
//! `FREEBOARD_MODEL_SEED` repeats one history; `FREEBOARD_MODEL_STEPS` makes it longer.

mod backends;
mod changer;
mod concurrent;
mod generate;
mod history;
mod isolation;
mod journal;
mod matcher;
mod meaning;
mod naive;
mod order;
mod overflow;
mod place;
mod stamped;
mod stats;
mod twin;

use bson::{Document, doc};
use freeboard_tests::Result;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use history::Step;
use naive::Naive;
use place::Place;

const SEEDS: std::ops::Range<u64> = 0..6;
const STEPS: usize = 400;

/// The collections that every history runs on, with their indexes.
fn collections() -> Vec<(&'static str, Vec<Document>)> {
    vec![
        ("bare", vec![]),
        (
            "single",
            vec![
                doc! { "key": { "a": 1 }, "name": "a" },
                doc! { "key": { "b": -1 }, "name": "b" },
                doc! { "key": { "t": 1 }, "name": "t" },
            ],
        ),
        (
            "compound",
            vec![
                // At most one field of each may hold an array.
                doc! { "key": { "a": 1, "_id": -1 }, "name": "a_id" },
                doc! { "key": { "s.x": -1, "t": 1 }, "name": "sxt" },
                doc! { "key": { "s.x": 1, "a": 1 }, "name": "sxa" },
                doc! { "key": { "b": -1, "s.x": 1 }, "name": "bsx" },
            ],
        ),
        (
            "special",
            vec![
                doc! { "key": { "a": 1 }, "name": "a", "sparse": true },
                doc! { "key": { "b": 1 }, "name": "b", "partialFilterExpression": { "a": { "$gt": 3 } } },
                doc! { "key": { "_id": "hashed" }, "name": "id_hashed" },
                doc! { "key": { "s.$**": 1 }, "name": "s" },
            ],
        ),
    ]
}

#[test]
fn histories_end_as_the_naive_store_says() -> Result<()> {
    let steps = number("FREEBOARD_MODEL_STEPS").unwrap_or(STEPS as u64) as usize;
    match number("FREEBOARD_MODEL_SEED") {
        Some(seed) => run(seed, steps),
        None => SEEDS.into_iter().try_for_each(|seed| run(seed, steps)),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn run(seed: u64, steps: usize) -> Result<()> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut place = Place::start()?;
    let mut naive = Naive::default();
    for (collection, indexes) in collections() {
        // Half of the histories build the indexes over what is there already.
        if !indexes.is_empty() && seed.is_multiple_of(2) {
            place.create_indexes(collection, &indexes)?;
        }
    }
    for number in 0..steps {
        if number == steps / 2 {
            for (collection, indexes) in collections() {
                if !indexes.is_empty() && !seed.is_multiple_of(2) {
                    place.create_indexes(collection, &indexes)?;
                }
            }
            place = place.restart()?;
        }
        let step = history::step(&mut random);
        let expected = naive.apply(&step);
        for (collection, _) in collections() {
            let actual = place.apply(collection, &step)?;
            if actual != expected {
                return Err(explain(seed, number, collection, &step, &expected, &actual).into());
            }
        }
    }
    for (collection, _) in collections() {
        place.validate(collection)?;
    }
    Ok(())
}

fn explain(
    seed: u64,
    number: usize,
    collection: &str,
    step: &Step,
    expected: &[Document],
    actual: &[Document],
) -> String {
    format!(
        "seed {seed}, step {number}, collection {collection}:\n{step:#?}\nexpected {}\nactual   {}",
        list(expected),
        list(actual)
    )
}

fn list(documents: &[Document]) -> String {
    documents.iter().map(|document| format!("\n  {document}")).collect()
}
