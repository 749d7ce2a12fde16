//! Trees in memory that lose power: what was not synced is forgotten, or some of it,
//! or none.

use engine::storage::trees::{
    Failure, FileSystem, Pairs, SyncLevel, Tree, TreeChange, TreeSnapshot, Trees,
};
use fjall::Slice;
use imbl::OrdMap;
use parking_lot::{Condvar, Mutex};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

type Maps = [OrdMap<Slice, Slice>; 3];

/// What the failure says.
pub const POWER: &str = "the power is gone";

pub struct Forgetful {
    state: Mutex<State>,
    /// What the file system is said to have free.
    pub free_bytes: AtomicU64,
    gate: Gate,
}

/// Holds syncs up, once it is shut, until each is let through.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    shut: bool,
    /// How many wait at it, and how many of them may go on.
    waiting: u64,
    let_through: u64,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock();
        if !state.shut {
            return;
        }
        state.waiting += 1;
        self.changed.notify_all();
        self.changed.wait_while(&mut state, |state| state.shut && state.let_through == 0);
        state.let_through = state.let_through.saturating_sub(1);
        state.waiting -= 1;
    }
}

struct State {
    now: Maps,
    synced: Maps,
    /// Applied since the last sync, in order.
    unsynced: Vec<Vec<TreeChange>>,
    /// Calls until the power goes.
    calls_left: u64,
    random: StdRng,
}

impl Forgetful {
    pub fn new(seed: u64) -> Arc<Forgetful> {
        Forgetful::with(Maps::default(), StdRng::seed_from_u64(seed))
    }

    fn with(maps: Maps, random: StdRng) -> Arc<Forgetful> {
        let state = State {
            now: maps.clone(),
            synced: maps,
            unsynced: Vec::new(),
            calls_left: u64::MAX,
            random,
        };
        Arc::new(Forgetful {
            state: Mutex::new(state),
            free_bytes: AtomicU64::new(u64::MAX),
            gate: Gate::default(),
        })
    }

    /// From now on a sync waits until it is let through.
    pub fn hold_syncs(&self) {
        self.gate.state.lock().shut = true;
    }

    /// Waits until a sync has begun.
    pub fn wait_for_sync(&self) {
        let mut state = self.gate.state.lock();
        self.gate.changed.wait_while(&mut state, |state| state.waiting == 0);
    }

    pub fn let_one_sync_through(&self) {
        self.gate.state.lock().let_through += 1;
        self.gate.changed.notify_all();
    }

    pub fn let_syncs_through(&self) {
        self.gate.state.lock().shut = false;
        self.gate.changed.notify_all();
    }

    /// The power goes in the course of a later call.
    pub fn lose_power_after(&self, calls: u64) {
        self.state.lock().calls_left = calls;
    }

    /// What is there when the power is back: all that was synced, and as much of the
    /// rest as happened to reach the disk.
    pub fn restart(&self) -> Arc<Forgetful> {
        let mut state = self.state.lock();
        let mut maps = state.synced.clone();
        let count = state.unsynced.len();
        let kept = match state.random.random_range(0..3) {
            0 => 0,
            1 => count,
            _ => state.random.random_range(0..=count),
        };
        state.unsynced[..kept].iter().for_each(|changes| put(&mut maps, changes));
        let random = StdRng::seed_from_u64(state.random.random());
        Forgetful::with(maps, random)
    }
}

impl State {
    /// Counts a call; with the last one, the power goes while it is under way: an
    /// error says so, and whether the call still had its effect.
    fn call(&mut self) -> Result<(), bool> {
        match self.calls_left {
            0 => return Err(false),
            u64::MAX => return Ok(()),
            _ => self.calls_left -= 1,
        }
        if self.calls_left > 0 { Ok(()) } else { Err(self.random.random()) }
    }
}

fn put(maps: &mut Maps, changes: &[TreeChange]) {
    for TreeChange { tree, key, value } in changes {
        let map = &mut maps[*tree as usize];
        match value {
            Some(value) => map.insert(key.clone(), value.clone()),
            None => map.remove(key),
        };
    }
}

impl Trees for Forgetful {
    fn apply(&self, changes: Vec<TreeChange>) -> Result<(), Failure> {
        let mut state = self.state.lock();
        let outcome = state.call();
        if outcome != Err(false) {
            put(&mut state.now, &changes);
            state.unsynced.push(changes);
        }
        outcome.map_err(|_| POWER.into())
    }

    /// Makes what has been applied survive, and nothing that is applied meanwhile.
    fn sync(&self, reach: SyncLevel) -> Result<(), Failure> {
        if reach == SyncLevel::System {
            return self.state.lock().call().map_err(|_| POWER.into());
        }
        let (now, count) = {
            let state = self.state.lock();
            (state.now.clone(), state.unsynced.len())
        };
        self.gate.pass();
        let mut state = self.state.lock();
        let outcome = state.call();
        if outcome != Err(false) {
            state.synced = now;
            state.unsynced.drain(..count);
        }
        outcome.map_err(|_| POWER.into())
    }

    fn snapshot(&self) -> Arc<dyn TreeSnapshot> {
        Arc::new(MapSnapshot { maps: self.state.lock().now.clone() })
    }

    fn flush(&self, _until: Option<Instant>) -> Result<(), Failure> {
        self.sync(SyncLevel::Disk)
    }

    fn disk_bytes(&self) -> u64 {
        0
    }

    fn file_system(&self) -> Option<FileSystem> {
        let free_bytes = self.free_bytes.load(Ordering::Relaxed);
        Some(FileSystem { used_bytes: 0, total_bytes: u64::MAX, free_bytes })
    }
}

struct MapSnapshot {
    maps: Maps,
}

impl TreeSnapshot for MapSnapshot {
    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Slice>, Failure> {
        Ok(self.maps[tree as usize].get(key).cloned())
    }

    fn range(&self, tree: Tree, range: (Bound<Slice>, Bound<Slice>)) -> Pairs {
        let pairs = self.maps[tree as usize].range(range);
        let pairs: Vec<_> = pairs.map(|(key, value)| Ok((key.clone(), value.clone()))).collect();
        Box::new(pairs.into_iter())
    }
}
