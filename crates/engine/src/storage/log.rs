//! The log of changes, which change streams read.
//!
//! A store keeps none until the first stream is opened on it, and from then on
//! for good. A commit carries the events of its writes; the applier numbers them,
//! since it alone knows the order of commits. An event's place is the cluster
//! time of its commit and, in a client's transaction, its number there.
//!
//! The log is whole from `start` on. What is older has been trimmed, so that its
//! events weigh no more than a bound.

use super::clock::{Clock, between};
use super::trees::{Failure, Tree, TreeChange, TreeSnapshot};
use super::{View, failed, keys};
use error::Result;
use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// What the events of the log may weigh together, where nobody says.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// An event's place in the log, or a place between events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub time: u64,
    pub index: u32,
}

/// What a commit does to the log.
#[derive(Debug, Default)]
pub enum LogChange {
    #[default]
    None,
    /// From here on there is a log.
    Begin,
    Append(Events),
    /// Events are removed; the log is now whole from `start` on.
    Trim {
        start: u64,
        bytes: u64,
    },
}

/// Events to be appended, in order.
#[derive(Debug, Default)]
pub struct Events {
    pub events: Vec<Slice>,
    /// Whether they share one cluster time, as those of a client's transaction do.
    pub together: bool,
}

impl LogChange {
    /// How much an apply of it writes.
    pub fn size_bytes(&self) -> usize {
        match self {
            LogChange::Append(events) => events.events.iter().map(|event| event.len()).sum(),
            _ => 0,
        }
    }

    pub fn changes(&self) -> usize {
        match self {
            LogChange::Append(events) => events.events.len(),
            _ => 0,
        }
    }
}

/// The log's state. Only the applier changes it.
#[derive(Debug)]
pub struct Log {
    on: AtomicBool,
    /// Whether writers log events: from a little before the log begins.
    logging: AtomicBool,
    /// Writers that log no events, since they began before that.
    silent: AtomicUsize,
    /// Rings when the last of them is through.
    quiet: Notify,
    clock: Arc<Clock>,
    start: AtomicU64,
    bytes: AtomicU64,
    bytes_max: AtomicU64,
    /// Rings when the log has outgrown its bound.
    pub outgrown: Notify,
}

impl Log {
    /// The log of a store that is being opened.
    pub fn load(snapshot: &dyn TreeSnapshot, clock: Arc<Clock>) -> Result<Log> {
        let row = stored(snapshot)?;
        let on = row.is_some();
        let (start, bytes) = row.unwrap_or_default();
        Ok(Log {
            on: AtomicBool::new(on),
            logging: AtomicBool::new(on),
            silent: AtomicUsize::new(0),
            quiet: Notify::new(),
            clock,
            start: AtomicU64::new(start),
            bytes: AtomicU64::new(bytes),
            bytes_max: AtomicU64::new(LOG_BYTES_MAX),
            outgrown: Notify::new(),
        })
    }

