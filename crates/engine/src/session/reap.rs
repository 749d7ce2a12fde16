//! What has lived too long is ended in the background: transactions, sessions, the
//! records of sessions that are no more, and snapshot reads to come back to.

use super::{SESSION_IDLE_MAX, Session, SessionId, record};
use crate::Engine;
use crate::storage::{Commit, Mark, Tree, TreeChange, keys};
use error::{Code, Result};
use fjall::Slice;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Between two looks at open transactions.
const TRANSACTIONS_INTERVAL: Duration = Duration::from_secs(1);
/// Looks at open transactions between two looks at sessions.
const LOOKS_PER_SWEEP: u32 = 30;
/// Records looked at in one sweep.
const RECORDS_PER_SWEEP: usize = 4_096;

impl Engine {
    /// Ends what has lived too long, until the engine closes.
    pub(crate) async fn reap_sessions(self: Arc<Self>) {
        let mut looks = 0;
        let mut at = None;
        loop {
            tokio::time::sleep(TRANSACTIONS_INTERVAL).await;
            let seconds = self.sessions.transaction_lifetime_seconds.load(Ordering::Relaxed);
            self.expire_transactions(Duration::from_secs(seconds.into()));
            looks += 1;
            if looks % LOOKS_PER_SWEEP != 0 {
                continue;
            }
            self.moments.expire();
            self.expire_sessions(SESSION_IDLE_MAX);
            at = match self.expire_records(at, SESSION_IDLE_MAX).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::debug!(%error, "removing the records of expired sessions stopped");
                    return;
                }
            };
        }
    }

    /// Aborts transactions that are older than that.
    pub(super) fn expire_transactions(&self, limit: Duration) {
        let open: Vec<Arc<Session>> = self.sessions.open.lock().values().cloned().collect();
        for session in open {
            if session.transaction_age().is_some_and(|age| age > limit) {
                session.abort(self, Code::TransactionExceededLifetimeLimitSeconds);
            }
        }
    }

    /// Ends sessions that nobody has used for too long. One with a command under
    /// way is in use.
    pub(super) fn expire_sessions(&self, idle_max: Duration) {
        let now = self.sessions.now();
        self.end(|session| {
            let idle = Duration::from_secs(now.saturating_sub(session.used()).into());
            idle >= idle_max && session.turn.try_lock().is_ok()
        });
    }

    /// Removes records of sessions that have expired, from a key on; gives back
    /// where to go on.
    pub(super) async fn expire_records(
        &self,
        from: Option<Slice>,
        idle_max: Duration,
    ) -> Result<Option<Slice>> {
        let (first, last) = keys::rows(keys::STATEMENT_ROWS);
        let start = from.map_or(first, Bound::Excluded);
        let view = self.store.view();
        let mut expired: Vec<SessionId> = Vec::new();
        let mut looked = 0;
        let mut at = None;
        for pair in view.range(Tree::Records, (start, last)).take(RECORDS_PER_SWEEP) {
            let (key, row) = pair.map_err(crate::storage::failed)?;
            if let Some(session) = keys::statement_session(&key)
                && record::Header::read(&row)?.is_older(idle_max)
                && expired.last() != Some(&session)
                && self.sessions.known(session).is_none()
            {
                expired.push(session);
            }
            looked += 1;
            at = Some(key);
        }
        drop(view);
        for session in &expired {
            self.forget(*session, idle_max).await?;
        }
        Ok(at.filter(|_| looked == RECORDS_PER_SWEEP))
    }

    /// Removes a session's records, unless it is used again.
    async fn forget(&self, id: SessionId, idle_max: Duration) -> Result<()> {
        let session = self.sessions.get(id)?;
        let _turn = session.turn.lock().await;
        loop {
            let view = self.store.view();
            let mut changes = Vec::new();
            for pair in view.range(Tree::Records, keys::statements(id)).take(RECORDS_PER_SWEEP) {
                let (key, row) = pair.map_err(crate::storage::failed)?;
                if !record::Header::read(&row)?.is_older(idle_max) {
                    return Ok(());
                }
                changes.push(TreeChange { tree: Tree::Large, key: key.clone(), value: None });
                changes.push(TreeChange { tree: Tree::Records, key, value: None });
            }
            drop(view);
            if changes.is_empty() {
                return Ok(());
            }
            self.store.commit(Commit::of(changes), Mark::Applied).await?;
        }
    }
}

impl Session {
    fn transaction_age(&self) -> Option<Duration> {
        match &self.state.lock().phase {
            super::state::Phase::Open(open) => Some(open.started.elapsed()),
            _ => None,
        }
    }
}
