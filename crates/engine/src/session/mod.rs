//! Logical sessions: what a client's commands have in common across connections.
//!
//! A session exists by being used and ends by being idle. It numbers its retryable
//! writes and its transactions; between two statements an open transaction rests
//! here. What must outlive a restart is in the store (`record`).

mod commands;
mod ending;
mod open;
mod reap;
mod record;
mod retry;
mod standing;
mod state;
mod statement;
#[cfg(test)]
mod tests;

pub use commands::{abort, acknowledge, commit};
pub use open::OpenTransaction;
pub use retry::RetryableCommand;
pub use standing::{Standing, stand};
pub use statement::Statement;

use crate::storage::SessionId;
use command::SESSION_TIMEOUT_MINUTES;
use error::{Code, Result};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use state::SessionState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a session lives after its last use.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(SESSION_TIMEOUT_MINUTES as u64 * 60);
pub const SESSIONS_MAX: usize = 1_000_000;
/// Each open transaction holds a snapshot, and so back what storage could free.
pub const TRANSACTIONS_OPEN_MAX: usize = 10_000;
/// The parameter `transactionLifetimeLimitSeconds`, where nobody has set it.
pub const TRANSACTION_LIFETIME_SECONDS: u32 = 60;

const SHARDS: usize = 64;

pub struct Sessions {
    shards: Vec<Mutex<FxHashMap<SessionId, Arc<Session>>>>,
    count: AtomicUsize,
    /// Sessions with a transaction that is neither committed nor aborted.
    open: Mutex<FxHashMap<SessionId, Arc<Session>>>,
    started: Instant,
    /// The parameter `transactionLifetimeLimitSeconds`.
    pub transaction_lifetime_seconds: AtomicU32,
    pub figures: SessionFigures,
}

/// For `serverStatus`.
#[derive(Debug, Default)]
pub struct SessionFigures {
    pub started: AtomicU64,
    pub committed: AtomicU64,
    pub aborted: AtomicU64,
    pub retried_commands: AtomicU64,
    pub retried_statements: AtomicU64,
}

pub struct Session {
    pub id: SessionId,
    /// Seconds from the start of the engine to the last use.
    used: AtomicU32,
    /// Held by the one numbered command that runs.
    turn: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<SessionState>,
}

impl Default for Sessions {
    fn default() -> Sessions {
        Sessions {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            count: AtomicUsize::new(0),
            open: Mutex::default(),
            started: Instant::now(),
            transaction_lifetime_seconds: AtomicU32::new(TRANSACTION_LIFETIME_SECONDS),
            figures: SessionFigures::default(),
        }
    }
}

impl Sessions {
    /// Notes that a session is in use; it need not have been before.
    pub fn touch(&self, id: SessionId) -> Result<()> {
        let now = self.now();
        if let Some(session) = self.shard(id).lock().get(&id) {
            session.used.store(now, Ordering::Relaxed);
            return Ok(());
        }
        self.get(id).map(|_| ())
    }

    /// The session, in use from now on.
    pub fn get(&self, id: SessionId) -> Result<Arc<Session>> {
        let now = self.now();
        let mut shard = self.shard(id).lock();
        if let Some(session) = shard.get(&id) {
            session.used.store(now, Ordering::Relaxed);
            return Ok(session.clone());
        }
        if self.count.fetch_add(1, Ordering::Relaxed) >= SESSIONS_MAX {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Err(Code::TooManyLogicalSessions.error(
                "Unable to add session into the cache because the number of active sessions is \
                 too high",
            ));
        }
        let session = Arc::new(Session {
            id,
            used: AtomicU32::new(now),
            turn: Arc::default(),
            state: Mutex::default(),
        });
        shard.insert(id, session.clone());
        Ok(session)
    }

    /// The session, if it is known; that does not count as use.
    fn known(&self, id: SessionId) -> Option<Arc<Session>> {
        self.shard(id).lock().get(&id).cloned()
    }

    /// Takes sessions off the list.
    fn take(&self, wanted: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        let mut taken = Vec::new();
        for shard in &self.shards {
            taken.extend(shard.lock().extract_if(|_, it| wanted(it)).map(|(_, session)| session));
        }
        self.count.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Takes the sessions of these ids off the list, whatever the number of others.
    fn take_these(&self, ids: &FxHashSet<SessionId>) -> Vec<Arc<Session>> {
        let find = |id: &SessionId| self.shard(*id).lock().remove(id);
        let taken: Vec<_> = ids.iter().filter_map(find).collect();
        self.count.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    /// Ids and idle seconds of all sessions, for `$listSessions`.
    pub fn list(&self) -> Result<Vec<(SessionId, u32)>> {
        let now = self.now();
        let mut all = Vec::new();
        for shard in &self.shards {
            language::interrupt::check_now()?;
            let idle = |session: &Arc<Session>| now.saturating_sub(session.used());
            all.extend(shard.lock().values().map(|session| (session.id, idle(session))));
        }
        Ok(all)
    }

    /// How many transactions are open.
    pub fn open_transactions(&self) -> usize {
        self.open.lock().len()
    }

    fn shard(&self, id: SessionId) -> &Mutex<FxHashMap<SessionId, Arc<Session>>> {
        // Session ids are random.
        &self.shards[usize::from(id[15]) % SHARDS]
    }

    fn now(&self) -> u32 {
        self.started.elapsed().as_secs() as u32
    }
}

impl Session {
    fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }
}
