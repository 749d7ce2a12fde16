//! Workers, each on a thread and a connection of its own, until the server is gone.

use crate::connection::{Answer, Connection};
use freeboard_tests::process::Process;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The fewest acknowledgements before a kill, so that a slow machine tests too.
const ACKNOWLEDGED_MIN: u64 = 20;

/// Writes its share of the load and knows what must be there.
pub trait Worker: Send {
    fn name(&self) -> &'static str;

    /// Run once, before any load.
    fn prepare(&mut self, _: &mut Connection) {}

    /// One operation. An error says that the server went away meanwhile.
    fn step(&mut self, connection: &mut Connection, random: &mut StdRng) -> Answer<()>;

    /// Compares what was acknowledged with what is there after a restart.
    fn check(&mut self, connection: &mut Connection);
}

pub struct Load {
    workers: Vec<Slot>,
}

struct Slot {
    worker: Box<dyn Worker>,
    random: StdRng,
    acknowledged: AtomicU64,
}

impl Load {
    pub fn new(workers: Vec<Box<dyn Worker>>, seed: u64) -> Load {
        let slot = |(number, worker)| Slot {
            worker,
            random: StdRng::seed_from_u64(seed.wrapping_add(number)),
            acknowledged: AtomicU64::new(0),
        };
        Load { workers: (1..).zip(workers).map(slot).collect() }
    }

    pub fn prepare(&mut self, server: &Process) {
        let mut connection = Connection::to(server);
        self.workers.iter_mut().for_each(|slot| slot.worker.prepare(&mut connection));
    }

    /// Runs for a time, kills the server, and returns when every worker has seen it.
    pub fn run(&mut self, server: &Process, time: Duration, kill: impl FnOnce()) {
        let started = Instant::now();
        let acknowledged = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for slot in &mut self.workers {
                let mut connection = Connection::to(server);
                let acknowledged = &acknowledged;
                scope.spawn(move || {
                    while slot.worker.step(&mut connection, &mut slot.random).is_ok() {
                        slot.acknowledged.fetch_add(1, Ordering::Relaxed);
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while started.elapsed() < time
                || acknowledged.load(Ordering::Relaxed) < ACKNOWLEDGED_MIN
            {
                std::thread::sleep(Duration::from_micros(100));
                assert!(started.elapsed() < Duration::from_secs(120), "the load hangs");
            }
            kill();
        });
    }

    pub fn check(&mut self, server: &Process) {
        let mut connection = Connection::to(server);
        self.workers.iter_mut().for_each(|slot| slot.worker.check(&mut connection));
    }

    pub fn assert_everyone_wrote(&self) {
        for slot in &self.workers {
            assert!(slot.acknowledged.load(Ordering::Relaxed) > 0, "{} idled", slot.worker.name());
        }
    }

    pub fn figures(&self) -> String {
        let figure = |slot: &Slot| {
            format!("{} {}", slot.worker.name(), slot.acknowledged.load(Ordering::Relaxed))
        };
        self.workers.iter().map(figure).collect::<Vec<_>>().join(", ")
    }
}
