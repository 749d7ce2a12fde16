//! The memory budget of the process: one number, divided into shares, and an account of what
//! requests hold.
//!
//! Requests reserve what they are about to allocate ([`Held`]) and give it back when they are
//! done. What does not fit is refused, so that the newest request fails and the process lives.
//! What is small ([`FREE_BYTES`]) is not counted: the limit of connections bounds it.

mod held;
mod shares;

pub use held::{FREE_BYTES, Held, SPILL_BYTES_MIN};
pub use shares::{MEMORY_BYTES_MIN, Shares};

use error::{Code, Error};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What memory is held for. Neither kind may take all of what requests share, so that
/// messages get through while sorts hold much, and the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Messages that arrive, and replies until they are read.
    Traffic,
    /// What commands, cursors and transactions keep.
    Work,
    /// Collections, validators, views, indexes and policies as they are parsed. They stay, so
    /// they leave more to the others.
    Definitions,
}

impl Kind {
    const COUNT: usize = 3;

    /// It may take so many quarters of what all share.
    const fn quarters(self) -> u64 {
        match self {
            Kind::Traffic | Kind::Work => 3,
            Kind::Definitions => 2,
        }
    }
}

/// An account of reserved bytes, by kind.
#[derive(Debug)]
pub struct Budget {
    /// What the whole process may take.
    memory_bytes: AtomicU64,
    /// What requests may hold together.
    limit_bytes: AtomicU64,
    held_bytes: [AtomicU64; Kind::COUNT],
    /// What was given back since someone asked.
    released_bytes: AtomicU64,
}

/// The budget of this process. Without a limit until one is set.
pub fn process() -> &'static Budget {
    static PROCESS: Budget = Budget::unlimited();
    &PROCESS
}

impl Budget {
    pub const fn unlimited() -> Budget {
        Budget {
            memory_bytes: AtomicU64::new(u64::MAX),
            limit_bytes: AtomicU64::new(u64::MAX),
            held_bytes: [const { AtomicU64::new(0) }; Kind::COUNT],
            released_bytes: AtomicU64::new(0),
        }
    }

    /// Sets what the whole process may take.
    pub fn set_memory(&self, bytes: u64) {
        self.memory_bytes.store(bytes, Relaxed);
        self.limit_bytes.store(Shares::of(bytes).requests_bytes, Relaxed);
    }

    /// What the whole process may take; `u64::MAX` where nothing was set.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Relaxed)
    }

    /// How the memory is divided.
    pub fn shares(&self) -> Shares {
        Shares::of(self.memory_bytes())
    }

    /// What requests may hold together.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes.load(Relaxed)
    }

    /// What requests hold.
    pub fn held_bytes(&self, kind: Kind) -> u64 {
        self.held_bytes[kind as usize].load(Relaxed)
    }

    /// What one kind may take.
    fn kind_bytes(&self, kind: Kind) -> u64 {
        self.limit_bytes() / 4 * kind.quarters()
    }

    /// Whether more than a half is taken of what a kind may take: what lies idle then goes to
    /// files.
    pub fn is_short(&self, kind: Kind) -> bool {
        self.held_bytes(kind) > self.kind_bytes(kind) / 2
    }

    fn total_bytes(&self) -> u64 {
        self.held_bytes.iter().map(|held| held.load(Relaxed)).fold(0, u64::saturating_add)
    }

    /// Reserves bytes, or says that there is no room for them.
    fn reserve(&self, kind: Kind, bytes: u64) -> Result<(), Error> {
        let limit = self.limit_bytes();
        let of_kind = self.held_bytes[kind as usize].fetch_add(bytes, Relaxed) + bytes;
        let fits = of_kind <= self.kind_bytes(kind) && self.total_bytes() <= limit;
        if fits {
            return Ok(());
        }
        self.held_bytes[kind as usize].fetch_sub(bytes, Relaxed);
        Err(self.exceeded(kind, bytes))
    }

    /// Reserves bytes that are there already, room or not.
    fn force(&self, kind: Kind, bytes: u64) {
        self.held_bytes[kind as usize].fetch_add(bytes, Relaxed);
    }

    fn release(&self, kind: Kind, bytes: u64) {
        self.held_bytes[kind as usize].fetch_sub(bytes, Relaxed);
        self.released_bytes.fetch_add(bytes, Relaxed);
    }

    /// What requests have given back since this was last taken.
    pub fn released_bytes(&self) -> u64 {
        self.released_bytes.load(Relaxed)
    }

    /// Forgets what was given back.
    pub fn clear_released(&self) {
        self.released_bytes.store(0, Relaxed);
    }

    fn exceeded(&self, kind: Kind, bytes: u64) -> Error {
        let (what, cure) = match kind {
            Kind::Traffic => ("messages and replies", "try again when others are done"),
            Kind::Work => (
                "parsed commands, sorts, cursors and transactions",
                "try again when others are done",
            ),
            Kind::Definitions => (
                "collections, validators, views, indexes and policies",
                "make them smaller, or drop some",
            ),
        };
        Code::ExceededMemoryLimit.error(format!(
            "the server's memory budget has no room for {bytes} more bytes of {what}: {} of the \
             {} bytes that requests and definitions share are taken; {cure}, or give the server \
             more memory with --memory",
            self.total_bytes(),
            self.limit_bytes()
        ))
    }
}
