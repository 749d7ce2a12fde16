//! The power goes at random points under load: what was acknowledged is there.

use crate::forgetful::{Forgetful, POWER};
use crate::ledger::{Ledger, Write};
use crate::script;
use crate::world::World;
use bson::{Document, doc};
use error::Error;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::Arc;

const COLLECTION: &str = "c";
const OTHER: &str = "other";
const WORKERS: i64 = 6;
const ROUNDS: u32 = 25;
/// The most calls of the storage in a round.
const CALLS_MAX: u64 = 120;
/// Each worker has its own ids.
const IDS: i64 = 1 << 32;

struct Worker {
    number: i64,
    ledger: Ledger,
    random: StdRng,
    acknowledged: u64,
}

impl Worker {
    /// Writes until the power is gone.
    async fn work(mut self, world: Arc<World>) -> Worker {
        loop {
            let there = self.ledger.known().iter().map(|((_, id), document)| (*id, document));
            let step = script::step(COLLECTION, there, self.number * IDS, &mut self.random);
            let changes = BTreeMap::from([((COLLECTION, step.id), step.after)]);
            self.ledger.begin(Write { changes, whole: true });
            if let Err(error) = world.run(step.command).await {
                assert_power(&error);
                return self;
            }
            self.ledger.acknowledge();
            self.acknowledged += 1;
        }
    }
}

/// A collection and an index that come and go meanwhile.
#[derive(Default)]
struct Definitions {
    known: [bool; 2],
    pending: Option<usize>,
    acknowledged: u64,
}

impl Definitions {
    async fn work(mut self, world: Arc<World>) -> Definitions {
        for at in [0, 1].into_iter().cycle() {
            let extra = doc! { "name": "extra", "key": { "large": "hashed" } };
            let command = match (at, self.known[at]) {
                (0, false) => doc! { "insert": OTHER, "documents": [{ "_id": 1_i64 }] },
                (0, true) => doc! { "drop": OTHER },
                (_, false) => doc! { "createIndexes": COLLECTION, "indexes": [extra] },
                (_, true) => doc! { "dropIndexes": COLLECTION, "index": "extra" },
            };
            self.pending = Some(at);
            if let Err(error) = world.run(command).await {
                assert_power(&error);
                break;
            }
            self.pending = None;
            self.known[at] = !self.known[at];
            self.acknowledged += 1;
        }
        self
    }

    async fn check(&mut self, world: &World) {
        let other = world.collections().await.unwrap().iter().any(|name| name == OTHER);
        let reply = world.must(doc! { "listIndexes": COLLECTION }).await;
        let extra = reply.to_string().contains("extra");
        for (at, found) in [other, extra].into_iter().enumerate() {
            assert!(found == self.known[at] || self.pending == Some(at), "{at}: {found}");
            self.known[at] = found;
        }
        self.pending = None;
    }
}

fn assert_power(error: &Error) {
    assert!(error.message().contains(POWER), "{error:?}");
}

async fn check(workers: &mut [Worker], world: &World) {
    let mut found: Vec<BTreeMap<_, Document>> = workers.iter().map(|_| BTreeMap::new()).collect();
    for ((collection, id), document) in world.contents().await.unwrap() {
        if collection == COLLECTION {
            found[(id / IDS) as usize].insert((COLLECTION, id), document);
        }
    }
    for (worker, found) in workers.iter_mut().zip(found) {
        worker.ledger.check(found);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_writes_survive_a_power_loss() {
    let seed: u64 = rand::rng().random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut trees = Forgetful::new(seed);
    let worker = |number: i64| Worker {
        number,
        ledger: Ledger::default(),
        random: StdRng::seed_from_u64(seed.wrapping_add(number as u64)),
        acknowledged: 0,
    };
    let mut workers: Vec<Worker> = (0..WORKERS).map(worker).collect();
    let mut definitions = Definitions::default();
    let world = World::over(trees.clone()).await;
    world.must(script::indexes(COLLECTION)).await;
    world.close().await;
    for _ in 0..ROUNDS {
        let world = Arc::new(World::over(trees.clone()).await);
        trees.lose_power_after(random.random_range(1..CALLS_MAX));
        let tasks: Vec<_> =
            workers.drain(..).map(|worker| tokio::spawn(worker.work(world.clone()))).collect();
        definitions = tokio::spawn(definitions.work(world.clone())).await.unwrap();
        for task in tasks {
            workers.push(task.await.unwrap());
        }
        Arc::into_inner(world).unwrap().close().await;
        trees = trees.restart();
        let world = World::over(trees.clone()).await;
        check(&mut workers, &world).await;
        definitions.check(&world).await;
        world.assert_valid().await;
        world.close().await;
    }
    assert!(workers.iter().all(|worker| worker.acknowledged > 0));
    assert!(definitions.acknowledged > 0);
}