    /// Whether there is a log.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Acquire)
    }

    /// Whether a change of definition is to be logged.
    pub fn is_logging(&self) -> bool {
        self.logging.load(Ordering::SeqCst)
    }

    /// A writer begins. `None` if it is to log its events; otherwise what it
    /// keeps until its commit is applied, so that no log begins meanwhile.
    pub fn enter(self: &Arc<Self>) -> Option<Silent> {
        if self.is_logging() {
            return None;
        }
        self.silent.fetch_add(1, Ordering::SeqCst);
        let silent = Silent(self.clone());
        (!self.is_logging()).then_some(silent)
    }

    /// From now on writers log their events; waits for those that do not.
    pub async fn start_logging(&self) {
        self.logging.store(true, Ordering::SeqCst);
        loop {
            let quiet = self.quiet.notified();
            if self.silent.load(Ordering::SeqCst) == 0 {
                return;
            }
            quiet.await;
        }
    }

    /// The cluster time from which on the log is whole.
    pub fn start(&self) -> u64 {
        self.start.load(Ordering::Acquire)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    pub fn bytes_max(&self) -> u64 {
        self.bytes_max.load(Ordering::Relaxed)
    }

    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
        self.outgrown.notify_one();
    }

    /// Gives a commit its time, and turns what it does to the log into changes of the trees;
    /// true if the log's row is to be written.
    pub(super) fn take(&self, change: LogChange, changes: &mut Vec<TreeChange>) -> bool {
        let before = self.clock.last();
        let time = self.clock.tick();
        match change {
            LogChange::None => return false,
            LogChange::Begin if self.is_on() => return false,
            // Whole behind the last commit: that is the time which clients know.
            LogChange::Begin => {
                self.start.store(between(before), Ordering::Release);
                self.on.store(true, Ordering::Release);
            }
            // Told before the log has begun.
            LogChange::Append(_) if !self.is_on() => return false,
            LogChange::Append(events) => self.append(time, events, changes),
            LogChange::Trim { start, bytes } => {
                self.start.fetch_max(start, Ordering::AcqRel);
                let left = self.bytes().saturating_sub(bytes);
                self.bytes.store(left, Ordering::Release);
            }
        }
        true
    }

    fn append(&self, mut time: u64, events: Events, changes: &mut Vec<TreeChange>) {
        let mut bytes = self.bytes();
        for (index, event) in events.events.into_iter().enumerate() {
            let mut position = Position { time, index: 0 };
            if events.together {
                position.index = index as u32;
            } else if index > 0 {
                time = self.clock.tick();
                position.time = time;
            }
            bytes += event.len() as u64;
            let key = keys::log_event(position).into();
            changes.push(TreeChange { tree: Tree::Large, key, value: Some(event) });
        }
        self.bytes.store(bytes, Ordering::Release);
        if bytes > self.bytes_max() {
            self.outgrown.notify_one();
        }
    }

    /// The log's row: where it starts, and what its events weigh.
    pub(super) fn row(&self) -> TreeChange {
        let mut row = [0; 16];
        row[..8].copy_from_slice(&self.start().to_be_bytes());
        row[8..].copy_from_slice(&self.bytes().to_be_bytes());
        TreeChange { tree: Tree::Records, key: keys::log(), value: Some(row.into()) }
    }
}

/// A writer that logs no events.
#[derive(Debug)]
pub struct Silent(Arc<Log>);

impl Drop for Silent {
    fn drop(&mut self) {
        if self.0.silent.fetch_sub(1, Ordering::SeqCst) == 1 && self.0.is_logging() {
            self.0.quiet.notify_waiters();
        }
    }
}

/// Where the stored log starts, and what its events weigh.
fn stored(snapshot: &dyn TreeSnapshot) -> Result<Option<(u64, u64)>> {
    let row = snapshot.get(Tree::Records, &keys::log()).map_err(failed)?;
    let number = |row: &Slice, at: usize| {
        let bytes = row.get(at..).and_then(|rest| rest.first_chunk().copied());
        bytes.map_or(0, u64::from_be_bytes)
    };
    Ok(row.map(|row| (number(&row, 0), number(&row, 8))))
}

/// The newest time of a stored log.
pub fn newest(snapshot: &dyn TreeSnapshot) -> Result<u64> {
    let Some((start, _)) = stored(snapshot)? else { return Ok(0) };
    let Some(last) = snapshot.range(Tree::Large, keys::log_events()).next_back() else {
        return Ok(start);
    };
    let (key, _) = last.map_err(failed)?;
    Ok(start.max(Position::read(&key).map_or(0, |position| position.time)))
}

impl Position {
    /// Behind every event of a cluster time.
    pub fn after(time: u64) -> Position {
        Position { time, index: u32::MAX }
    }

    /// Before every event of a cluster time.
    pub fn before(time: u64) -> Position {
        Position::after(time.saturating_sub(1))
    }

    /// The position in a key of the log.
    pub fn read(key: &[u8]) -> Option<Position> {
        let (time, index) = key.get(4..)?.split_first_chunk()?;
        let index = u32::from_be_bytes(*index.first_chunk()?);
        Some(Position { time: u64::from_be_bytes(*time), index })
    }
}

/// Events of the log in order, with their positions.
pub struct Logged(super::trees::Pairs);

impl Iterator for Logged {
    type Item = Result<(Position, Slice)>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = |pair: std::result::Result<(Slice, Slice), Failure>| {
            let (key, event) = pair.map_err(failed)?;
            let position = Position::read(&key).ok_or_else(super::view::damaged_key)?;
            Ok((position, event))
        };
        self.0.next().map(item)
    }
}

impl View {
    /// The events behind a position.
    pub fn logged_after(&self, position: Position) -> Logged {
        let start = Bound::Excluded(keys::log_event(position).into());
        Logged(self.range(Tree::Large, (start, keys::log_events().1)))
    }

    /// The event at a position.
    pub fn logged_at(&self, position: Position) -> Result<Option<Slice>> {
        self.get(Tree::Large, &keys::log_event(position))
    }
}
