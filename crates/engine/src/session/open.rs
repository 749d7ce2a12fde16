//! Open transactions, as `currentOp` shows them.

use super::state::{OpenPhase, Phase};
use super::{SessionId, Sessions};
use command::Client;
use command::common::ReadLevel;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A transaction that is neither committed nor aborted.
pub struct OpenTransaction {
    pub session: SessionId,
    pub number: i64,
    pub level: ReadLevel,
    /// Whose statement was the last.
    pub client: Arc<Client>,
    pub began: bson::DateTime,
    pub expires: bson::DateTime,
    pub open: Duration,
    /// How much of that time statements ran.
    pub active: Duration,
    /// No statement runs at the moment.
    pub idle: bool,
}

impl Sessions {
    /// Every open transaction.
    pub fn open_list(&self) -> Vec<OpenTransaction> {
        let sessions: Vec<_> = self.open.lock().values().cloned().collect();
        let lifetime_seconds = self.transaction_lifetime_seconds.load(Ordering::Relaxed);
        let describe = |session: &Arc<super::Session>| {
            let state = session.state.lock();
            let Phase::Open(open) = &state.phase else { return None };
            Some(transaction(session.id, state.number, open, lifetime_seconds))
        };
        sessions.iter().filter_map(describe).collect()
    }
}

fn transaction(
    session: SessionId,
    number: i64,
    open: &OpenPhase,
    lifetime_seconds: u32,
) -> OpenTransaction {
    let running = open.running.as_ref().map_or(Duration::ZERO, |running| running.since.elapsed());
    let lifetime_ms = i64::from(lifetime_seconds) * 1000;
    OpenTransaction {
        session,
        number,
        level: open.level,
        client: open.client.clone(),
        began: open.began,
        expires: bson::DateTime::from_millis(open.began.timestamp_millis() + lifetime_ms),
        open: open.started.elapsed(),
        active: open.active + running,
        idle: open.running.is_none(),
    }
}
